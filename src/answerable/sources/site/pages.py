"""The pages of a site, by its sitemaps.

A sitemap names public addresses, whatever host it is asked at: a copy of the site on another host, or under another
path, is crawled there and cited by its public addresses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from answerable.errors import (
    AddressRefused,
    DamagedSource,
    EmptySource,
    SitemapNotFoundError,
    SiteUnreachable,
    SourceError,
    SourceNotFound,
    SourceTooLarge,
    UnsupportedSource,
)
from answerable.sources.site.fetch import Fetcher
from answerable.sources.site.robots import Robots
from answerable.sources.site.sitemap import MAX_BYTES, Sitemap, SitemapEntry, parse_sitemap
from answerable.sources.web_address import WebAddress, parse_address

_SITEMAPS = (".xml", ".xml.gz")
_NAMES = ("sitemap.xml", "sitemap_index.xml")
# The protocol has one level of indexes; some generators use two.
_MAX_DEPTH = 3
# A server that gives the same index at every address has no end.
_MOST_COPIES = 3
DISALLOWED = "disallowed by robots.txt"


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page: where to fetch it, the public address to cite it by, and when it last changed, if the sitemap says so."""

    url: str
    public: str
    lastmod: datetime | None = None


@dataclass(frozen=True, slots=True)
class SitePages:
    """What the sitemaps name under `base`, in their order, without repeats.

    `skipped` counts what was left out by reason; `errors` are of sitemaps that couldn't be read. Only when there are
    none does a page's absence mean that it is gone: see `is_complete`. `disallowed` are the pages that robots.txt asks
    not to fetch, `missing` the errors, also among `errors`, of locales that have no sitemap of their own.
    """

    base: str
    public_base: str
    pages: tuple[SitePage, ...]
    skipped: Counter[str] = field(default_factory=Counter)
    errors: tuple[SourceError, ...] = ()
    disallowed: frozenset[SitePage] = frozenset()
    missing: Mapping[str, SourceError] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every sitemap was read."""
        return not self.errors


def find_pages(
    fetcher: Fetcher,
    base: str,
    robots: Robots | None = None,
    locales: Sequence[str] = (),
    public_base: str = "",
    max_sitemaps: int = 500,
    max_pages: int = 100_000,
) -> SitePages:
    """The pages of a site at or below `base`, the address of its start or of a sitemap.

    `locales` are further folders with sitemaps of their own, as Docusaurus makes them. `public_base` says what public
    address stands for the folder of the sitemap, where that can't be told from the sitemap itself. Robots' rules apply
    to sitemaps and pages when they are given. Raises SitemapNotFoundError when there is no sitemap, EmptySource when
    it names no page under `base`, and any SourceError of the site when it can't be asked.
    """
    start = parse_address(base)
    search = _Search(fetcher, robots, max_sitemaps, max_pages)
    found, sitemap = search.first(start)
    crawled = parse_address(found.origin + _folder(start))
    # By the protocol a sitemap stands above its pages; one that robots.txt names may stand anywhere.
    folder = found.origin + _folder(found)
    folder = folder if crawled.url.startswith(folder) else crawled.url
    search.read(found, sitemap)
    missing = search.locales(crawled.url, locales)
    public = parse_address(public_base).url.rstrip("/") + "/" if public_base else _public_folder(search.entries, folder)
    pages, skipped = _moved(search.entries, public, folder, crawled.url)
    disallowed = frozenset(page for page in pages if robots and not _is_allowed(robots, page))
    skipped += Counter({DISALLOWED: len(disallowed)})
    pages = tuple(page for page in pages if page not in disallowed)
    if not pages and not search.errors:
        raise EmptySource(
            f"the sitemap {found.url} names no page under {crawled.url}: give the address of the whole site"
        )
    public_start = exchange(crawled.url, folder, public)
    return SitePages(crawled.url, public_start, pages, skipped, tuple(search.errors), disallowed, missing)


class _Search:
    """Reads sitemaps and the sitemaps that they name, all at the host that is crawled."""

    def __init__(self, fetcher: Fetcher, robots: Robots | None, max_sitemaps: int, max_pages: int) -> None:
        self._fetcher = fetcher
        self._robots = robots
        self._max_sitemaps = max_sitemaps
        self._max_pages = max_pages
        self._seen: set[str] = set()
        self._indexes: set[tuple[SitemapEntry, ...]] = set()
        self._copies = 0
        self.entries: list[SitemapEntry] = []
        self.errors: list[SourceError] = []

    def first(self, start: WebAddress) -> tuple[WebAddress, Sitemap]:
        """The first sitemap where one may be, and where it was found."""
        failures = []
        for url in _candidates(start, self._robots):
            try:
                return self._get(parse_address(url))
            except (AddressRefused, SiteUnreachable):
                raise
            except SourceError as error:
                failures.append(str(error))
        raise SitemapNotFoundError(
            f"{start.url} has no sitemap that can be read ({failures[0]}): give the address of its sitemap or of a page"
        )

    def follow(self, address: WebAddress, depth: int = 1) -> None:
        """Reads one more sitemap and all below it; takes note of the error when it can't be read."""
        if address.url in self._seen:
            return
        try:
            if depth > _MAX_DEPTH:
                raise SourceTooLarge(f"{address.url} is not read, it stands {depth} levels deep: give its own address")
            self.read(*self._get(address), depth)
        except SourceError as error:
            self.errors.append(error)

    def locales(self, base: str, names: Sequence[str]) -> dict[str, SourceError]:
        """Reads the sitemaps in the folders of locales; those that have none, with the error that was noted."""
        missing: dict[str, SourceError] = {}
        for name in names:
            before = len(self.errors)
            self.follow(parse_address(f"{base}{name}/sitemap.xml"))
            if isinstance(error := next(iter(self.errors[before:]), None), SourceNotFound | UnsupportedSource):
                missing[name] = error
        return missing

    def read(self, at: WebAddress, sitemap: Sitemap, depth: int = 1) -> None:
        """Takes the pages of a sitemap and of all that it names; takes note of what can't be read.

        An index is followed once, at whatever addresses it stands.
        """
        if sitemap.sitemaps in self._indexes:
            self._copies += 1
            return
        if sitemap.sitemaps:
            self._indexes.add(sitemap.sitemaps)
        room = self._max_pages - len(self.entries)
        self.entries += sitemap.pages[:room]
        if len(sitemap.pages) > room:
            self._note_too_many(at)
        for entry in sitemap.sitemaps:
            if len(self._seen) >= self._max_sitemaps or len(self.entries) >= self._max_pages:
                self._note_too_many(at)
                return
            if self._copies == _MOST_COPIES:
                self.errors.append(
                    DamagedSource(f"{at.url} names itself again and again, and is not read to its end: tell its owner")
                )
                return
            try:
                address = parse_address(at.origin + parse_address(entry.url).target)
            except AddressRefused as error:
                self.errors.append(error)
                continue
            self.follow(address, depth + 1)

    def _get(self, address: WebAddress) -> tuple[WebAddress, Sitemap]:
        self._seen.add(address.url)
        check = self._robots.check if self._robots else None
        fetched = self._fetcher.fetch(address.url, check=check, max_bytes=MAX_BYTES)
        found = parse_address(fetched.url)
        # Where a redirect has led to isn't asked again.
        self._seen.add(found.url)
        sitemap = parse_sitemap(fetched.body, fetched.url)
        # A site may have moved, and then its pages have; or only its sitemap is kept somewhere else.
        has_moved = found.target == address.target or found.host.removeprefix("www.") == address.host.removeprefix(
            "www."
        )
        return found if has_moved else address, sitemap

    def _note_too_many(self, at: WebAddress) -> None:
        self.errors.append(
            SourceTooLarge(
                f"{at.url} is not read to its end, over {self._max_pages:,} pages or {self._max_sitemaps:,} "
                "sitemaps: give the address of one part of it"
            )
        )


