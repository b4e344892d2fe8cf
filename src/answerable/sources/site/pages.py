"""The pages of a site, read from its sitemaps.

A sitemap lists public addresses, whichever host serves it: a copy of the site on another host or path is crawled on
that host or path, and cited by its public addresses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from answerable.errors import (
    AddressRefused,
    EmptySource,
    SitemapNotFoundError,
    SiteUnreachable,
    SourceError,
    SourceNotFound,
    SourceTooLarge,
    UnsupportedSource,
)
from answerable.sources.html.web_address import WebAddress, parse_address
from answerable.sources.site.fetch import Fetcher
from answerable.sources.site.robots import MAX_BYTES, Robots, Sitemap, parse_sitemap

_SITEMAPS = (".xml", ".xml.gz")
_NAMES = ("sitemap.xml", "sitemap_index.xml")
# Levels of sitemap indexes: the protocol allows one, some generators use two.
_MAX_DEPTH = 3
# A server that sends the same index at every address has no end.
_MAX_SITEMAPS = 500
DISALLOWED = "disallowed by robots.txt"


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page: where to fetch it, and its public address for citations."""

    url: str
    public: str


@dataclass(frozen=True, slots=True)
class SitePages:
    """The pages under `base` in the order of the sitemaps, without duplicates.

    `skipped` counts the omitted entries by reason; `errors` has an error for each unreadable sitemap. If `errors` is
    empty, a page that isn't listed no longer exists. `disallowed` are the pages that robots.txt disallows; `missing`
    maps each locale without a sitemap of its own to its error, which is in `errors` too.
    """

    base: str
    public_base: str
    pages: tuple[SitePage, ...]
    skipped: Counter[str] = field(default_factory=Counter)
    errors: tuple[SourceError, ...] = ()
    disallowed: frozenset[SitePage] = frozenset()
    missing: Mapping[str, SourceError] = field(default_factory=dict)


def find_pages(
    fetcher: Fetcher,
    base: str,
    robots: Robots | None = None,
    locales: Sequence[str] = (),
    public_base: str = "",
    max_pages: int = 100_000,
) -> SitePages:
    """Return the pages of a site at or below `base`, the address of its start or of a sitemap.

    `locales` are further folders with sitemaps of their own, as in Docusaurus. `public_base` is the public address of
    the sitemap's folder, if the sitemap itself doesn't show it. Raise SitemapNotFoundError if there is no sitemap,
    EmptySource if it lists no page under `base`, and SourceError if the site can't be reached.
    """
    start = parse_address(base)
    search = _Search(fetcher, robots, max_pages)
    found, sitemap = search.first(start)
    crawled = parse_address(found.origin + _folder(start))
    # By the protocol, a sitemap is above its pages; a sitemap named in robots.txt may be anywhere.
    folder = found.origin + _folder(found)
    folder = folder if crawled.url.startswith(folder) else crawled.url
    search.read(found, sitemap)
    missing = search.locales(crawled.url, locales)
    public = parse_address(public_base).url.rstrip("/") + "/" if public_base else _public_folder(search.listed, folder)
    pages, skipped = _moved(search.listed, public, folder, crawled.url)
    disallowed = frozenset(page for page in pages if robots and not robots.allows(page.url))
    skipped += Counter({DISALLOWED: len(disallowed)})
    pages = tuple(page for page in pages if page not in disallowed)
    if not pages and not search.errors:
        raise EmptySource(
            f"the sitemap {found.url} lists no page under {crawled.url}: give the address of the whole site"
        )
    public_start = exchange(crawled.url, folder, public)
    return SitePages(crawled.url, public_start, pages, skipped, tuple(search.errors), disallowed, missing)


