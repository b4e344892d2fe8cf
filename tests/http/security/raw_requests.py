"""What an attacker has: a socket, and bytes of his own choosing."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import Any

PATIENCE = 20.0


@dataclass(frozen=True)
class Reply:
    """What came back; status 0 when the connection was closed without an answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """All of it, to look for what shouldn't be in it."""
        return "\n".join(f"{name}: {value}" for name, value in self.headers.items()) + "\n" + self.body.decode("utf-8")

    def json(self) -> Any:
        """The body's value."""
        return json.loads(self.body)


def exchange(port: int, *pieces: bytes, pause: float = 0.0) -> Reply:
    """Sends the pieces over a connection of their own, and reads one response. Raises TimeoutError for none."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
        except OSError:
            # The server has closed its side; it may have answered before.
            pass
        return read_reply(connection)


def read_reply(connection: socket.socket) -> Reply:
    """The next response of a connection."""
    response = HTTPResponse(connection)
    try:
        response.begin()
        return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
    except TimeoutError:
        raise
    except (HTTPException, OSError):
        return Reply(0, {}, b"")


def request(
    method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None, host: str = "localhost"
) -> bytes:
    """A request as it goes over the wire; nothing in it is checked or escaped."""
    lines = [f"{method} {target} HTTP/1.1", *([f"Host: {host}"] if host else []), "Connection: close"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def post(target: str, value: Any, headers: Mapping[str, str] | None = None, method: str = "POST") -> bytes:
    """A POST of JSON, or another method with a body."""
    return request(method, target, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})


def upload(target: str, name: str, content: bytes, headers: Mapping[str, str] | None = None) -> bytes:
    """A POST of one file; the name goes into its header as it is."""
    disposition = f'Content-Disposition: form-data; name="files"; filename="{name}"'
    head = f"--x\r\n{disposition}\r\nContent-Type: text/plain\r\n\r\n".encode()
    form = {"Content-Type": "multipart/form-data; boundary=x", **(headers or {})}
    return request("POST", target, head + content + b"\r\n--x--\r\n", form)


def chunked(pieces: Iterable[bytes]) -> bytes:
    """A body in chunks, with the chunk that ends it."""
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
