"""A server of OpenAI's protocol that lists models, and writes one sentence."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODELS = ("tiny", "large")
SENTENCE = "The gate is blue [1]."


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]}
        self._send("application/json", json.dumps(listed))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "delta": {"role": "assistant", "content": SENTENCE}, "finish_reason": None}
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        chunks = (
            {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [each]}
            for each in (choice, end)
        )
        events = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks)
        self._send("text/event-stream", f"{events}data: [DONE]\n\n")

    def _send(self, kind: str, body: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def model_server() -> Iterator[str]:
    """The base URL of a running server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
