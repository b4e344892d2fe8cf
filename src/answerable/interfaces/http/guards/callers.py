"""Identify the caller of each request by its key, and limit how much each caller and each address may ask.

Without a key file the server listens on this machine alone, and every caller may do everything.
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.errors import SettingsError
from answerable.interfaces.http.guards.connections import network_of
from answerable.interfaces.http.guards.key_file import Keys, Role
from answerable.interfaces.http.paths import is_public, route_path
from answerable.interfaces.http.problems import Problem, problem
from answerable.text import printable_line

_BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE)
_FORWARDING = frozenset({"forwarded", "x-forwarded-for", "x-real-ip"})
_FORWARDED = (
    "The server has no keys and serves only this machine, but a proxy forwarded this request. Start it with --keys or, "
    "if the proxy authenticates users, name it with --proxy."
)
_log = logging.getLogger("answerable")


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller: the id of its key, its role, and the only library that the key opens (None: all libraries)."""

    id: str
    role: Role
    library: str | None = None

    def sees(self, library: str) -> bool:
        """Return whether the caller may use a library."""
        return self.library in (None, library)


LOCAL = Caller("local", "admin")
"""Every caller of a server without keys."""


class Authentication:
    """A middleware that sets each request's caller, and answers 401 to requests without a caller.

    Paths that `is_public` accepts need no caller. A key is sent as `Authorization: Bearer …` or `X-API-Key: …`, exactly
    once, and never in a URL, because logs and histories keep URLs. Without keys only local requests are accepted; a
    forwarded request isn't local, so it is refused unless `behind_proxy`.

    After `most_refused` refusals in a minute an address gets 429 instead of 401; requests with a valid key still pass.
    """

    def __init__(self, keys: Keys | None, behind_proxy: bool, most_refused: int) -> None:
        self._keys = keys
        self._behind_proxy = behind_proxy
        self._refused = MovingWindow(most_refused)

    def __call__(self, scope: Scope) -> ASGIApp | None:
        if is_public(scope):
            return None
        headers = Headers(scope=scope)
        given = _given(headers)
        if self._keys is None and not self._behind_proxy and not _FORWARDING.isdisjoint(headers):
            return problem(403, "forbidden", _FORWARDED)
        caller = LOCAL if self._keys is None else _caller(self._keys, given)
        if caller is None:
            wait = self._refused.hit(network_of(scope.get("client")))
            return too_many(wait, "requests without a right key") if wait else _refusal(given)
        scope.setdefault("state", {})["caller"] = caller
        return None


_CHALLENGE = 'Bearer realm="answerable"'
_HOW = "Send a key as `Authorization: Bearer …` or `X-API-Key: …`. Make one with `answerable keys add`."


def _given(headers: Headers) -> Sequence[str]:
    bearers = [_BEARER.fullmatch(value.strip()) for value in headers.getlist("authorization")]
    return [match[1] if match else "" for match in bearers] + headers.getlist("x-api-key")


def _caller(keys: Keys, given: Sequence[str]) -> Caller | None:
    if len(given) != 1:
        return None
    try:
        key = keys.find(given[0])
    except SettingsError as error:
        # If the key file can't be read, the server refuses every key.
        _log.error("%s", printable_line(str(error)))
        return None
    return Caller(key.id, key.role, key.library) if key else None


def no_key() -> Problem:
    """Return the problem for a request that needs a key and has none."""
    return Problem(401, "unauthorized", _HOW, {"WWW-Authenticate": _CHALLENGE})


def _refusal(given: Sequence[str]) -> ASGIApp:
    if not given:
        return no_key().response()
    detail = "This key is not valid here, or the request has more than one. " + _HOW
    return problem(401, "unauthorized", detail, {"WWW-Authenticate": f'{_CHALLENGE}, error="invalid_token"'})


class MovingWindow:
    """At most `limit` hits of a name in any `period` of seconds. Idle names are forgotten.

    The Python package `limits` (5.8) was tried: its memory store never forgets a name, and its wall clock may jump.
    """

    def __init__(self, limit: int, period: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._period = period
        self._clock = clock
        self._hits: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._hits)

    def hit(self, name: str) -> float:
        """Count a hit within the limit and return 0; otherwise return the seconds to wait."""
        now = self._clock()
        self._forget(now - self._period)
        times = self._hits.setdefault(name, deque())
        while times and times[0] <= now - self._period:
            times.popleft()
        if len(times) >= self._limit:
            return times[0] + self._period - now if times else self._period
        times.append(now)
        self._hits.move_to_end(name)
        return 0.0

    def _forget(self, before: float) -> None:
        # The names in `_hits` are in the order of their last hit, the oldest first.
        while self._hits:
            name, times = next(iter(self._hits.items()))
            if times and times[-1] > before:
                return
            del self._hits[name]


def too_many(wait: float, what: str) -> ASGIApp:
    """Return a response 429 with the seconds to wait."""
    seconds = math.ceil(wait)
    detail = f"Too many {what} from here. Try again in {seconds} seconds, or ask the server's administrator for more."
    return problem(429, "too_many_requests", detail, {"Retry-After": str(seconds)})


@dataclass(frozen=True, slots=True)
class Rates:
    """The limits: requests per minute of a key or address by kind, and concurrent requests of an address.

    `refused` limits the requests of an address with a wrong or missing key. The numbers are round, not measured: more
    than the requests of a person and a few programs.
    """

    asks: int = 120
    searches: int = 600
    uploads: int = 60
    others: int = 1200
    concurrent: int = 64
    refused: int = 60


OWN_MACHINE = Rates(asks=100_000, searches=100_000, uploads=100_000, others=100_000)
"""Rates of a server without keys, which serves only its own user."""

_KINDS = {
    **dict.fromkeys(("ask", "completions", "responses", "mcp"), "asks"),
    **dict.fromkeys(("search", "embeddings"), "searches"),
    **dict.fromkeys(("documents", "sources"), "uploads"),
}
"""The kind of a POST request by the last part of its path."""
_OTHERS = "others"


class RateLimits:
    """A middleware that answers 429 with the seconds to wait.

    The request must already have the caller that `Authentication` sets and, behind a proxy, the client's own address.
    """

    def __init__(self, app: ASGIApp, rates: Rates) -> None:
        self._app = app
        self._windows = {kind: MovingWindow(getattr(rates, kind)) for kind in {*_KINDS.values(), _OTHERS}}
        self._concurrent = rates.concurrent
        self._running: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = network_of(scope.get("client"))
        # Answer health checks and the page even while an address has the most concurrent requests.
        if self._running[address] >= self._concurrent and not is_public(scope):
            await too_many(1, "requests under way")(scope, receive, send)
            return
        kind = _kind(scope)
        wait = max(self._windows[kind].hit(name) for name in _names(scope, address))
        if wait:
            await too_many(wait, "questions" if kind == "asks" else "requests")(scope, receive, send)
            return
        self._running[address] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running[address] -= 1
            if not self._running[address]:
                del self._running[address]


def _kind(scope: Scope) -> str:
    last = route_path(scope).rstrip("/").rpartition("/")[2]
    return _KINDS.get(last, _OTHERS) if scope["method"] == "POST" else _OTHERS


def _names(scope: Scope, address: str) -> list[str]:
    caller: Caller | None = scope.get("state", {}).get("caller")
    # A key's id contains no colon, so it can't equal the name of an address.
    return [f"address:{address}", *([caller.id] if caller not in (None, LOCAL) else [])]
