"""Fetches pages: politely, within bounds, from public addresses only.

Nothing is remembered between two requests but idle connections: cookies are dropped, and a credential goes to the
origin that it was given for and to no other. The proxies of the environment are not used, since behind one the address
that is connected to couldn't be checked.
"""

from __future__ import annotations

import http.client
import random
import ssl
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin

from answerable.errors import SiteUnreachable, SourceError, SourceNotFound
from answerable.providers.calling import retry_after
from answerable.sources.site.addresses import AddressGuard
from answerable.sources.site.connection import Clock, PinnedConnection, read_body
from answerable.sources.site.pace import Budget, FetchPolicy, Pace
from answerable.sources.web_address import WebAddress, parse_address

USER_AGENT = "answerable"
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
_REFUSED = frozenset({401, 402, 403, 407, 451})
_TRY_AGAIN = frozenset({408, 425, 429})
# The rest of a longer error page isn't worth the connection.
_SMALL = 1 << 16


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave to ask later whether a page has changed; they hold for the address that they came from."""

    url: str
    etag: str = ""
    last_modified: str = ""

    def headers(self, url: str) -> dict[str, str]:
        """The request's conditions for this address."""
        if url != self.url:
            return {}
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in conditions.items() if value}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page: the address where it was found in the end, its unpacked bytes, and its Content-Type as the server said.

    `is_unchanged` means that the validators still hold; then there are no bytes. `robots` is what the server asks of
    robots (X-Robots-Tag).
    """

    url: str
    body: bytes
    content_type: str
    validators: Validators
    is_unchanged: bool = False
    robots: str = ""


@dataclass(frozen=True, slots=True)
class _Redirect:
    location: str


class Fetcher:
    """Makes GET requests under a policy. Safe to share between threads; close it in the end.

    `authorizations` are values of the Authorization header by origin (`https://docs.example.com`). `tls` replaces
    the system's trust in certificates. `sleep` waits for so many seconds; by default closing ends the wait.
    """

    def __init__(
        self,
        guard: AddressGuard | None = None,
        policy: FetchPolicy | None = None,
        authorizations: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.policy = policy or FetchPolicy()
        self._guard = guard or AddressGuard()
        self._authorizations = {parse_address(at).origin: value for at, value in (authorizations or {}).items()}
        self._tls = tls
        self._is_closed = threading.Event()
        self._sleep = sleep or self._is_closed.wait
        self._pace = Pace(self.policy.delay, self._sleep)
        self._slots = threading.BoundedSemaphore(self.policy.concurrency)
        self._idle: defaultdict[str, list[PinnedConnection]] = defaultdict(list)
        self._busy: set[PinnedConnection] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends every request that is under way, with SiteUnreachable, and closes the connections. Twice is fine."""
        self._is_closed.set()
        with self._lock:
            connections = [each for idle in self._idle.values() for each in idle]
            self._idle.clear()
            for connection in self._busy:
                connection.cut()
        for connection in connections:
            connection.close()

    def slow_down(self, url: str, delay: float) -> None:
        """Leaves at least that many seconds between two requests to the origin of `url`, within reason."""
        self._pace.slow_down(parse_address(url).origin, delay)

    def fetch(
        self,
        url: str,
        validators: Validators | None = None,
        check: Callable[[str], None] | None = None,
        max_bytes: int | None = None,
    ) -> Fetched:
        """The page at an address. `check` sees every address before it is asked, redirects too, and may raise.

        Raises SourceNotFound (404, 410), SiteUnreachable (no answer, overloaded or broken after all tries),
        AddressRefused, SourceTooLarge, DamagedSource or UnsupportedSource (its packing), SourceError otherwise.
        """
        address = parse_address(url)
        budget = Budget(self.policy.total)
        for _ in range(self.policy.redirects + 1):
            if check:
                check(address.url)
            found = self._keep_trying(address, validators, max_bytes or self.policy.max_bytes, budget)
            if isinstance(found, Fetched):
                return found
            address = parse_address(urljoin(address.url, found.location))
        raise SourceError(f"{url} redirects over {self.policy.redirects} times: give the address that it ends at")

    def _keep_trying(
        self, address: WebAddress, validators: Validators | None, limit: int, budget: Budget
    ) -> Fetched | _Redirect:
        for number in range(self.policy.retries + 1):
            try:
                with self._slots:
                    self._pace.wait(address.origin)
                    with budget.spending() as deadline:
                        return self._ask(address, validators, limit, Clock(self.policy.timeout, deadline))
            except SiteUnreachable as error:
                asked = error.retry_after
                wait = self._backoff(number) if asked is None else asked
                budget.left -= wait
                if number == self.policy.retries or budget.left <= 0 or self._is_closed.is_set():
                    raise
                if asked is None:
                    self._sleep(wait)
                else:
                    self._pace.postpone(address.origin, asked)
        raise AssertionError("the last try returns or raises")

    def _require_open(self, address: WebAddress) -> None:
        if self._is_closed.is_set():
            raise SiteUnreachable(f"{address.url} was not fetched any more, the visit was ended: visit the site again")

    def _backoff(self, number: int) -> float:
        return random.uniform(0, min(self.policy.longest_wait, self.policy.first_wait * 2**number))

    def _ask(self, address: WebAddress, validators: Validators | None, limit: int, clock: Clock) -> Fetched | _Redirect:
        headers = {"User-Agent": USER_AGENT, "Accept": _ACCEPT, "Accept-Encoding": "gzip"}
        if authorization := self._authorizations.get(address.origin):
            headers["Authorization"] = authorization
        if validators:
            headers |= validators.headers(address.url)
        connection = self._connection(address, clock)
        try:
            self._require_open(address)
            response = self._send(connection, address, headers)
            found = _judge(response, address, validators, limit)
        except ssl.SSLCertVerificationError as error:
            connection.close()
            raise SourceError(f"{address.url} shows no valid certificate ({error.verify_message}): check it") from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            reason = str(error) or type(error).__name__
            raise SiteUnreachable(f"{address.url} gave no sound answer ({reason[:200]}): try again later") from error
        except BaseException:
            connection.close()
            raise
        finally:
            with self._lock:
                self._busy.discard(connection)
        self._put_back(connection, address, response)
        if isinstance(found, SourceError):
            raise found
        return found

    def _send(
        self, connection: PinnedConnection, address: WebAddress, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        try:
            connection.request("GET", address.target, headers=headers)
            return connection.getresponse()
        except (ConnectionError, http.client.BadStatusLine):
            if connection.is_fresh:
                raise
        # The server had closed the idle connection; what it opens anew goes to the same checked addresses.
        connection.close()
        connection.is_fresh = True
        connection.request("GET", address.target, headers=headers)
        return connection.getresponse()

    def _connection(self, address: WebAddress, clock: Clock) -> PinnedConnection:
        with self._lock:
            idle = self._idle[address.origin]
            connection = idle.pop() if idle else None
        if connection is None:
            ips = self._guard.locate(address)
            if address.scheme == "https" and self._tls is None:
                self._tls = ssl.create_default_context()
            connection = PinnedConnection(address, ips, clock, self._tls if address.scheme == "https" else None)
        connection.clock.deadline = clock.deadline
        with self._lock:
            self._busy.add(connection)
        return connection

    def _put_back(self, connection: PinnedConnection, address: WebAddress, response: http.client.HTTPResponse) -> None:
        if not response.isclosed() or self._is_closed.is_set():
            connection.close()
        if connection.sock:
            connection.is_fresh = False
            with self._lock:
                self._idle[address.origin].append(connection)


def _judge(
    response: http.client.HTTPResponse, address: WebAddress, validators: Validators | None, limit: int
) -> Fetched | _Redirect | SourceError:
    """What a response means; the rest of a small one is read, so that its connection can be used again."""
    url, status = address.url, response.status
    if status == 200:
        body = read_body(response, limit, url)
        given = Validators(url, _plain(response, "ETag"), _plain(response, "Last-Modified"))
        kind, robots = response.getheader("Content-Type", ""), response.getheader("X-Robots-Tag", "")
        return Fetched(url, body, kind, given, robots=robots)
    if response.length is not None and response.length < _SMALL:
        response.read()
    if status == 304 and validators and validators.headers(url):
        return Fetched(url, b"", "", validators, is_unchanged=True)
    location = response.getheader("Location")
    if status in _REDIRECTS and location:
        # http.client takes headers for Latin-1; a server that doesn't escape its addresses means UTF-8.
        return _Redirect(location.encode("latin-1").decode("utf-8", "replace"))
    if status in _GONE:
        return SourceNotFound(f"there is no page at {url} (HTTP {status}): check the address")
    if status in _TRY_AGAIN or status >= 500:
        wait = retry_after({name.lower(): value for name, value in response.getheaders()})
        return SiteUnreachable(f"{url} can't be had now (HTTP {status}): try again later", wait)
    if status in _REFUSED:
        return SourceError(f"{url} isn't open to us (HTTP {status}): give an authorization for it, or leave it out")
    return SourceError(f"{url} answers with HTTP {status}, which makes no sense here: check the address")


def _plain(response: http.client.HTTPResponse, name: str) -> str:
    """A header that will be sent back, unless it is absurdly long."""
    value = response.getheader(name, "")
    return value if len(value) < 1000 and value.isprintable() else ""
