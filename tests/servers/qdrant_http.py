"""What the stand-in for a Qdrant server says over HTTP, and the faults that it is told to have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from qdrant_server import StandIn


@dataclass(frozen=True)
class Fault:
    """What is answered instead: a status with a text and headers; no status cuts the connection without a word."""

    status: int | None = None
    text: str = "told to fail"
    headers: Mapping[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """A request that a server refuses."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    """What carries out the requests to a stand-in."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            number = stand_in.begin(f"{self.command} {path}", body)
            fault = stand_in.meddle(number, False)
            if fault is None:
                status, reply = self._carry_out(path, body)
                fault = stand_in.meddle(number, True)
            if fault is None:
                self._send(status, reply, {})
            elif fault.status is None:
                self.close_connection = True
                self.connection.close()
            else:
                self._send(fault.status, {"status": {"error": fault.text}, "time": 0}, fault.headers)

        do_POST = do_PUT = do_DELETE = do_GET

        def _carry_out(self, path: str, body: bytes) -> tuple[int, Any]:
            try:
                stand_in.allow(f"{self.command} {path}", self.headers.get("api-key", ""))
                return 200, stand_in.answer(self.command, path, body)
            except Refusal as refusal:
                return refusal.status, {"status": {"error": str(refusal)}, "time": 0}

        def _send(self, status: int, reply: Any, headers: Mapping[str, str]) -> None:
            data = json.dumps(reply).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
