"""HTTP/1.1 by httpcore2, over connections pinned to checked IP addresses, within limits of time and size.

httpcore2 rather than httpx2, whose redirects, cookies, decoding and proxies would all have to be turned off.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import httpcore2

from answerable.errors import DamagedSource, SourceTooLarge, UnsupportedSource
from answerable.sources.web_address import WebAddress

# Each further member costs a copy of the rest.
_MAX_GZIP_MEMBERS = 100
_DROPPED = (httpcore2.ReadError, httpcore2.WriteError, httpcore2.RemoteProtocolError)


@dataclass(slots=True)
class Timer:
    """Limits each wait of one request: `pause` seconds, and never past `deadline` (monotonic seconds)."""

    address: WebAddress
    pause: float
    deadline: float
    has_connected: bool = False

    def left(self) -> float:
        """Return the seconds that the next wait may take. Raise TimeoutError when none are left."""
        seconds = min(self.pause, self.deadline - time.monotonic())
        if seconds <= 0:
            raise TimeoutError("the time limit was reached")
        return seconds


class PinnedPool:
    """A pool of connections to the IP addresses that `locate` returned, even if the name resolves to others later.

    The host's name goes into the Host header and the TLS handshake, which checks the certificate against it.
    """

    def __init__(self, locate: Callable[[WebAddress], Sequence[str]], tls: ssl.SSLContext | None) -> None:
        self._backend = _PinnedBackend(locate)
        # No proxies: behind one, the address that is connected to can't be checked.
        self._pool = httpcore2.ConnectionPool(
            tls or ssl.create_default_context(), max_connections=None, network_backend=self._backend
        )

    def get(self, timer: Timer, headers: Mapping[str, str]) -> httpcore2.Response:
        """Send a GET request; the caller closes the response. Raise OSError and httpcore2's errors."""
        address = timer.address
        url = httpcore2.URL(scheme=address.scheme, host=address.host, port=address.port, target=address.target)
        headers = {"Host": address.origin.partition("://")[2], **headers}
        request = httpcore2.Request(
            "GET",
            url,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
            # httpcore2 passes these unchanged to the network streams.
            extensions={"timeout": dict.fromkeys(("connect", "read", "write"), timer)},
        )
        while True:
            try:
                return self._pool.handle_request(request)
            except _DROPPED:
                # The server had closed an idle connection: try the next one, or a new one.
                if timer.has_connected:
                    raise

    def close_idle(self) -> None:
        """Close the connections that no request uses."""
        for connection in self._pool.connections:
            if connection.is_idle():
                connection.close()

    def cut(self) -> None:
        """End the requests of other threads, which then raise."""
        self._backend.cut()
        self.close_idle()


class _PinnedBackend(httpcore2.NetworkBackend):
    """Opens connections to located IP addresses; `timeout` is a Timer in all methods here."""

    def __init__(self, locate: Callable[[WebAddress], Sequence[str]]) -> None:
        self._locate = locate
        self._streams: WeakSet[_TimedStream] = WeakSet()
        self._lock = threading.Lock()
        self._is_cut = False

    def connect_tcp(self, host: str, port: int, timeout: Any = None, *_: Any, **__: Any) -> httpcore2.NetworkStream:
        failure: Exception = OSError("there is no address to connect to")
        for ip in self._locate(timeout.address):
            try:
                stream = httpcore2.SyncBackend().connect_tcp(ip, port, timeout.left())
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
                continue
            timeout.has_connected = True
            return self.track(stream)
        raise failure

    def track(self, stream: httpcore2.NetworkStream) -> _TimedStream:
        timed = _TimedStream(stream, self)
        with self._lock:
            self._streams.add(timed)
            if self._is_cut:
                timed.cut()
        return timed

    def cut(self) -> None:
        with self._lock:
            self._is_cut = True
            for stream in self._streams:
                stream.cut()


class _TimedStream(httpcore2.NetworkStream):
    """Applies the Timer to every read and write, so that a server can't gain time by sending slowly."""

    def __init__(self, inner: httpcore2.NetworkStream, backend: _PinnedBackend) -> None:
        self._inner = inner
        self._backend = backend

    def read(self, max_bytes: int, timeout: Any = None) -> bytes:
        return self._inner.read(max_bytes, timeout.left())

    def write(self, buffer: bytes, timeout: Any = None) -> None:
        self._inner.write(buffer, timeout.left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None
    ) -> httpcore2.NetworkStream:
        return self._backend.track(self._inner.start_tls(ssl_context, server_hostname, timeout.left()))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)

    def cut(self) -> None:
        # Either side may have closed it already.
        with suppress(OSError):
            self.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


def headers_of(response: httpcore2.Response) -> dict[str, str]:
    """Return a response's headers by name in lower case; repeated ones are joined by commas."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def length_of(headers: Mapping[str, str]) -> int | None:
    """Return the declared size of a body, or None."""
    declared = headers.get("content-length", "")
    return int(declared) if declared.isascii() and declared.isdigit() else None


def read_body(response: httpcore2.Response, headers: Mapping[str, str], limit: int, url: str) -> bytes:
    """Return a response's unpacked bytes. Raise SourceTooLarge over `limit`, packed or unpacked."""
    if (length_of(headers) or 0) > limit:
        raise too_large(url, limit)
    body = bytearray()
    for piece in response.iter_stream():
        body += piece
        if len(body) > limit:
            raise too_large(url, limit)
    match headers.get("content-encoding", "identity").strip().lower():
        case "identity" | "":
            return bytes(body)
        case "gzip" | "x-gzip":
            return gunzip(bytes(body), limit, url)
        case other:
            raise UnsupportedSource(
                f"{url} is compressed with {other[:40]!r}, not gzip: save it as a file and add that"
            )


def gunzip(packed: bytes, limit: int, source: str) -> bytes:
    """Return unpacked gzip. Raise SourceTooLarge over `limit` bytes, DamagedSource when it is broken or truncated."""
    unpacked = bytearray()
    members = 0
    try:
        while packed:
            members += 1
            if members > _MAX_GZIP_MEMBERS:
                raise DamagedSource(f"{source} is a gzip file of over {_MAX_GZIP_MEMBERS} members: leave it out")
            member = zlib.decompressobj(wbits=31)
            unpacked += member.decompress(packed, limit - len(unpacked) + 1)
            if len(unpacked) > limit:
                raise too_large(source, limit)
            if not member.eof:
                raise zlib.error("it is truncated")
            # Some servers pad the end with zeros.
            packed = member.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise DamagedSource(f"{source} is not valid gzip ({error}): try again later") from error
    return bytes(unpacked)


def too_large(source: str, limit: int) -> SourceTooLarge:
    """Return the error for a page over the limit."""
    return SourceTooLarge(f"{source} is over {limit:,} bytes: leave it out, or raise the limit for one page")
