"""Put all guards between socket and app, in order, and serve the app."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import uvicorn
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from answerable.errors import SettingsError
from answerable.interfaces.http.guards.callers import Authentication, RateLimits, Rates
from answerable.interfaces.http.guards.connections import BoundedConnection, ConnectionLimits
from answerable.interfaces.http.guards.heads import (
    Checked,
    Origins,
    ResponseHeaders,
    is_loopback,
    refuse_ambiguous,
    refuse_oversized,
)
from answerable.interfaces.http.guards.key_file import Keys
from answerable.interfaces.http.guards.request_bodies import Bodies, BodyLimits


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
        callers = Authentication(self.keys, bool(self.proxies), self.rates.refused)
        app = Checked(RateLimits(Bodies(app, self.bodies), self.rates), callers)
        if self.origins:
            # Pages of these origins may read responses, without cookies.
            app = CORSMiddleware(
                app,
                allow_origins=[origin.rstrip("/") for origin in self.origins],
                allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
                allow_headers=["Authorization", "Content-Type", "X-API-Key", "Last-Event-ID"],
                expose_headers=["Content-Disposition", "Retry-After"],
                max_age=600,
            )
        origins = Origins(None if self.keys and not self.hosts else self.hosts, self.origins)
        return ResponseHeaders(Checked(app, refuse_oversized, refuse_ambiguous, origins))

    def uvicorn_options(self) -> dict[str, Any]:
        """Return the options of uvicorn that set the limits on connections."""
        # All connections through a proxy come from the proxy's address.
        of_one = self.connections.total if self.proxies else self.connections.per_address
        limits = replace(self.connections, per_address=of_one)
        protocol: Callable[..., BoundedConnection] = partial(BoundedConnection, limits=limits)
        return {
            "http": protocol,
            "ws": "none",
            "proxy_headers": bool(self.proxies),
            "forwarded_allow_ips": list(self.proxies),
            "server_header": False,
        }


class GuardedServer(uvicorn.Server):
    """A server of an app that is already behind these guards; `stop_after` limits answers after a stop signal.

    Raise SettingsError for an unavailable address, or if others could do what `exposed` says, since there are no keys.
    """

    def __init__(self, app: ASGIApp, guards: Guards, host: str, port: int, exposed: str, stop_after: int) -> None:
        if guards.keys is None and not is_loopback(host):
            raise SettingsError(f"Without keys, anyone who can reach {host} could {exposed}")
        self.socket = _listening(host, port)
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level=logging.WARNING,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=stop_after,
            **guards.uvicorn_options(),
        )
        super().__init__(config)

    @property
    def address(self) -> str:
        """The URL of the server, without a path."""
        host, port, *_ = self.socket.getsockname()
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    def serve_until_stopped(self) -> None:
        """Serve until a signal or `should_exit` stops the server."""
        self.run(sockets=[self.socket])


def _listening(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 picks a free one. Raise SettingsError if the address is unusable."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )[0]
        # Name the protocol: otherwise asyncio doesn't turn off Nagle's algorithm, which delays each response by 40 ms.
        with ExitStack() as opened:
            found = opened.enter_context(socket.socket(family, kind, protocol))
            if os.name == "posix":
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen(512)
            opened.pop_all()
        return found
    except OSError as error:
        raise SettingsError(f"Can't listen on {host}:{port} ({error}). Choose another host or port.") from error
