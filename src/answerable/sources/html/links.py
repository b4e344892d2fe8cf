"""The robots directives and links of a web page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from answerable.errors import AddressRefused
from answerable.sources.html.words import attribute
from answerable.sources.web_address import parse_address

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser
    from selectolax.lexbor import LexborNode as Node

# A page that redirects after more than 9 seconds is meant to be read.
_REFRESH = re.compile(r"\s*(?:[0-9](?:\.\d*)?)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)


def robots_directives(metas: Sequence[Node]) -> frozenset[str]:
    """Return the robots directives in a page's meta elements, in lower case."""
    asking = (each for each in metas if attribute(each, "name").lower() in ("robots", "answerable"))
    return header_directives(*(attribute(each, "content") for each in asking))


def header_directives(*texts: str) -> frozenset[str]:
    """Return the robots directives in X-Robots-Tag headers or meta elements."""
    words = {word.strip().lower() for text in texts for word in text.split(",")}
    return frozenset(words | ({"noindex", "nofollow"} if "none" in words else set()))


def refresh_target(metas: Sequence[Node], url: str) -> str:
    """Return the target of an immediate redirect in a page's meta elements, or nothing."""
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
    """Return a link's address in plain form, or nothing if it isn't a web address."""
    try:
        return parse_address(urljoin(base, link)).url
    except (AddressRefused, ValueError):
        return ""
