"""What sites ask robots not to fetch (RFC 9309), and how slowly they want to be asked."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from answerable.errors import (
    AddressRefused,
    DamagedSource,
    SiteUnreachable,
    SourceError,
    SourceTooLarge,
    UnsupportedSource,
)
from answerable.sources.site.fetch import USER_AGENT, Fetcher
from answerable.sources.web_address import parse_address

if TYPE_CHECKING:
    from protego import Protego

# RFC 9309 asks to read at least 500 KiB; larger files are cut there, as the large search engines do.
_READ = 500 * 1024
_MAX_BYTES = 5_000_000


class Robots:
    """The rules of every origin that was asked about, fetched once. Safe to share between threads.

    A site without a robots.txt, or that refuses it to us (401, 403), allows everything. Of one that can't give it now,
    or whose file can't be read, nothing may be fetched: the error is raised, and it is asked again the next time.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._rules: dict[str, Protego] = {}
        self._lock = threading.Lock()

    def check(self, url: str) -> None:
        """Raises AddressRefused when the site asks not to fetch this address."""
        if not self._rules_for(url).can_fetch(url, USER_AGENT):
            raise AddressRefused(
                f"{url} is not fetched, the site's robots.txt asks not to: ask its owner, or save the page as a file"
            )

    def sitemaps(self, url: str) -> list[str]:
        """The addresses of sitemaps that the site's robots.txt names, as they stand there."""
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
        except (AddressRefused, DamagedSource, SiteUnreachable, SourceTooLarge, UnsupportedSource):
            raise
        except SourceError:
            body = b""
        rules = Protego.parse(body.decode("utf-8-sig", "replace"))
        if delay := rules.crawl_delay(USER_AGENT):
            self._fetcher.slow_down(origin, delay)
        return rules
