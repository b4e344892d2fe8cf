"""Put all guards between socket and app, in order."""

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
from answerable.interfaces.http.guards.problem_pages import ProblemPages
from answerable.interfaces.http.guards.rate_limits import RateLimits, Rates
from answerable.interfaces.http.guards.request_bodies import Bodies, BodyLimits
from answerable.interfaces.http.guards.request_heads import Heads
from answerable.interfaces.http.guards.response_headers import ResponseHeaders


@dataclass(frozen=True, slots=True)
class Guards:
    """The options of all guards.

    Without `keys` every client may do everything, so the server must listen on this machine alone. `hosts` are the
    server's names besides local ones; with keys but no `hosts`, any name is accepted. `origins` are sites whose pages
    may use the server, `proxies` the addresses and networks of trusted reverse proxies.
    """

    keys: Keys | None = None
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    proxies: Sequence[str] = ()
    rates: Rates = field(default_factory=Rates)
    bodies: BodyLimits = field(default_factory=BodyLimits)
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return the app behind all guards."""
        app = Bodies(app, self.bodies)
        app = RateLimits(app, self.rates)
        app = Authentication(app, self.keys, is_public, bool(self.proxies), self.rates.refused)
        if self.origins:
            app = _shared(app, self.origins)
        app = Origins(app, None if self.keys and not self.hosts else self.hosts, self.origins)
        return ResponseHeaders(ProblemPages(Heads(app)))

    def uvicorn_options(self) -> dict[str, Any]:
        """Return the options of uvicorn that set the limits on connections."""
        # All connections through a proxy come from its address.
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
    """Return the app with CORS headers: pages of these origins may read its responses, without cookies."""
    return CORSMiddleware(
        app,
        allow_origins=[origin.rstrip("/") for origin in origins],
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "X-API-Key", "Last-Event-ID"],
        expose_headers=["Content-Disposition", "Retry-After"],
        max_age=600,
    )
