"""Limit the number of connections, and the time and bytes that clients take for everything except a request's body.

uvicorn alone waits for ever for the head of a request, accepts a head of any length, and waits for ever for a client to
accept data. When the number of connections reaches its limit, the connection that was idle for longest is closed. So
clients that send nothing, or a head byte by byte, don't block others.

llhttp, the parser of httptools, refuses requests that a proxy could read differently: bare line feeds, folded lines,
repeated lengths, a length together with chunks.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from answerable.interfaces.http.guards.heads import DATA_HEADERS, HEADERS_TOO_LARGE, LONGEST_TARGET, TARGET_TOO_LONG
from answerable.interfaces.http.problems import Problem

_TOO_MANY = Problem(503, "busy", "The server has too many connections. Try again in a moment.", {"Retry-After": "5"})
_TOO_SLOW = Problem(408, "too_slow", "The request arrived too slowly. Send it again, over a faster connection.")
_INVALID = Problem(400, "bad_request", "This is not a valid HTTP request. Correct it.")
# Bytes of a head, more than `refuse_oversized` allows, so that it can say what is too long. Half between chunks.
_LONGEST_HEAD = 32_768
# Bytes allowed between chunks for each byte in them: a chunk of one byte has five, and some clients write more digits.
_FRAMING = 8


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits: connections in total and per address, and two times in seconds.

    `asking`: how long an idle connection may take until the head of its next request is complete. `listening`: how long
    a client may take to accept data. All are round numbers, not measured: far above those of browsers.
    """

    total: int = 512
    per_address: int = 128
    asking: float = 15.0
    listening: float = 60.0


class BoundedConnection(HttpToolsProtocol):
    """An HTTP/1.1 connection that is closed if there are too many, or if its client is too slow or sends too much.

    A subclass, since uvicorn has no option for these limits.
    """

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._asking = _Alarm(self.loop)
        self._listening = _Alarm(self.loop)
        self._network = ""
        # How many more bytes the client may send in the head, or between the chunks of the body.
        self._spare = _LONGEST_HEAD

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._network = network_of(self.client)
        if not self._has_room():
            self._refuse(_TOO_MANY)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._asking.stop()
        self._listening.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data, and start or stop the timer for the rest of the request."""
        if self.transport.is_closing():
            return
        is_empty_line = self._spare == _LONGEST_HEAD and data.startswith((b"\r", b"\n"))
        self._spare -= len(data)
        if not is_empty_line:
            super().data_received(data)
        if (is_empty_line or self._spare < 0) and not self.transport.is_closing():
            self.send_400_response("Too much.")
        # More data doesn't extend the time for the head of a request.
        self._watch()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header. White space around a value isn't part of it (RFC 9110, 5.5), but llhttp keeps what follows."""
        super().on_header(name, value.strip(b" \t"))

    def send_400_response(self, _: str) -> None:
        """Refuse what isn't HTTP, or is too long."""
        # uvicorn sets the method when the head is complete.
        if self._spare >= 0 or not self.scope or "method" in self.scope:
            self._refuse(_INVALID)
        else:
            self._refuse(TARGET_TOO_LONG if len(self.url) > LONGEST_TARGET else HEADERS_TOO_LARGE)

    def on_headers_complete(self) -> None:
        """Begin the request."""
        super().on_headers_complete()
        self._spare += len(self.url) + sum(len(name) + len(value) for name, value in self.headers) - _LONGEST_HEAD // 2

    def on_body(self, body: bytes) -> None:
        """Pass on a piece of the body."""
        super().on_body(body)
        self._spare += len(body) * (1 + _FRAMING)

    def on_message_complete(self) -> None:
        """End the request."""
        super().on_message_complete()
        # Keep a negative number, so that bytes beyond the limit are refused even at the end of the message.
        self._spare = min(self._spare, 0) or _LONGEST_HEAD

    def on_response_complete(self) -> None:
        """Start the timer for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Start the timer for a client that doesn't read."""
        super().pause_writing()
        self._listening.start(self._limits.listening, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer: the client reads again."""
        self._listening.stop()
        super().resume_writing()

    def _has_room(self) -> bool:
        """Return whether there is room for this connection; close an idle one if that makes room."""
        present = [
            each for each in self.connections if isinstance(each, BoundedConnection) and not each.transport.is_closing()
        ]
        numbers = Counter(each._network for each in present)
        if numbers[self._network] > self._limits.per_address:
            present = [each for each in present if each._network == self._network]
        elif len(present) <= self._limits.total:
            return True
        waiting = [each for each in present if each._asking.due is not None]
        if not waiting:
            return False
        # Close the longest idle connection of the address with the most connections.
        min(waiting, key=lambda each: (-numbers[each._network], each._asking.due))._give_up()
        return True

    def _watch(self) -> None:
        """Run the timer of the connection while the server waits for a request."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._asking.stop()
        elif not self.transport.is_closing():
            self._asking.start(self._limits.asking, self._give_up)

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            if self.cycle is None:
                self._refuse(_TOO_SLOW)
            self.transport.close()

    def _refuse(self, found: Problem) -> None:
        """Write a problem without the app, which knows of no request yet, and close the connection."""
        response = found.response()
        response.headers.update({**DATA_HEADERS, "Connection": "close"})
        status = f"HTTP/1.1 {found.status} {HTTPStatus(found.status).phrase}".encode()
        headers = (b": ".join(pair) for pair in response.raw_headers)
        self.transport.write(b"\r\n".join((status, *headers, b"", bytes(response.body))))
        self.transport.close()


class _Alarm:
    """A timer that calls a function once. Starting it while it runs does nothing."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._running: asyncio.TimerHandle | None = None

    @property
    def due(self) -> float | None:
        """When the function is due, on the event loop's clock; None if the timer is stopped."""
        return self._running.when() if self._running else None

    def start(self, seconds: float, function: Callable[[], None]) -> None:
        if self._running is None:
            self._running = self._loop.call_later(seconds, function)

    def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
        self._running = None


def network_of(client: Sequence[Any] | None) -> str:
    """Return the name under which to count a client: its address or, for IPv6, its /64 network.

    One host usually owns a whole IPv6 network.
    """
    host = str(client[0]) if client else ""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return host
