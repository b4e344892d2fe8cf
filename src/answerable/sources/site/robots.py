"""The rules of robots.txt (RFC 9309) and the crawl delays in it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from answerable.errors import AddressRefused, SourceError, SourceNotFound
from answerable.sources.site.fetch import USER_AGENT, Fetcher
from answerable.sources.web_address import parse_address

if TYPE_CHECKING:
    from protego import Protego

# RFC 9309 asks to read at least 500 KiB; like large search engines, we cut longer files there.
_READ = 500 * 1024
_MAX_BYTES = 5_000_000


class Robots:
    """The rules of every origin, fetched once. Thread-safe.

    A site without a robots.txt, or that denies access to it (401, 403), allows everything. If it is unavailable or
    unreadable, nothing may be fetched: the error is raised, and the next check asks again.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._rules: dict[str, Protego] = {}
        self._lock = threading.Lock()

    def check(self, url: str) -> None:
        """Raise AddressRefused if the site disallows this address."""
        if not self._rules_for(url).can_fetch(url, USER_AGENT):
            raise AddressRefused(
                f"{url} is not fetched because robots.txt disallows it: ask the site's owner, or save it as a file"
            )

    def sitemaps(self, url: str) -> list[str]:
        """Return the addresses of sitemaps in the site's robots.txt, as written there."""
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
