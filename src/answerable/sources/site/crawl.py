"""Fetches pages ahead of their reader, in order and within bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from answerable.errors import AddressRefused, SourceError, SourceNotFound
from answerable.sources.site.fetch import Fetched, Fetcher, Validators
from answerable.sources.site.pages import DISALLOWED, SitePage
from answerable.sources.site.robots import Robots
from answerable.sources.site.start import SiteStart, is_at, is_same_host

ELSEWHERE = "redirects elsewhere"


class PassedOver(SourceError):
    """Internal: a page is skipped; the message is the reason."""


Outcome = Fetched | SourceError
"""A fetched page, its error, or PassedOver."""


def ask_ahead(
    queue: deque[SitePage],
    ask: Callable[[SitePage], Fetched],
    leave_out: Callable[[SitePage], str],
    concurrency: int,
) -> Generator[tuple[SitePage, Outcome], None, None]:
    """Yield each page of the queue with its outcome, in order; the queue may grow meanwhile.

    `leave_out` returns why a page is skipped without fetching, or "". It is called once the page 2 * `concurrency`
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
    """Fetches pages under `base` that robots.txt allows; sends the validators remembered from the last visit."""

    def __init__(self, fetcher: Fetcher) -> None:
        self.robots = Robots(fetcher)
        self.base = ""
        self._fetcher = fetcher

    def start(self, start: SiteStart, remembered: Mapping[str, str]) -> Fetched:
        """Fetch the start page, which may redirect on its own host. Raise SourceError."""

        def check(url: str) -> None:
            if not is_same_host(url, start.url):
                raise SourceError(f"{start.url} redirects to another host: give the address {url} if that is meant")
            self.robots.check(url)

        return self._fetcher.fetch(start.url, _validators(remembered), check)

    def page(self, page: SitePage, remembered: Mapping[str, str]) -> Fetched:
        """Fetch a page. Raise PassedOver if it is disallowed or redirects elsewhere, and SourceError."""
        return self._fetcher.fetch(page.url, _validators(remembered), self._check)

    def is_gone(self, page: SitePage) -> bool:
        """Whether the site responds that the page doesn't exist."""
        try:
            self.page(page, {})
        except SourceError as error:
            return isinstance(error, SourceNotFound)
        return False

    def _check(self, url: str) -> None:
        if not is_at(url, self.base):
            raise PassedOver(ELSEWHERE)
        try:
            self.robots.check(url)
        except AddressRefused as error:
            raise PassedOver(DISALLOWED) from error


def _validators(remembered: Mapping[str, str]) -> Validators | None:
    if "url" not in remembered:
        return None
    return Validators(remembered["url"], remembered.get("etag", ""), remembered.get("last_modified", ""))
