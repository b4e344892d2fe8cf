"""Fetches pages politely, within limits, from public addresses only.

Cookies are dropped. The environment's proxies are not used: behind a proxy, the address that is connected to couldn't
be checked.
"""

from __future__ import annotations

import random
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urljoin

import httpcore2

from answerable.errors import SiteUnreachable, SourceError, SourceNotFound
from answerable.providers.calling import retry_after
from answerable.sources.html.web_address import WebAddress, parse_address
from answerable.sources.site.connection import AddressGuard, PinnedPool, Timer, headers_of, length_of, read_body

# Seconds between requests, at most, so that no robots.txt can stretch a crawl to weeks.
LONGEST_DELAY = 30.0
USER_AGENT = "answerable"
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
_REFUSED = frozenset({401, 402, 403, 407, 451})
_TRY_AGAIN = frozenset({408, 425, 429})
_FAILURES = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError)
# Bytes of an error page that are read to keep the connection; for a longer page, a new connection is cheaper.
_SMALL = 1 << 16


@dataclass(frozen=True, slots=True)
class Validators:
    """A server's ETag and Last-Modified for an address, used later to check whether the page has changed."""

    url: str
    etag: str = ""
    last_modified: str = ""

    def headers(self, url: str) -> dict[str, str]:
        """Return the conditional headers for a request to this address."""
        if url != self.url:
            return {}
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in conditions.items() if value}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page: its final address and unpacked bytes, which the server doesn't send if it is unchanged.

    `content_type` and `robots` are the headers Content-Type and X-Robots-Tag.
    """

    url: str
    body: bytes
    content_type: str
    validators: Validators
    is_unchanged: bool = False
    robots: str = ""


class Fetcher:
    """Makes GET requests under a policy. Thread-safe; close it at the end.

    `tls` replaces the system's trusted certificates, `sleep` the function that waits until the fetcher is closed.
    """

    def __init__(
        self,
        guard: AddressGuard | None = None,
        policy: FetchPolicy | None = None,
        tls: ssl.SSLContext | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.policy = policy or FetchPolicy()
        self._pool = PinnedPool((guard or AddressGuard()).locate, tls)
        self._is_closed = threading.Event()
        self._sleep = sleep or self._is_closed.wait
        self._pace = Pace(self.policy.delay, self._sleep)
        self._slots = threading.BoundedSemaphore(self.policy.concurrency)

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End all requests under way, which raise SiteUnreachable, and close the connections. Idempotent."""
        self._is_closed.set()
        self._pool.cut()

    def slow_down(self, url: str, delay: float) -> None:
        """Leave at least this many seconds between two requests to the origin of `url`, up to a maximum."""
        self._pace.slow_down(parse_address(url).origin, delay)

    def fetch(
        self,
        url: str,
        validators: Validators | None = None,
        check: Callable[[str], None] | None = None,
        max_bytes: int | None = None,
    ) -> Fetched:
        """Return the page at an address. `check` is called with each address first, redirects too, and may raise.

        Raise SourceNotFound (404, 410), SiteUnreachable (no response, overloaded or broken after all tries),
        AddressRefused, SourceTooLarge, DamagedSource or UnsupportedSource (compression), otherwise SourceError.
        """
        address = parse_address(url)
        budget = Budget(self.policy.total)
        for _ in range(self.policy.redirects + 1):
            if check:
                check(address.url)
            found = self._keep_trying(address, validators, max_bytes or self.policy.max_bytes, budget)
            if isinstance(found, Fetched):
                return found
            address = parse_address(urljoin(address.url, found))
        raise SourceError(f"{url} redirects over {self.policy.redirects} times: give the address that it ends at")

    def _keep_trying(
        self, address: WebAddress, validators: Validators | None, limit: int, budget: Budget
    ) -> Fetched | str:
        for number in range(self.policy.retries + 1):
            try:
                with self._slots:
                    self._pace.wait(address.origin)
                    start = time.monotonic()
                    try:
                        return self._ask(address, validators, limit, start + budget.left)
                    finally:
                        budget.left -= time.monotonic() - start
            except SiteUnreachable as error:
                longest = min(self.policy.longest_wait, self.policy.first_wait * 2**number)
                wait = random.uniform(0, longest) if error.retry_after is None else error.retry_after
                budget.left -= wait
                if number == self.policy.retries or budget.left <= 0 or self._is_closed.is_set():
                    raise
                self._pace.postpone(address.origin, wait)
        raise AssertionError("the last try returns or raises")

    def _ask(self, address: WebAddress, validators: Validators | None, limit: int, deadline: float) -> Fetched | str:
        headers = {"User-Agent": USER_AGENT, "Accept": _ACCEPT, "Accept-Encoding": "gzip"}
        if validators:
            headers |= validators.headers(address.url)
        if self._is_closed.is_set():
            raise SiteUnreachable(f"{address.url} was not fetched, the visit was ended: visit the site again")
        try:
            with closing(self._pool.get(Timer(address, self.policy.timeout, deadline), headers)) as response:
                return _judge(response, address, validators, limit)
        except (OSError, *_FAILURES) as error:
            reason = str(error) or type(error).__name__
            failure: SourceError = SiteUnreachable(
                f"{address.url} sent no valid response ({reason[:200]}): try again later"
            )
            # httpcore2 wraps the errors of the ssl module.
            if error.args and isinstance(cause := error.args[0], ssl.SSLCertVerificationError):
                failure = SourceError(f"{address.url} shows no valid certificate ({cause.verify_message}): check it")
            raise failure from error
        finally:
            if self._is_closed.is_set():
                self._pool.close_idle()