class _Search:
    """Reads sitemaps and the sitemaps they list, all at the crawled host."""

    def __init__(self, fetcher: Fetcher, robots: Robots | None, max_pages: int) -> None:
        self._fetcher = fetcher
        self._robots = robots
        self._max_pages = max_pages
        self._fetched: set[str] = set()
        self.listed: list[str] = []
        self.errors: list[SourceError] = []

    def first(self, start: WebAddress) -> tuple[WebAddress, Sitemap]:
        """Return the address of the first sitemap found, and the sitemap."""
        failures = []
        for url in _candidates(start, self._robots):
            try:
                return self._get(parse_address(url))
            except (AddressRefused, SiteUnreachable):
                raise
            except SourceError as error:
                failures.append(str(error))
        raise SitemapNotFoundError(
            f"{start.url} has no readable sitemap ({failures[0]}): give the address of its sitemap or of a page"
        )

    def follow(self, address: WebAddress, depth: int = 1) -> None:
        """Read one more sitemap and all sitemaps below it; add an error if it can't be read."""
        if address.url in self._fetched:
            return
        try:
            self.read(*self._get(address), depth)
        except SourceError as error:
            self.errors.append(error)

    def locales(self, base: str, names: Sequence[str]) -> dict[str, SourceError]:
        """Read the sitemaps in the folders of locales; return the error of each that has none."""
        missing: dict[str, SourceError] = {}
        for name in names:
            before = len(self.errors)
            self.follow(parse_address(f"{base}{name}/sitemap.xml"))
            if isinstance(error := next(iter(self.errors[before:]), None), SourceNotFound | UnsupportedSource):
                missing[name] = error
        return missing

    def read(self, at: WebAddress, sitemap: Sitemap, depth: int = 1) -> None:
        """Add the pages of a sitemap and of the sitemaps it lists; record errors."""
        room = self._max_pages - len(self.listed)
        self.listed += sitemap.pages[:room]
        if len(sitemap.pages) > room:
            self._note_too_many(at)
        if sitemap.sitemaps and depth == _MAX_DEPTH:
            self.errors.append(
                SourceTooLarge(f"{at.url} lists sitemaps over {_MAX_DEPTH} levels deep, not read: give their addresses")
            )
            return
        for url in sitemap.sitemaps:
            if max(len(self._fetched), len(self.errors)) >= _MAX_SITEMAPS or len(self.listed) >= self._max_pages:
                self._note_too_many(at)
                return
            try:
                address = parse_address(at.origin + parse_address(url).target)
            except AddressRefused as error:
                self.errors.append(error)
                continue
            self.follow(address, depth + 1)

    def _get(self, address: WebAddress) -> tuple[WebAddress, Sitemap]:
        self._fetched.add(address.url)
        check = self._robots.check if self._robots else None
        fetched = self._fetcher.fetch(address.url, check=check, max_bytes=MAX_BYTES)
        found = parse_address(fetched.url)
        # The target of a redirect isn't fetched again.
        self._fetched.add(found.url)
        sitemap = parse_sitemap(fetched.body, fetched.url)
        # If the path or the host is unchanged, the site has moved; otherwise only its sitemap is stored elsewhere.
        hosts = {each.host.removeprefix("www.") for each in (found, address)}
        return found if found.target == address.target or len(hosts) == 1 else address, sitemap

    def _note_too_many(self, at: WebAddress) -> None:
        self.errors.append(
            SourceTooLarge(
                f"{at.url} is not read to its end, over {self._max_pages:,} pages or {_MAX_SITEMAPS:,} "
                "sitemaps: give the address of one part of it"
            )
        )


def _candidates(start: WebAddress, robots: Robots | None) -> Iterable[str]:
    """Return where a sitemap may be: the address itself, its folder, the folders above, and those in robots.txt."""
    path = start.target.partition("?")[0]
    if path.endswith(_SITEMAPS):
        return [start.url]
    folders = [_folder(start)]
    while folders[-1] != "/":
        folders.append(folders[-1].rstrip("/").rpartition("/")[0] + "/")
    guesses = [f"{start.origin}{folder}{_NAMES[0]}" for folder in folders]
    named = [start.origin + each.target for each in _valid(robots.sitemaps(start.url) if robots else ())]
    return dict.fromkeys([*guesses, *named, start.origin + folders[0] + _NAMES[1], start.origin + "/" + _NAMES[1]])


def _valid(urls: Iterable[str]) -> Iterator[WebAddress]:
    for url in urls:
        with suppress(AddressRefused):
            yield parse_address(url)


def _folder(address: WebAddress) -> str:
    """Return the path of an address's folder, with a final slash; for a sitemap, the folder that it is in."""
    path = address.target.partition("?")[0]
    if path.endswith(_SITEMAPS):
        return path.rpartition("/")[0] + "/"
    return path if path.endswith("/") else path + "/"


def _public_folder(listed: Sequence[str], folder: str) -> str:
    """Return the public address of a sitemap's folder, determined from the addresses in the sitemap."""
    addresses = list(_valid(listed))
    crawled = parse_address(folder)
    origins = Counter(address.origin for address in addresses)
    if not origins or crawled.origin in origins:
        return folder
    public = origins.most_common(1)[0][0]
    # A copy of a site usually keeps the paths; if not, its folder corresponds to the root of the public site.
    keeps = any(each.origin == public and each.target.startswith(crawled.target) for each in addresses)
    return public + (crawled.target if keeps else "/")


def _moved(listed: Iterable[str], public: str, folder: str, base: str) -> tuple[tuple[SitePage, ...], Counter[str]]:
    """Return the pages under `base` with their crawled addresses, and the number of skipped entries by reason."""
    pages: dict[str, SitePage] = {}
    skipped: Counter[str] = Counter()
    for written in listed:
        try:
            address = parse_address(written).url
        except AddressRefused:
            skipped["not an address"] += 1
            continue
        url = exchange(address, public, folder)
        if not (url + "/").startswith(base) or not (address + "/").startswith(public):
            skipped["elsewhere"] += 1
        elif page_key(url) in pages:
            skipped["named twice"] += 1
        else:
            pages[page_key(url)] = SitePage(url, address)
    return tuple(pages.values()), skipped


def page_key(url: str) -> str:
    """Return the address without a final slash, because both forms mean the same page."""
    return url.rstrip("/")


def is_below(url: str, base: str) -> bool:
    """Whether an address is the folder `base`, with or without its final slash, or in it."""
    return (url.partition("?")[0] + "/").startswith(base)


def too_many_pages(base: str, limit: int) -> SourceTooLarge:
    """Return the error for a site with more pages than the limit."""
    return SourceTooLarge(
        f"{base} has over {limit:,} pages, the others are not read: give the address of one part of it, or raise the "
        "setting max_pages"
    )


def exchange(url: str, old: str, new: str) -> str:
    """Replace the folder `old` of an address by `new`; the address may also be `old` without its final slash."""
    if url + "/" == old:
        return new.rstrip("/") if new.count("/") > 3 else new
    return new + url.removeprefix(old) if url.startswith(old) else url
