"""Sites without a sitemap: pages are found by the links between them, breadth first, below one folder.

Some sites have no end: calendars, filters, links that grow with every step. So depth, number and the query strings of
one path are bounded, and what only tracks visitors is taken off addresses.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from answerable.errors import AddressRefused, SourceError
from answerable.sources.html_words import attribute
from answerable.sources.site_addresses import parse_address
from answerable.sources.site_pages import SitePage, exchange, is_below, page_key, too_many_pages

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser
    from selectolax.lexbor import LexborNode as Node

MAX_DEPTH = 16
_MAX_QUERIES = 20
_LONGEST_ADDRESS = 2000
# Only a site that is made to take for ever has more.
_MOST_LEFT_OUT = 200_000
_NO_PAGES_NAMES = (
    ".png .jpg .jpeg .gif .webp .avif .svg .ico .bmp .tif .tiff .mp3 .ogg .wav .flac .m4a .mp4 .webm .mov .avi .mkv "
    ".css .js .mjs .map .wasm .woff .woff2 .ttf .otf .eot .zip .gz .tgz .bz2 .xz .zst .7z .rar .tar .jar .whl .exe "
    ".dmg .msi .deb .rpm .iso .apk .bin .xml .rss .atom"
)
_NO_PAGES = frozenset(_NO_PAGES_NAMES.split())
_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|msclkid|yclid|igshid|mc_[ce]id|_ga|phpsessid|jsessionid|session_?id|sid", re.IGNORECASE
)
_SESSION = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
# A page that is exchanged for another one later than this is one to read.
_REFRESH = re.compile(r"\s*(?:[0-9](?:\.\d*)?)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)


def robots_directives(metas: Sequence[Node]) -> frozenset[str]:
    """What a page's meta elements ask of robots: noindex, …, in lower case."""
    asking = (each for each in metas if attribute(each, "name").lower() in ("robots", "answerable"))
    return header_directives(*(attribute(each, "content") for each in asking))


def header_directives(*texts: str) -> frozenset[str]:
    """What a header X-Robots-Tag, or several such texts, ask of robots."""
    words = {word.strip().lower() for text in texts for word in text.split(",")}
    return frozenset(words | ({"noindex", "nofollow"} if "none" in words else set()))


def refresh_target(metas: Sequence[Node], url: str) -> str:
    """Where a page sends its readers on to at once, by its meta elements, or nothing."""
    for meta in metas:
        if attribute(meta, "http-equiv").lower() != "refresh":
            continue
        match = _REFRESH.match(attribute(meta, "content"))
        target = resolved(url, match[1].strip()) if match else ""
        if target and target != url:
            return target
    return ""


def page_links(page: LexborHTMLParser, url: str) -> list[str]:
    """The addresses that a page leads to, in plain form without fragment; none where it asks not to follow them."""
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
    """A link's address in plain form; nothing where it is none of the web."""
    try:
        return parse_address(urljoin(base, link)).url
    except (AddressRefused, ValueError):
        return ""


class LinkedPages:
    """The pages of a folder that were met, and the queue of those that are still to be asked for."""

    def __init__(self, base: str, public_base: str, max_pages: int) -> None:
        self.base = base
        self.public_base = public_base
        self.queue: deque[SitePage] = deque()
        self.keys: set[str] = set()
        self.skipped: Counter[str] = Counter()
        self.errors: list[SourceError] = []
        self._max_pages = max_pages
        self._depths: dict[str, int] = {}
        self._left_out: set[str] = set()
        self._queries: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """How many pages were met."""
        return len(self._depths)

    def page(self, url: str) -> SitePage:
        """The page at an address."""
        return SitePage(url, exchange(url, self.base, self.public_base))

    def url(self, public: str) -> str:
        """Where the page of a public address is asked for."""
        return exchange(public, self.public_base, self.base)

    def is_within(self, url: str) -> bool:
        """Whether an address is of the folder."""
        return is_below(url, self.base)

    def meet(self, url: str, depth: int = 0) -> bool:
        """Takes note of a page; False when it was met before."""
        is_new = url not in self._depths
        self._depths.setdefault(url, depth)
        self.keys.add(page_key(self.page(url).public))
        return is_new

    def follow(self, links: Iterable[str], source: str) -> None:
        """Puts what the links of a page lead to in the queue, as far as it is new and within bounds."""
        depth = self._depths.get(source, 0) + 1
        for url in map(_without_tracking, links):
            if self.errors:
                return
            if url in self._depths or url in self._left_out or not self.is_within(url):
                continue
            if (reason := self._refuses(url, depth)) and len(self._left_out) <= _MOST_LEFT_OUT:
                self._left_out.add(url)
                self.skipped[reason] += 1
            elif self.total >= self._max_pages or len(self._left_out) > _MOST_LEFT_OUT:
                self.errors.append(too_many_pages(self.base, self._max_pages))
            else:
                self.meet(url, depth)
                self.queue.append(self.page(url))

    def _refuses(self, url: str, depth: int) -> str:
        path, _, query = url.partition("?")
        if PurePosixPath(path).suffix.lower() in _NO_PAGES:
            return "no page by its name"
        if len(url) > _LONGEST_ADDRESS:
            return f"address over {_LONGEST_ADDRESS:,} characters"
        if depth > MAX_DEPTH:
            return f"over {MAX_DEPTH} links from the start"
        self._queries[path] += bool(query)
        return f"over {_MAX_QUERIES} queries to one page" if self._queries[path] > _MAX_QUERIES else ""


def _without_tracking(url: str) -> str:
    """The address without what tells one visitor from another, its query in a steady order."""
    path, _, query = _SESSION.sub("", url).partition("?")
    kept = sorted(part for part in query.split("&") if part and not _TRACKING.fullmatch(part.partition("=")[0]))
    return f"{path}?{'&'.join(kept)}" if kept else path
