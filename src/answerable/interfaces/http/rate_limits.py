"""How often a key and an address may ask, search and upload in a minute, and how much of it at once."""

from __future__ import annotations

import ipaddress
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import asdict, dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.interfaces.http.keys import LOCAL, Caller
from answerable.interfaces.http.paths import is_public, route_path
from answerable.interfaces.http.problems import problem


@dataclass(frozen=True, slots=True)
class Rates:
    """Requests a minute of one key and of one address, by what they are for, and requests under way of one address."""

    asks: int = 120
    searches: int = 600
    uploads: int = 60
    others: int = 1200
    concurrent: int = 64


OWN_MACHINE = Rates(asks=100_000, searches=100_000, uploads=100_000, others=100_000)
"""Of a server without keys, which is there for nobody but its own user."""

_KINDS = {
    **dict.fromkeys(("ask", "completions", "mcp"), "asks"),
    **dict.fromkeys(("search", "embeddings"), "searches"),
    **dict.fromkeys(("documents", "sources"), "uploads"),
}
"""What a POST is for, by the last part of its path."""


class MovingWindow:
    """At most `limit` hits of one name in any `period` of seconds. Names that aren't hit any more are forgotten."""

    def __init__(self, limit: int, period: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._period = period
        self._clock = clock
        self._hits: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._hits)

    def hit(self, name: str) -> float:
        """0 when this hit is within the limit, and counts; otherwise the seconds until the next one may."""
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
        # The name that was hit longest ago comes first.
        while self._hits:
            name, times = next(iter(self._hits.items()))
            if times and times[-1] > before:
                return
            del self._hits[name]


class RateLimits:
    """Answers 429 to a key or an address that asks too much, and says when to come back. Stands behind `Authentication`
    so that it knows the key, and behind what says which address a trusted proxy speaks for.
    """

    def __init__(self, app: ASGIApp, rates: Rates | None = None) -> None:
        self._app = app
        rates = rates or Rates()
        self._windows = {kind: MovingWindow(limit) for kind, limit in asdict(rates).items() if kind != "concurrent"}
        self._concurrent = rates.concurrent
        self._running: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request through the app, or refuses it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = network_of(scope["client"][0] if scope.get("client") else "")
        # What takes no time and says how the server is goes on while slow requests hold all places.
        if self._running[address] >= self._concurrent and not is_public(scope):
            await _refusal(1, "requests under way")(scope, receive, send)
            return
        kind = _kind(scope)
        wait = max(self._windows[kind].hit(name) for name in _names(scope, address))
        if wait:
            await _refusal(wait, "questions" if kind == "asks" else "requests")(scope, receive, send)
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
    return _KINDS.get(last, "others") if scope["method"] == "POST" else "others"


def _names(scope: Scope, address: str) -> list[str]:
    caller: Caller | None = scope.get("state", {}).get("caller")
    # A key's id has no colon.
    return [f"address:{address}", *([caller.id] if caller not in (None, LOCAL) else [])]


def network_of(host: str) -> str:
    """The address that counts: of an IPv6 address its network, since every host has all of one to choose from."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return host


def _refusal(wait: float, what: str) -> ASGIApp:
    seconds = math.ceil(wait)
    detail = f"Too many {what} from here. Try again in {seconds} seconds, or ask whoever runs the server for more."
    return problem(429, "too_many_requests", detail, {"Retry-After": str(seconds)})
