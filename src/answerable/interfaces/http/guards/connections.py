"""Limit the number of connections, and the time that clients take to send requests and accept responses.

uvicorn alone waits forever for the head of a request, and for a client to accept data. When the number of connections
reaches its limit, the connection that was idle for longest is closed. So clients that send nothing, or a head byte by
byte, don't block others.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from answerable.interfaces.http.access.moving_window import network_of
from answerable.interfaces.http.guards.request_lines import StrictBuffer

_TOO_MANY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits: connections in total and per address, and two times in seconds.

    `asking`: how long an idle connection may take until the head of its next request is complete. `listening`: how long
    a client may take to accept data.
    """

    total: int = 512
    per_address: int = 128
    asking: float = 15.0
    listening: float = 60.0


class BoundedConnection(H11Protocol):
    """An HTTP/1.1 connection that is closed when there are too many or when the client is too slow."""

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn._receive_buffer = StrictBuffer()
        self._limits = limits
        self._asking = _Alarm(self.loop)
        self._listening = _Alarm(self.loop)
        self._network = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._network = network_of(self.client)
        if not self._has_room():
            transport.write(_TOO_MANY)
            transport.close()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._asking.stop()
        self._listening.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data, and start or stop the timer for the rest of the request."""
        # More data doesn't extend the time for the head of a request.
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

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
        # The longest idle one of the address with the most connections.
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
                self.transport.write(_TOO_SLOW)
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