def _candidates(start: WebAddress, robots: Robots | None) -> Iterable[str]:
    """Where a sitemap may be: at the address itself, in its folder and those above it, where robots.txt says."""
    path = start.target.partition("?")[0]
    if path.endswith(_SITEMAPS):
        return [start.url]
    folders = [_folder(start)]
    while folders[-1] != "/":
        folders.append(folders[-1].rstrip("/").rpartition("/")[0] + "/")
    guesses = [f"{start.origin}{folder}{_NAMES[0]}" for folder in folders]
    named = [start.origin + parse_address(url).target for url in _sound(robots.sitemaps(start.url) if robots else ())]
    return dict.fromkeys([*guesses, *named, start.origin + folders[0] + _NAMES[1], start.origin + "/" + _NAMES[1]])


def _sound(urls: Iterable[str]) -> list[str]:
    """Those of the addresses that can be read, in their plain form."""
    kept = []
    for url in urls:
        try:
            kept.append(parse_address(url).url)
        except AddressRefused:
            continue
    return kept


def _folder(address: WebAddress) -> str:
    """The path of the folder that an address names, with a slash at its end; a sitemap stands in its folder."""
    path = address.target.partition("?")[0]
    if path.endswith(_SITEMAPS):
        return path.rpartition("/")[0] + "/"
    return path if path.endswith("/") else path + "/"


