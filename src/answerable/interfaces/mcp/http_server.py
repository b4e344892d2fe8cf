"""The server of a library over streamable HTTP, at one address, behind the guards of the HTTP service."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

import uvicorn
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.errors import SettingsError
from answerable.interfaces.http.access.callers import Caller
from answerable.interfaces.http.access.key_file import Keys
from answerable.interfaces.http.guards.origins import is_loopback
from answerable.interfaces.http.guards.stack import Guards
from answerable.interfaces.http.listening import listen
from answerable.interfaces.http.problems import problem
from answerable.interfaces.mcp.authorization import user_of
from answerable.interfaces.mcp.server import LibraryServer

PATH = "/mcp"
# Seconds that answers may still take when the server is told to stop.
STOP_AFTER = 5


def parse_listen(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, an IPv6 host in brackets; port 0 is any that is free. Raises SettingsError."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port is None or parts.netloc != text or "@" in text:
        raise SettingsError(f"{text!r} is no address to listen at. Write it as 127.0.0.1:8765.")
    return host, port


def serve_http(server: LibraryServer, host: str, port: int, keys: Keys | None, say: Callable[[str], None]) -> None:
    """Serves until it is told to stop (SIGINT, SIGTERM); `say` is told the address. Raises SettingsError.

    Without keys on this machine only.
    """
    if keys is not None:
        # What is wrong with the file is said now, not to each caller.
        keys.list()
    elif not is_loopback(host):
        raise SettingsError(
            f"Whoever reaches {host} could read everything. Make a key with `answerable keys add --role ask FILE` and "
            "start with --keys FILE, or listen at 127.0.0.1."
        )
    guards = Guards(keys)
    with listen(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        say(f"http://{shown}:{listener.getsockname()[1]}{PATH}")
        config = uvicorn.Config(
            guards.around(_app(server)),
            log_level=logging.WARNING,
            timeout_graceful_shutdown=STOP_AFTER,
            **guards.uvicorn_options(),
        )
        # When all is over uvicorn raises the signal again that stopped it; then nothing is left to interrupt.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _app(server: LibraryServer) -> ASGIApp:
    # The guards have seen to Host and Origin.
    seen_to = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return _KnownCallers(server.streamable_http_app(streamable_http_path=PATH, transport_security=seen_to))


class _KnownCallers:
    """Tells the SDK who calls, as the guards found out. Keys of one library of the HTTP service open nothing here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = AuthContextMiddleware(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get("state", {}).get("caller")
        if caller is not None and caller.library is not None:
            detail = "This key is for one library of `answerable serve`. Use one that was made without --library."
            await problem(403, "forbidden", detail)(scope, receive, send)
            return
        user = {"user": user_of(caller.id, caller.role)} if caller else {}
        await self._app({**scope, **user}, receive, send)
