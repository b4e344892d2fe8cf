"""A proxy in front of a server; while it is closed, no port is open, and existing connections are cut."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Door:
    """Listens on a port of its own on loopback and passes everything on to another port."""

    def __init__(self, port: int) -> None:
        self._behind = port
        self._lock = threading.Lock()
        self._inside: list[socket.socket] = []
        self._listening = self._listen(0)
        self.port: int = self._listening.getsockname()[1]

    def shut(self) -> None:
        """Cuts everybody off and listens no more."""
        with self._lock:
            for each in [self._listening, *self._inside]:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
            self._inside.clear()

    def open(self) -> None:
        """Listens again, on the same port."""
        self._listening = self._listen(self.port)

    def shut_for(self, seconds: float) -> threading.Thread:
        """Shuts now and opens again later; gives the thread that does so."""
        self.shut()

        def wait() -> None:
            time.sleep(seconds)
            self.open()

        waiting = threading.Thread(target=wait)
        waiting.start()
        return waiting

    def _listen(self, port: int) -> socket.socket:
        listening = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._welcome, args=(listening,), daemon=True).start()
        return listening

    def _welcome(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                one, _ = listening.accept()
                other = socket.create_connection(("127.0.0.1", self._behind))
                with self._lock:
                    self._inside += [one, other]
                for source, target in ((one, other), (other, one)):
                    threading.Thread(target=_pass_on, args=(source, target), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def door_to(port: int) -> Iterator[Door]:
    """A door that is open, and shut for good at the end."""
    made = Door(port)
    try:
        yield made
    finally:
        made.shut()
