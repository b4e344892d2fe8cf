"""What decides on a page of a site, and where it leads: found in the process that reads files, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a page says to who visits its site. Addresses are in plain form, empty where there is none.

    `directives` is what its meta elements ask of robots, `refresh` where they send readers on to at once, `links` are
    the pages it leads to (none where it asks not to follow them), `canonical` says the same better. Of a Docusaurus
    site: the `kind` of page, whether it lists tags, its locale, version and ids, `latest` as the banner links to it.
    """

    directives: Sequence[str] = ()
    refresh: str = ""
    links: Sequence[str] = ()
    canonical: str = ""
    kind: str = ""
    lists_tags: bool = False
    locale: str = ""
    version: str = ""
    ids: Sequence[str] = ()
    latest: str = ""


def page_facts(data: bytes | str, source: str, url: str) -> PageFacts:
    """The facts of the page called `source`, a public address, found at `url`. Raises SourceError.

    An empty `url` says that its links don't matter.
    """
    from answerable.sources.html.docusaurus import kind_of_page
    from answerable.sources.html.docusaurus_metadata import page_ids, page_locale, page_version
    from answerable.sources.html.links import page_links, refresh_target, resolved, robots_directives
    from answerable.sources.html.parse import parse_page, sound_markup
    from answerable.sources.html.words import attribute

    page = parse_page(sound_markup(data, source))
    metas = page.css("meta")
    canonical, banner = page.css_first("link[rel=canonical]"), page.css_first(_BANNER)
    return PageFacts(
        directives=sorted(robots_directives(metas)),
        refresh=refresh_target(metas, source),
        links=page_links(page, url) if url else (),
        canonical=resolved(source, attribute(canonical, "href")) if canonical else "",
        kind=str(kind_of_page(page) or ""),
        lists_tags=page.css_first(_TAGS) is not None,
        locale=page_locale(page),
        version=page_version(page),
        ids=page_ids(page),
        latest=resolved(source, attribute(banner, "href")) if banner else "",
    )


_TAGS = "html.docs-tags-list-page, html.blog-tags-list-page"
_BANNER = ".theme-doc-version-banner a[href]"
