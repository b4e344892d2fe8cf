"""From the start address of a site to its pages: the queue of listed or linked pages, fetched before they are needed.

Some sites are endless: calendars, filters, links that grow with every step. So the depth, the number of pages and the
query strings per path are limited, and tracking parameters are removed.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePosixPath

from answerable.errors import SourceError, SourceNotFound
from answerable.sources.formats import SUFFIXES
from answerable.sources.html.web_address import parse_address
from answerable.sources.site.choice import OTHER_LOCALE, SiteOptions
from answerable.sources.site.fetch import Fetched, Fetcher, Validators
from answerable.sources.site.pages import DISALLOWED, SitePage, SitePages, exchange, is_below, page_key, too_many_pages
from answerable.sources.site.robots import Robots

_SITEMAP = re.compile(r".*\.xml(\.gz)?", re.IGNORECASE)
# The address of a file with this name is read like the address of its folder.
_OF_FOLDERS = re.compile(r"(?:sitemap\.xml|index\.(?:html?|xhtml|php))", re.IGNORECASE)
_PROGRAMS = {".php", ".asp", ".aspx", ".jsp", ".shtml", ".cgi"}
_WEB = {80, 443}
# Suffixes of pages; other names with a dot, such as `node.js` and `1.0`, are folders.
_PAGES = _PROGRAMS | {suffix for suffix, form in SUFFIXES.items() if not (form.is_archive or form.name == "code")}
MAX_DEPTH = 16  # links between the start page and a page at most; a round number, not measured
_MAX_QUERIES = 20  # different query strings of one path at most; a round number, not measured
_LONGEST_ADDRESS = 2000  # characters of an address at most; a round number, not measured
# Links of one page: only a malicious site has more.
_MOST_LEFT_OUT = 200_000
_NO_PAGES = frozenset(
    ".png .jpg .jpeg .gif .webp .avif .svg .ico .bmp .tif .tiff .mp3 .ogg .wav .flac .m4a .mp4 .webm .mov .avi .mkv "
    ".css .js .mjs .map .wasm .woff .woff2 .ttf .otf .eot .zip .gz .tgz .bz2 .xz .zst .7z .rar .tar .jar .whl .exe "
    ".dmg .msi .deb .rpm .iso .apk .bin .xml .rss .atom".split()
)
_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|msclkid|yclid|igshid|mc_[ce]id|_ga|phpsessid|jsessionid|session_?id|sid", re.IGNORECASE
)
_SESSION = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
ELSEWHERE = "redirects elsewhere"
Outcome = Fetched | SourceError
"""A fetched page, the error from fetching it, or PassedOver."""


@dataclass(frozen=True, slots=True)
class SiteStart:
    """A start address in normalised form, and the folder, sitemap or page that it refers to."""

    url: str
    base: str
    is_page: bool = False
    is_sitemap: bool = False


def parse_start(address: str) -> SiteStart:
    """Parse a start address. Raise AddressRefused."""
    given = parse_address(address)
    path = given.target.partition("?")[0]
    folder, _, name = path.rpartition("/")
    if _OF_FOLDERS.fullmatch(name):
        return SiteStart(given.url, f"{given.origin}{folder}/", is_sitemap=name.lower() == "sitemap.xml")
    if _SITEMAP.fullmatch(name):
        return SiteStart(given.url, given.url, is_sitemap=True)
    if PurePosixPath(name).suffix.lower() in _PAGES:
        return SiteStart(given.url, given.url, is_page=True)
    return SiteStart(given.url, f"{given.origin}{path}" if path.endswith("/") else f"{given.origin}{path}/")


def is_same_host(one: str, other: str) -> bool:
    """Whether two addresses have the same host, with or without `www.`, by http or https."""
    first, second = parse_address(one), parse_address(other)
    ports = {first.port, second.port}
    return first.host.removeprefix("www.") == second.host.removeprefix("www.") and (len(ports) == 1 or ports == _WEB)


def is_at(url: str, base: str) -> bool:
    """Whether an address is in the folder `base`, with or without `www.`, by http or https."""
    if is_below(url, base):
        return True
    return is_same_host(url, base) and is_below(parse_address(base).origin + parse_address(url).target, base)


def arrived_base(start: SiteStart, final: str) -> str:
    """Return the folder or page to read, for a site without a sitemap whose start page redirects to `final`."""
    if start.is_page:
        return final
    given, found = parse_address(start.base), parse_start(final)
    moved = parse_address(final).origin + given.target
    return moved if is_below(final, moved) else final.rpartition("/")[0] + "/" if found.is_page else found.base


class ListedPages:
    """The queue of a site's pages in the order of the sitemaps; `there` are the public addresses of all of them."""

    def __init__(self, found: SitePages, options: SiteOptions) -> None:
        self.base = found.base
        self.public_base = found.public_base
        self.skipped: Counter[str] = Counter(found.skipped)
        self.errors: list[SourceError] = [each for each in found.errors if each not in found.missing.values()]
        folders = (f"{found.public_base}{name}/" for name in options.locales)
        self.locale_folders = [each for each in folders if any(is_below(page.public, each) for page in found.pages)]
        # A locale without a folder may be that of the start address itself; the pages will show it.
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
        self.there = {page.public for page in (*found.pages, *found.disallowed)}

    def settle(self, seen_locales: Collection[str]) -> None:
        """Add an error for each requested locale that has neither a folder of its own nor a page."""
        self.errors += (error for name, error in self._doubtful.items() if name not in seen_locales)

    def _is_of_locale(self, page: SitePage) -> bool:
        return any(is_below(page.public, folder) for folder in self.locale_folders)


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
    """Return the address without tracking and session parameters, and with its query sorted."""
    path, _, query = _SESSION.sub("", url).partition("?")
    kept = sorted(part for part in query.split("&") if part and not _TRACKING.fullmatch(part.partition("=")[0]))
    return f"{path}?{'&'.join(kept)}" if kept else path