def _judge(
    response: httpcore2.Response, address: WebAddress, validators: Validators | None, limit: int
) -> Fetched | str:
    """Return the page in a response, or the location that it redirects to. Raise SourceError."""
    url, status, headers = address.url, response.status, headers_of(response)
    if status == 200:
        body = read_body(response, headers, limit, url)
        given = Validators(url, _short(headers.get("etag", "")), _short(headers.get("last-modified", "")))
        return Fetched(url, body, headers.get("content-type", ""), given, robots=headers.get("x-robots-tag", ""))
    length = length_of(headers)
    # The rest of a small response is read, so that its connection can be reused.
    if status == 304 or (length is not None and length < _SMALL):
        response.read()
    if status == 304 and validators and validators.headers(url):
        return Fetched(url, b"", "", validators, is_unchanged=True)
    if status in _REDIRECTS and (location := headers.get("location")):
        # A server that doesn't escape an address sends it in UTF-8.
        return location.encode("latin-1").decode("utf-8", "replace")
    if status in _GONE:
        raise SourceNotFound(f"there is no page at {url} (HTTP {status}): check the address")
    if status in _TRY_AGAIN or status >= 500:
        raise SiteUnreachable(f"{url} is unavailable (HTTP {status}): try again later", retry_after(headers))
    if status in _REFUSED:
        raise SourceError(f"{url} requires login or is forbidden (HTTP {status}): save it as a file, or skip it")
    raise SourceError(f"{url} responds with HTTP {status}, which is unexpected: check the address")


def _short(header: str) -> str:
    """Return a validator to send back on the next visit, or "" if it is absurdly long."""
    return header if len(header) < 1000 and header.isprintable() else ""


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """Limits on requests; all times are in seconds.

    `timeout` applies to connecting, the first byte and every pause; `total` to all tries and redirects of one fetch;
    `delay` separates requests to one host. `max_bytes` applies to one unpacked page.
    """

    timeout: float = 20.0
    total: float = 120.0
    retries: int = 3
    first_wait: float = 0.5
    longest_wait: float = 30.0
    concurrency: int = 4
    delay: float = 0.1
    redirects: int = 5
    max_bytes: int = 20_000_000


class Pace:
    """Spaces out the requests to each origin. Thread-safe."""

    def __init__(self, delay: float, sleep: Callable[[float], object]) -> None:
        self._delay = delay
        self._sleep = sleep
        self._delays: dict[str, float] = {}
        self._next: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait(self, origin: str) -> None:
        """Sleep until the next request may start."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next.get(origin, now))
            self._next[origin] = start + self._delays.get(origin, self._delay)
        if start > now:
            self._sleep(start - now)

    def slow_down(self, origin: str, delay: float) -> None:
        """Leave at least this many seconds between requests from now on, up to LONGEST_DELAY."""
        with self._lock:
            self._delays[origin] = min(LONGEST_DELAY, max(delay, self._delays.get(origin, self._delay)))

    def postpone(self, origin: str, seconds: float) -> None:
        """Start no request for this many seconds."""
        with self._lock:
            self._next[origin] = max(self._next.get(origin, 0.0), time.monotonic() + seconds)


@dataclass(slots=True)
class Budget:
    """The seconds left for one fetch, not counting the wait for the fetch's turn."""

    left: float
