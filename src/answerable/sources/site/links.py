"""Sites without a sitemap: pages are found by the links between them, breadth first, below one folder.

Some sites have no end: calendars, filters, links that grow with every step. So depth, number and the query strings of
one path are bounded, and what only tracks visitors is taken off addresses.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from answerable.errors import SourceError
from answerable.sources.site.pages import SitePage, exchange, is_below, page_key, too_many_pages

if TYPE_CHECKING:
    pass

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
