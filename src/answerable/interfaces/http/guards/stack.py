"""Everything that stands between a socket and the app, in the order that a request meets it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from answerable.interfaces.http.access.callers import Authentication
from answerable.interfaces.http.access.key_file import Keys
from answerable.interfaces.http.guards.connections import BoundedConnection, ConnectionLimits
from answerable.interfaces.http.guards.origins import Origins
from answerable.interfaces.http.guards.paths import is_public
from answerable.interfaces.http.guards.rate_limits import RateLimits, Rates
from answerable.interfaces.http.guards.request_bodies import Bodies, BodyLimits
from answerable.interfaces.http.guards.request_heads import Heads
from answerable.interfaces.http.guards.response_headers import ResponseHeaders


@dataclass(frozen=True, slots=True)
class Guards:
    """How a server protects itself.

    Without `keys` whoever reaches it may do everything, so it must listen to this machine alone. `hosts` are names that
    it is reached by besides this machine's own; with keys and no names any will do. `origins` are sites whose pages may
    use it, `proxies` the addresses and networks of reverse proxies that are believed whom they speak for.
    """

    keys: Keys | None = None
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    proxies: Sequence[str] = ()
    rates: Rates = field(default_factory=Rates)
    bodies: BodyLimits = field(default_factory=BodyLimits)
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)

    def around(self, app: ASGIApp) -> ASGIApp:
        """The app, behind all guards."""
        app = Bodies(app, self.bodies)
        app = RateLimits(app, self.rates)
        app = Authentication(app, self.keys, is_public, bool(self.proxies), self.rates.refused)
        if self.origins:
            app = _shared(app, self.origins)
        app = Origins(app, None if self.keys and not self.hosts else self.hosts, self.origins)
        return ResponseHeaders(Heads(app))

    def uvicorn_options(self) -> dict[str, Any]:
        """What `uvicorn.Config` must be given for its part of it."""
        # All that comes through a proxy comes from its address.
        of_one = self.connections.total if self.proxies else self.connections.per_address
        limits = replace(self.connections, per_address=of_one)
        protocol: Callable[..., BoundedConnection] = partial(BoundedConnection, limits=limits)
        return {
            "http": protocol,
            "ws": "none",
            "h11_max_incomplete_event_size": 32_768,
            "proxy_headers": bool(self.proxies),
            "forwarded_allow_ips": list(self.proxies),
            "server_header": False,
        }


def _shared(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """The app, whose answers pages of these origins may read. Cookies are never part of it."""
    return CORSMiddleware(
        app,
        allow_origins=[origin.rstrip("/") for origin in origins],
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "X-API-Key", "Last-Event-ID"],
        expose_headers=["Content-Disposition", "Retry-After"],
        max_age=600,
    )
