"""Serve a library's MCP server over streamable HTTP, behind the guards of the HTTP service."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.errors import SettingsError
from answerable.interfaces.http.guards.callers import Caller
from answerable.interfaces.http.guards.key_file import Keys
from answerable.interfaces.http.guards.stack import GuardedServer, Guards
from answerable.interfaces.http.problems import problem
from answerable.interfaces.mcp.server import LibraryServer
from answerable.interfaces.mcp.tools import user_of

PATH = "/mcp"
# Seconds to finish answers after a stop signal: few, since clients ask again.
STOP_AFTER = 5


def parse_listen(text: str) -> tuple[str, int]:
    """Parse `HOST:PORT`, an IPv6 host in brackets; port 0 picks a free one. Raise SettingsError."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port is None or parts.netloc != text or "@" in text:
        raise SettingsError(f"{text!r} is not an address to listen on. Write it as 127.0.0.1:8765.")
    return host, port


def serve_http(server: LibraryServer, host: str, port: int, keys: Keys | None, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; without keys, only locally. Call `say` with the URL. Raise SettingsError."""
    if keys is not None:
        # Read the keys now, so that an error is raised at the start rather than at each request.
        keys.list()
    guards = Guards(keys)
    exposed = (
        "read everything. Make a key with `answerable keys add --role ask FILE` and start with --keys FILE, or listen "
        "on 127.0.0.1."
    )
    serving = GuardedServer(guards.around(_app(server)), guards, host, port, exposed, STOP_AFTER)
    with serving.socket:
        say(f"{serving.address}{PATH}")
        # uvicorn raises the stop signal again when it has stopped.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            serving.serve_until_stopped()


def _app(server: LibraryServer) -> ASGIApp:
    # The guards check the headers Host and Origin, so the SDK needn't.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return _KnownCallers(server.streamable_http_app(streamable_http_path=PATH, transport_security=security))


class _KnownCallers:
    """A middleware that passes the caller from the guards to the SDK.

    Keys of `serve` that open only one library are refused.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = AuthContextMiddleware(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get("state", {}).get("caller")
        if caller is not None and caller.library is not None:
            detail = "This key is for one library of `answerable serve`. Use a key made without --library."
            await problem(403, "forbidden", detail)(scope, receive, send)
            return
        user = {"user": user_of(caller.id, caller.role)} if caller else {}
        await self._app({**scope, **user}, receive, send)
