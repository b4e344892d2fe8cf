"""Run a service on a socket."""

from __future__ import annotations

import logging
import signal
import socket
from types import FrameType

import uvicorn

from answerable.errors import SettingsError
from answerable.interfaces.http.app import create_app, protect
from answerable.interfaces.http.guards.origins import is_loopback
from answerable.interfaces.http.guards.stack import Guards
from answerable.interfaces.http.listening import listen
from answerable.interfaces.http.service import Service

# Seconds for connections to close after answers were told to end.
_GRACE = 3


class Server(uvicorn.Server):
    """A running service. On a stop signal it finishes answers within the time that the options set.

    Raise SettingsError for an unavailable address, or one that other machines could reach without keys.
    """

    def __init__(self, service: Service, guards: Guards, host: str = "127.0.0.1", port: int = 8000) -> None:
        if guards.keys is None and not is_loopback(host):
            raise SettingsError(
                f"Without keys, anyone who can reach {host} could read and change everything. Make a key with "
                "`answerable keys add --role admin FILE` and start with --keys FILE, or leave --host out."
            )
        self.service = service
        self.socket = listen(host, port)
        config = uvicorn.Config(
            protect(create_app(service), guards),
            log_config=None,
            log_level=logging.WARNING,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=int(service.options.stop_after) + _GRACE,
            **guards.uvicorn_options(),
        )
        super().__init__(config)

    @property
    def address(self) -> str:
        """The URL of the server."""
        host, port, *_ = self.socket.getsockname()
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{self.service.options.base_path}/"

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at the first signal; at a second one end the process at once, as at a loss of power."""
        if self.should_exit:
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)
        super().handle_exit(sig, frame)

    def serve_until_stopped(self) -> None:
        """Serve until a signal or `should_exit` stops the server."""
        self.run(sockets=[self.socket])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Refuse new connections, cancel jobs, and finish or end answers."""
        self.service.stop()
        await super().shutdown(sockets)