class PassedOver(SourceError):
    """Internal: the page is skipped; the message is the reason."""


def ask_ahead(
    queue: deque[SitePage],
    ask: Callable[[SitePage], Fetched],
    leave_out: Callable[[SitePage], str],
    concurrency: int,
) -> Generator[tuple[SitePage, Outcome], None, None]:
    """Yield each page of the queue with its outcome, in order; the queue may grow meanwhile.

    `leave_out` returns why a page is skipped without fetching, or "". It is called only once the page 2 * `concurrency`
    places earlier has been read, so that crawls are deterministic. Closing doesn't wait for unfinished requests.
    """
    threads = ThreadPoolExecutor(concurrency, "site")
    ahead: deque[tuple[SitePage, Future[Outcome] | PassedOver]] = deque()

    def outcome(page: SitePage) -> Outcome:
        try:
            return ask(page)
        except SourceError as error:
            return error

    try:
        while queue or ahead:
            while queue and len(ahead) < 2 * concurrency:
                page = queue.popleft()
                reason = leave_out(page)
                ahead.append((page, PassedOver(reason) if reason else threads.submit(outcome, page)))
            page, found = ahead.popleft()
            yield page, found.result() if isinstance(found, Future) else found
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


class Asker:
    """Fetches pages under `base` that robots.txt allows; sends the validators that the last visit recorded."""

    def __init__(self, fetcher: Fetcher) -> None:
        self.robots = Robots(fetcher)
        self.base = ""
        self._fetcher = fetcher

    def start(self, start: SiteStart, remembered: Mapping[str, str]) -> Fetched:
        """Fetch the start page, following redirects on the same host. Raise SourceError."""

        def check(url: str) -> None:
            if not is_same_host(url, start.url):
                raise SourceError(f"{start.url} redirects to another host: give the address {url} if that is meant")
            self.robots.check(url)

        return self._fetcher.fetch(start.url, _validators(remembered), check)

    def page(self, page: SitePage, remembered: Mapping[str, str]) -> Fetched:
        """Fetch a page. Raise PassedOver if it is disallowed or redirects elsewhere, and SourceError."""
        return self._fetcher.fetch(page.url, _validators(remembered), self._check)

    def is_gone(self, page: SitePage) -> bool:
        """Whether the server responds that the page doesn't exist."""
        try:
            self.page(page, {})
        except SourceError as error:
            return isinstance(error, SourceNotFound)
        return False

    def _check(self, url: str) -> None:
        if not is_at(url, self.base):
            raise PassedOver(ELSEWHERE)
        if not self.robots.allows(url):
            raise PassedOver(DISALLOWED)


def _validators(remembered: Mapping[str, str]) -> Validators | None:
    values = (remembered.get(name, "") for name in ("url", "etag", "last_modified"))
    return Validators(*values) if "url" in remembered else None
