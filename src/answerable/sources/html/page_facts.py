"""Facts that decide whether a page of a site is read, and its links; extracted in the reading process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Facts about a page. Addresses are in plain form, "" if missing.

    `directives` are the robots directives of its meta elements, `refresh` the target of an immediate redirect there,
    `links` the pages it links to (none with nofollow). For a Docusaurus site: the `kind` of page, whether it lists
    tags, its locale, version and ids, and `latest`, the banner's link to the latest version.
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
    """Return the facts of a page fetched from `url` and cited by its public address `source`. Raise SourceError.

    Without `url`, return no links.
    """
    from answerable.sources.html.docusaurus import kind_of_page
    from answerable.sources.html.docusaurus_document import page_ids, page_locale, page_version
    from answerable.sources.html.links import page_links, refresh_target, resolved, robots_directives
    from answerable.sources.html.parse import parse_page, valid_markup
    from answerable.sources.html.words import attribute

    page = parse_page(valid_markup(data, source))
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
