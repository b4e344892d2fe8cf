"""One embedder for all systems, on the loopback, so that each gets the same vectors and none pays for making them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.protocols import Embedder, Passage


@contextmanager
def serving(embedder: Embedder) -> Iterator[int]:
    """Answers on the loopback with the embedder's vectors while the block runs; gives the port."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                with lock:
                    status, answer = 200, _vectors(embedder, body).tobytes()
            except Exception as error:
                status, answer = 500, repr(error).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _vectors(embedder: Embedder, body: dict[str, Any]) -> FloatArray:
    if "question" in body:
        return embedder.embed_query(body["question"])[None]
    passages = [
        Passage(text, tuple((start, end) for start, end in spans))
        for text, spans in zip(body["texts"], body["spans"], strict=True)
    ]
    made = embedder.embed_passages(passages)
    rows = [rows for vectors in made for rows in (vectors.whole[None], vectors.spans)]
    return np.concatenate(rows).astype(np.float32) if rows else np.empty((0, 384), np.float32)
