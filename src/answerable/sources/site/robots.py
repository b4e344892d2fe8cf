"""The rules of robots.txt (RFC 9309), and the addresses in sitemaps and sitemap indexes (sitemaps.org).

The XML is parsed as a stream, so that memory holds only the addresses. A document type declaration is refused, because
it could declare entities.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from answerable.errors import (
    AddressRefused,
    DamagedSource,
    SourceError,
    SourceNotFound,
    SourceTooLarge,
    UnsupportedSource,
)
from answerable.sources.html.web_address import parse_address
from answerable.sources.site.connection import gunzip
from answerable.sources.site.fetch import USER_AGENT, Fetcher
from answerable.sources.xml import SAFELY, forget, local_name

if TYPE_CHECKING:
    from protego import Protego

# Bytes: RFC 9309 asks crawlers to read at least 500 KiB; like large search engines, we cut longer files there.
_READ = 500 * 1024
_MAX_BYTES = 5_000_000  # bytes of robots.txt that are fetched at most


class Robots:
    """The rules of every origin, fetched once. Thread-safe.

    A site that has no robots.txt, or denies access to it (401, 403), allows everything. If robots.txt is unavailable or
    unreadable, nothing may be fetched: the error is raised, and the next check fetches it again.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._rules: dict[str, Protego] = {}
        self._lock = threading.Lock()

    def check(self, url: str) -> None:
        """Raise AddressRefused if the site's robots.txt disallows this address."""
        if not self.allows(url):
            raise AddressRefused(
                f"{url} is not fetched because robots.txt disallows it: ask the site's owner, or save it as a file"
            )

    def allows(self, url: str) -> bool:
        """Whether the site's robots.txt allows this address."""
        return self._rules_for(url).can_fetch(url, USER_AGENT)

    def sitemaps(self, url: str) -> list[str]:
        """Return the addresses of sitemaps in the site's robots.txt, as they are written there."""
        return list(self._rules_for(url).sitemaps)

    def _rules_for(self, url: str) -> Protego:
        origin = parse_address(url).origin
        with self._lock:
            if origin not in self._rules:
                self._rules[origin] = self._fetch(origin)
            return self._rules[origin]

    def _fetch(self, origin: str) -> Protego:
        from protego import Protego

        try:
            body = self._fetcher.fetch(f"{origin}/robots.txt", max_bytes=_MAX_BYTES).body[:_READ]
        except SourceError as error:
            if type(error) not in (SourceError, SourceNotFound):
                raise
            body = b""
        rules = Protego.parse(body.decode("utf-8-sig", "replace"))
        if delay := rules.crawl_delay(USER_AGENT):
            self._fetcher.slow_down(origin, delay)
        return rules


# The protocol allows 50,000 addresses and 50 MB; some generators exceed 50,000 addresses.
MAX_ENTRIES = 200_000  # addresses in a sitemap at most, four times the protocol's; a guess, not measured
MAX_BYTES = 50_000_000  # bytes of an unpacked sitemap at most
_LONGEST_ADDRESS = 4096  # characters: longer addresses are left out


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The addresses of the pages listed in a sitemap, or of the sitemaps listed in an index, as written there."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def parse_sitemap(data: bytes, source: str) -> Sitemap:
    """Parse a sitemap, compressed or not. Raise UnsupportedSource if it is none, DamagedSource and SourceTooLarge."""
    from lxml.etree import XMLSyntaxError, iterparse  # type: ignore[import-untyped]

    if data.startswith(b"\x1f\x8b"):
        data = gunzip(data, MAX_BYTES, source)
    no_sitemap = UnsupportedSource(f"{source} is not a sitemap: give the address of one, which usually ends in .xml")
    addresses: list[str] = []
    root = ""
    try:
        # Don't recover from errors: with half a sitemap, the pages of the other half would look deleted.
        for event, element in iterparse(BytesIO(data.lstrip(b" \t\r\n")), events=("start", "end"), **SAFELY):
            name = local_name(element)
            if not root:
                root = name
                if element.getroottree().docinfo.internalDTD is not None:
                    raise DamagedSource(
                        f"{source} declares a document type, which no sitemap needs: tell the site's owner"
                    )
                if root not in ("urlset", "sitemapindex"):
                    raise no_sitemap
            elif event == "end" and name in ("url", "sitemap"):
                address = element.findtext("{*}loc", "").strip()
                if 0 < len(address) <= _LONGEST_ADDRESS:
                    addresses.append(address)
                if len(addresses) > MAX_ENTRIES:
                    raise SourceTooLarge(
                        f"{source} lists over {MAX_ENTRIES:,} addresses: give one of its parts instead"
                    )
                forget(element)
    except XMLSyntaxError as error:
        if root:
            raise DamagedSource(f"{source} is a broken sitemap ({error}): tell the site's owner") from error
        raise no_sitemap from error
    return Sitemap(sitemaps=tuple(addresses)) if root == "sitemapindex" else Sitemap(pages=tuple(addresses))
