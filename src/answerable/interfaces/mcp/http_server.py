"""Serve a library's MCP server over streamable HTTP, behind the guards of the HTTP service."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from secrets import token_urlsafe
from typing import ClassVar
from urllib.parse import urlsplit
from weakref import WeakSet

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp_types import JSONRPCMessage
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.errors import SettingsError
from answerable.interfaces.http.guards.callers import OWN_MACHINE, Caller, Rates
from answerable.interfaces.http.guards.key_file import Keys
from answerable.interfaces.http.guards.stack import GuardedServer, Guards
from answerable.interfaces.http.problems import problem
from answerable.interfaces.mcp.server import LibraryServer

PATH = "/mcp"
# Seconds to finish answers after a stop signal: few, since clients ask again.
STOP_AFTER = 5
# Milliseconds until a client whose stream was cut asks for the rest: as long as the official clients wait untold.
RETRY = 1000
# Bytes of messages that all sessions together keep for such clients: hundreds of answers, a round number.
KEPT = 16 * 2**20


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
    # Not the app that the SDK makes: its sessions share one store. The guards check Host and Origin, so it needn't.
    sessions = _Sessions(server._lowlevel_server, retry_interval=RETRY)
    app = Starlette(routes=[Route(PATH, StreamableHTTPASGIApp(sessions))], lifespan=lambda _: sessions.run())
    guards = Guards(keys, rates=Rates() if keys else OWN_MACHINE)
    exposed = (
        "read everything. Make a key with `answerable keys add --role ask FILE` and start with --keys FILE, or listen "
        "on 127.0.0.1."
    )
    serving = GuardedServer(guards.around(_KnownCallers(app)), guards, host, port, exposed, STOP_AFTER)
    with serving.socket:
        say(f"{serving.address}{PATH}")
        # uvicorn raises the stop signal again when it has stopped.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            serving.serve_until_stopped()


class _Sessions(StreamableHTTPSessionManager):
    """The SDK's sessions, each with a store of its own: in one for all, streams would mix, which have small numbers."""

    _stores: ClassVar[WeakSet[SessionEvents]] = WeakSet()

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        self.event_store = SessionEvents(self._stores)
        transport = super()._admit_session(requestor)
        self.event_store = None
        return transport


class SessionEvents(EventStore):
    """What the streams of a session sent last; only the session's key can ask for it, and it ends with the session.

    `stores` are those of all sessions. If they keep more than KEPT bytes, the largest forgets its oldest event.
    """

    def __init__(self, stores: WeakSet[SessionEvents]) -> None:
        self._stores = stores
        self._events: dict[str, tuple[str, JSONRPCMessage | None, int]] = {}
        self._size = 0
        stores.add(self)

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message, or None for the start of a stream; return its id."""
        event_id = token_urlsafe()
        size = len(event_id) + (len(message.model_dump_json()) if message else 0)
        self._events[event_id] = stream_id, message, size
        self._size += size
        while sum(each._size for each in self._stores) > KEPT:
            largest = max(self._stores, key=lambda each: each._size)
            *_, freed = largest._events.pop(next(iter(largest._events)))
            largest._size -= freed
        return event_id

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what a stream sent after one of its events. Return the stream; None if the event isn't kept."""
        if last_event_id not in self._events:
            return None
        stream, *_ = self._events[last_event_id]
        ids = list(self._events)
        sent = set(ids[: ids.index(last_event_id) + 1])
        # More messages may come while these are sent.
        while later := [each for each in self._events.items() if each[1][0] == stream and each[0] not in sent]:
            for event_id, (_, message, _) in later:
                if message is not None:
                    await send_callback(EventMessage(message, event_id))
                sent.add(event_id)
        return stream


class _KnownCallers:
    """A middleware that passes the caller from the guards to the SDK: a session belongs to the key that started it.

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
        if caller is not None:
            token = AccessToken(token="", client_id=caller.id, scopes=[caller.role])
            scope = {**scope, "user": AuthenticatedUser(token)}
        await self._app(scope, receive, send)
