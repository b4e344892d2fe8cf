"""Asks for pages some way ahead of who reads them: in order, within bounds, and no longer than they are wanted."""

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
    """A page isn't wanted; the message is the reason. Never leaves this package."""


Outcome = Fetched | SourceError
"""What came of a page: its bytes, the error, or PassedOver."""


def ask_ahead(
    queue: deque[SitePage],
    ask: Callable[[SitePage], Fetched],
    leave_out: Callable[[SitePage], str],
    concurrency: int,
) -> Generator[tuple[SitePage, Outcome], None, None]:
    """Each page of the queue with what came of it, in order; more may be put in the queue while this is read.

    `leave_out` gives the reason not to ask for a page, or nothing; it is called when the pages that stand
    2 * `concurrency` before it have been read, so that the same site is always asked the same. Closing doesn't wait for
    what is under way.
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
    """Asks a site for its pages, none outside of `base`, none that its robots.txt asks not to fetch.

    Validators go with a request where they are known, and hold for the address that they came from.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self.robots = Robots(fetcher)
        self.base = ""
        self._fetcher = fetcher

    def start(self, start: SiteStart, remembered: Mapping[str, str]) -> Fetched:
        """The page that a site begins with, which may have moved on its own host. Raises SourceError."""

        def check(url: str) -> None:
            if not is_same_host(url, start.url):
                raise SourceError(f"{start.url} redirects to another host: give the address {url} if that is meant")
            self.robots.check(url)

        return self._fetcher.fetch(start.url, _validators(remembered), check)

    def page(self, page: SitePage, remembered: Mapping[str, str]) -> Fetched:
        """A page of the site. Raises PassedOver when it may not be asked for, or leads elsewhere, or a SourceError."""
        return self._fetcher.fetch(page.url, _validators(remembered), self._check)

    def is_gone(self, page: SitePage) -> bool:
        """Whether the site says of a page that there is none."""
        try:
            self.page(page, {})
        except SourceNotFound:
            return True
        except SourceError:
            return False
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