def _public_folder(entries: Sequence[SitemapEntry], folder: str) -> str:
    """The public address of the folder that a sitemap stands in, from the addresses that it names."""
    addresses = [parse_address(url) for url in _sound(entry.url for entry in entries)]
    crawled = parse_address(folder)
    origins = Counter(address.origin for address in addresses)
    if not origins or crawled.origin in origins:
        return folder
    public = origins.most_common(1)[0][0]
    # A copy keeps the paths as a rule; if not, its folder stands for the root of the public site.
    keeps = any(each.origin == public and each.target.startswith(crawled.target) for each in addresses)
    return public + (crawled.target if keeps else "/")


def _moved(
    entries: Iterable[SitemapEntry], public: str, folder: str, base: str
) -> tuple[tuple[SitePage, ...], Counter[str]]:
    """The pages under `base` where they are crawled, and how many entries were left out and why."""
    pages: dict[str, SitePage] = {}
    skipped: Counter[str] = Counter()
    for entry in entries:
        try:
            address = parse_address(entry.url).url
        except AddressRefused:
            skipped["not an address"] += 1
            continue
        url = exchange(address, public, folder)
        if not (url + "/").startswith(base) or not (address + "/").startswith(public):
            skipped["elsewhere"] += 1
        elif url in pages:
            skipped["named twice"] += 1
        else:
            pages[url] = SitePage(url, address, entry.lastmod)
    return tuple(pages.values()), skipped


def page_key(url: str) -> str:
    """What the forms of an address with and without a slash at its end have in common."""
    return url.rstrip("/")


def is_below(url: str, base: str) -> bool:
    """Whether an address is that of a folder, with or without slash, or of something in it."""
    return (url.partition("?")[0] + "/").startswith(base)


def too_many_pages(base: str, limit: int) -> SourceTooLarge:
    """The error for a site that has more pages than are read."""
    return SourceTooLarge(
        f"{base} has over {limit:,} pages, the others are not read: give the address of one part of it, or raise the "
        "setting max_pages"
    )


def exchange(url: str, old: str, new: str) -> str:
    """The address with one folder exchanged for another; also the folder's own without its slash."""
    if url + "/" == old:
        return new.rstrip("/") if new.count("/") > 3 else new
    return new + url.removeprefix(old) if url.startswith(old) else url


def _is_allowed(robots: Robots, page: SitePage) -> bool:
    try:
        robots.check(page.url)
    except AddressRefused:
        return False
    return True
