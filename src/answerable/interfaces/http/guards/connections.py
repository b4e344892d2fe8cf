"""Connections with bounds: how many there may be, and how long a client may take to ask and to listen.

uvicorn waits without end for the head of a request, and for a client to take what it is sent. When there is no room for
one more connection, the one that has waited longest for a request makes it, so that clients that send nothing, or a
head byte by byte, keep nobody out.
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
    """How many connections there may be in all and from one address, and two times in seconds.

    `asking` is how long a client may take over the head of a request, counted from when nothing else goes on in its
    connection; `listening` how long it may leave what it is sent lying.
    """

    total: int = 512
    per_address: int = 128
    asking: float = 15.0
    listening: float = 60.0


class BoundedConnection(H11Protocol):
    """One connection of HTTP/1.1, closed when it is one too many or its client is too slow."""

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn._receive_buffer = StrictBuffer()
        self._limits = limits
        self._asking = _Alarm(self.loop)
        self._listening = _Alarm(self.loop)
        self._network = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes a connection, in place of one that waits if need be, or answers 503 and closes it."""
        super().connection_made(transport)
        self._network = network_of(self.client)
        if not self._has_room():
            transport.write(_TOO_MANY)
            transport.close()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the watch with the connection."""
        self._asking.stop()
        self._listening.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Takes what came. It doesn't put off the time that the head of a request must be here by."""
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        """Goes on to the next request of the connection."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Notes that the client doesn't take what it is sent."""
        super().pause_writing()
        self._listening.start(self._limits.listening, self.transport.abort)

    def resume_writing(self) -> None:
        """Notes that it does again."""
        self._listening.stop()
        super().resume_writing()

    def _has_room(self) -> bool:
        """Whether this connection is within the limits, once one that waits for a request was closed for it."""
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
        # Of those with the most connections, the one that has waited longest.
        min(waiting, key=lambda each: (-numbers[each._network], each._asking.due))._give_up()
        return True

    def _watch(self) -> None:
        """Keeps the time while no request is being answered."""
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
    """Calls a function after some time, unless it is stopped before. Starting it again while it runs does nothing."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._running: asyncio.TimerHandle | None = None

    @property
    def due(self) -> float | None:
        """The loop's time at which it goes off; None while it doesn't run."""
        return self._running.when() if self._running else None

    def start(self, seconds: float, function: Callable[[], None]) -> None:
        if self._running is None:
            self._running = self._loop.call_later(seconds, function)

    def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
        self._running = None
