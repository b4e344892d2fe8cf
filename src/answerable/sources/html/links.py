"""The robots directives and links of a web page, and the facts that decide whether a site's page is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from answerable.errors import AddressRefused
from answerable.sources.html.metadata import kind_of_page, page_ids, page_locale, page_metas, page_version
from answerable.sources.html.page_parts import PageFacts, header_directives
from answerable.sources.html.parse import parse_page, valid_markup
from answerable.sources.html.web_address import parse_address
from answerable.sources.html.words import attribute

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser
    from selectolax.lexbor import LexborNode as Node

# A page that redirects after more than 9 seconds is meant to be read.
_REFRESH = re.compile(r"\s*(?:[0-9](?:\.\d*)?)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_BANNER = ".theme-doc-version-banner a[href]"


def robots_directives(metas: Sequence[Node]) -> frozenset[str]:
    """Return the robots directives in a page's meta elements, in lower case."""
    asking = (each for each in metas if attribute(each, "name").lower() in ("robots", "answerable"))
    return header_directives(*(attribute(each, "content") for each in asking))


def refresh_target(metas: Sequence[Node], url: str) -> str:
    """Return the target of an immediate redirect in a page's meta elements, or ""."""
    for meta in metas:
        if attribute(meta, "http-equiv").lower() != "refresh":
            continue
        match = _REFRESH.match(attribute(meta, "content"))
        target = resolved(url, match[1].strip()) if match else ""
        if target and target != url:
            return target
    return ""


def page_links(page: LexborHTMLParser, url: str) -> list[str]:
    """Return the addresses a page links to, in plain form without fragment; none with nofollow."""
    metas = page.css("meta")
    if "nofollow" in robots_directives(metas):
        return []
    stated = page.css_first("base[href]")
    base = resolved(url, attribute(stated, "href")) if stated else url
    nodes = page.css("link[rel=canonical], a[href], area[href], frame[src], iframe[src]")
    followed = (node for node in nodes if "nofollow" not in attribute(node, "rel").lower().split())
    found = [resolved(base or url, attribute(node, "href") or attribute(node, "src")) for node in followed]
    return list(dict.fromkeys(filter(None, [refresh_target(metas, url), *found])))


def resolved(base: str, link: str) -> str:
    """Return a link's address in plain form, or "" if it isn't a web address."""
    try:
        return parse_address(urljoin(base, link)).url
    except (AddressRefused, ValueError):
        return ""


def page_facts(data: bytes | str, source: str, url: str) -> PageFacts:
    """Return the facts of a page fetched from `url` ("": without links) and cited as `source`. Raise SourceError."""
    page = parse_page(valid_markup(data, source))
    metas, named = page.css("meta"), page_metas(page)
    canonical, banner = page.css_first("link[rel=canonical]"), page.css_first(_BANNER)
    return PageFacts(
        directives=sorted(robots_directives(metas)),
        refresh=refresh_target(metas, source),
        links=page_links(page, url) if url else (),
        canonical=resolved(source, attribute(canonical, "href")) if canonical else "",
        kind=str(kind_of_page(page) or ""),
        lists_tags=page.css_first("html.docs-tags-list-page, html.blog-tags-list-page") is not None,
        locale=page_locale(page, named),
        version=page_version(named),
        ids=page_ids(page),
        latest=resolved(source, attribute(banner, "href")) if banner else "",
    )
