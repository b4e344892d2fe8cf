"""Queues of a site's pages: listed in its sitemaps, or else found by links below one folder, breadth first.

Some sites are endless: calendars, filters, links that grow with every step. So depth, number and the query strings of
one path are limited, and tracking parameters are removed.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

from answerable.errors import SourceError
from answerable.sources.site.choice import OTHER_LOCALE, SiteOptions
from answerable.sources.site.pages import SitePage, SitePages, exchange, is_below, page_key, too_many_pages


class ListedPages:
    """The queue of a site's pages in the order of the sitemaps."""

    def __init__(self, found: SitePages, options: SiteOptions) -> None:
        self.base = found.base
        self.public_base = found.public_base
        self.skipped: Counter[str] = Counter(found.skipped)
        self.errors: list[SourceError] = [each for each in found.errors if each not in found.missing.values()]
        self.locale_folders = tuple(
            folder for name in options.locales if _has_page(folder := f"{found.public_base}{name}/", found.pages)
        )
        # A locale without a folder may be that of the address itself: its pages will show.
        self._doubtful = {
            name: error
            for name, error in found.missing.items()
            if f"{found.public_base}{name}/" not in self.locale_folders
        }
        pages = [page for page in found.pages if not options.locales or self._doubtful or self._is_of_locale(page)]
        self.skipped += Counter({OTHER_LOCALE: len(found.pages) - len(pages)})
        if len(pages) > options.max_pages:
            self.errors.append(too_many_pages(found.base, options.max_pages))
        self.queue = deque(pages[: options.max_pages])
        self.total = len(self.queue)
        self.keys = frozenset(page_key(page.public) for page in pages)
        self._there = {page.public for page in found.pages} | {page.public for page in found.disallowed}

    def settle(self, seen_locales: Collection[str]) -> None:
        """Add the errors of locales that have neither a folder of their own nor a page."""
        self.errors += (error for name, error in self._doubtful.items() if name not in seen_locales)

    def gone(self, known: Iterable[str]) -> list[str]:
        """Return the known public addresses that are no longer listed."""
        return [source for source in known if source not in self._there]

    def _is_of_locale(self, page: SitePage) -> bool:
        return any(is_below(page.public, folder) for folder in self.locale_folders)


def _has_page(folder: str, pages: Iterable[SitePage]) -> bool:
    return any(is_below(page.public, folder) for page in pages)


MAX_DEPTH = 16
_MAX_QUERIES = 20
_LONGEST_ADDRESS = 2000
# Only a malicious site has more.
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
    """The known pages of a folder, and the queue of those still to be fetched."""

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
        """Number of known pages."""
        return len(self._depths)

    def page(self, url: str) -> SitePage:
        """Return the page at an address."""
        return SitePage(url, exchange(url, self.base, self.public_base))

    def url(self, public: str) -> str:
        """Return the address from which to fetch the page with this public address."""
        return exchange(public, self.public_base, self.base)

    def add(self, url: str, depth: int = 0) -> bool:
        """Add a page; return whether it is new."""
        is_new = url not in self._depths
        self._depths.setdefault(url, depth)
        self.keys.add(page_key(self.page(url).public))
        return is_new

    def follow(self, links: Iterable[str], source: str) -> None:
        """Queue the new pages that a page links to, within limits."""
        depth = self._depths.get(source, 0) + 1
        for url in map(_without_tracking, links):
            if self.errors:
                return
            if url in self._depths or url in self._left_out or not is_below(url, self.base):
                continue
            if (reason := self._refuses(url, depth)) and len(self._left_out) <= _MOST_LEFT_OUT:
                self._left_out.add(url)
                self.skipped[reason] += 1
            elif self.total >= self._max_pages or len(self._left_out) > _MOST_LEFT_OUT:
                self.errors.append(too_many_pages(self.base, self._max_pages))
            else:
                self.add(url, depth)
                self.queue.append(self.page(url))

    def _refuses(self, url: str, depth: int) -> str:
        path, _, query = url.partition("?")
        if PurePosixPath(path).suffix.lower() in _NO_PAGES:
            return "not a page, by its name"
        if len(url) > _LONGEST_ADDRESS:
            return f"address over {_LONGEST_ADDRESS:,} characters"
        if depth > MAX_DEPTH:
            return f"over {MAX_DEPTH} links from the start"
        self._queries[path] += bool(query)
        return f"over {_MAX_QUERIES} queries to one page" if self._queries[path] > _MAX_QUERIES else ""


def _without_tracking(url: str) -> str:
    """Return the address without tracking and session parameters, its query sorted."""
    path, _, query = _SESSION.sub("", url).partition("?")
    kept = sorted(part for part in query.split("&") if part and not _TRACKING.fullmatch(part.partition("=")[0]))
    return f"{path}?{'&'.join(kept)}" if kept else path
