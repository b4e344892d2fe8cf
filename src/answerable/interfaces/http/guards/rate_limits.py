"""Rate limits per key and per address, and a limit on concurrent requests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.interfaces.http.access.callers import LOCAL, Caller
from answerable.interfaces.http.access.moving_window import MovingWindow, network_of, too_many
from answerable.interfaces.http.guards.paths import is_public, route_path


@dataclass(frozen=True, slots=True)
class Rates:
    """The limits: requests per minute of a key or address by kind, and concurrent requests of an address.

    `refused` limits the requests of an address with a wrong or missing key.
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
    **dict.fromkeys(("ask", "instead", "completions", "mcp"), "asks"),
    **dict.fromkeys(("search", "embeddings"), "searches"),
    **dict.fromkeys(("documents", "sources"), "uploads"),
}
"""The kind of a POST, by the last part of its path."""
_OTHERS = "others"


class RateLimits:
    """A middleware that answers 429 with the seconds to wait.

    The request must already have the caller that `Authentication` sets and, behind a proxy, the client's own address.
    """

    def __init__(self, app: ASGIApp, rates: Rates | None = None) -> None:
        self._app = app
        rates = rates or Rates()
        self._windows = {kind: MovingWindow(getattr(rates, kind)) for kind in {*_KINDS.values(), _OTHERS}}
        self._concurrent = rates.concurrent
        self._running: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = network_of(scope.get("client"))
        # Health checks and the page go on while slow requests hold all places.
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
    # A key's id has no colon.
    return [f"address:{address}", *([caller.id] if caller not in (None, LOCAL) else [])]
