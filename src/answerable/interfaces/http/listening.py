"""Open the socket of a server."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack

from answerable.errors import SettingsError


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 picks a free one. Raise SettingsError if the address is unusable."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )[0]
        # Only with the protocol named does asyncio turn off Nagle's delay, 40 ms per response.
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
