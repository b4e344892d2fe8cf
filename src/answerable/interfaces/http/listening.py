"""Where a server listens."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack

from answerable.errors import SettingsError


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections; port 0 is any that is free. Raises SettingsError."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )[0]
        # With the protocol named, asyncio turns off the delay of small packets, which costs each response 40 ms.
        with ExitStack() as opened:
            found = opened.enter_context(socket.socket(family, kind, protocol))
            if os.name == "posix":
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen(512)
            opened.pop_all()
        return found
    except OSError as error:
        raise SettingsError(f"{host}:{port} can't be listened on ({error}). Name another host or port.") from error
