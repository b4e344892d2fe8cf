"""One HTTP connection to an address that was chosen before, and what may come out of it: so long, so many bytes."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from answerable.errors import DamagedSource, SourceTooLarge, UnsupportedSource
from answerable.sources.web_address import WebAddress

if TYPE_CHECKING:
    from typing_extensions import Buffer

_PIECE = 1 << 16
# Each further member costs a copy of what is left.
_MAX_GZIP_MEMBERS = 100


class Clock:
    """How long a wait may take: `pause` seconds, and never past `deadline` (monotonic seconds)."""

    def __init__(self, pause: float, deadline: float) -> None:
        self.pause = pause
        self.deadline = deadline

    def left(self) -> float:
        """The seconds that the next wait may take. Raises TimeoutError when there are none."""
        seconds = min(self.pause, self.deadline - time.monotonic())
        if seconds <= 0:
            raise TimeoutError("the time for it was up")
        return seconds


class PinnedConnection(http.client.HTTPConnection):
    """A connection to one of these IP addresses, whatever the host's name may resolve to later.

    The name itself goes into the Host header, and into the TLS handshake, which checks the certificate against it.
    """

    def __init__(self, address: WebAddress, ips: Sequence[str], clock: Clock, tls: ssl.SSLContext | None) -> None:
        self.default_port = 443 if tls else 80
        super().__init__(address.host, address.port)
        self._ips = ips
        self._tls = tls
        self.clock = clock
        self.is_fresh = True

    def connect(self) -> None:
        """Tries the addresses in order. Raises the OSError of the last one."""
        failure: OSError | None = None
        for ip in self._ips:
            try:
                self.sock = _TimedSocket(self._connected(ip), self.clock)
                return
            except OSError as error:
                failure = error
        raise failure or OSError("there is no address to connect to")

    def cut(self) -> None:
        """Ends what another thread waits for here: it gets an OSError or the end of the stream."""
        self.clock.deadline = 0.0
        if isinstance(self.sock, _TimedSocket):
            self.sock.cut()

    def _connected(self, ip: str) -> socket.socket:
        plain = socket.create_connection((ip, self.port), self.clock.left())
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.settimeout(self.clock.left())
            return self._tls.wrap_socket(plain, server_hostname=self.host) if self._tls else plain
        except BaseException:
            plain.close()
            raise


class _TimedSocket:
    """What http.client uses of a socket, with every single wait bounded: a server that drips bytes gains nothing."""

    def __init__(self, inner: socket.socket, clock: Clock) -> None:
        self._inner = inner
        self._clock = clock

    def sendall(self, data: Buffer) -> None:
        self._inner.settimeout(self._clock.left())
        self._inner.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._inner, self._clock), _PIECE)

    def close(self) -> None:
        self._inner.close()

    def cut(self) -> None:
        # It may have been closed, by either side, since it was looked at.
        with suppress(OSError):
            self._inner.shutdown(socket.SHUT_RDWR)


class _TimedReader(io.RawIOBase):
    def __init__(self, inner: socket.socket, clock: Clock) -> None:
        self._socket = inner
        # The socket stays open for as long as a file made from it, which http.client relies on.
        self._raw = inner.makefile("rb", buffering=0)
        self._clock = clock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int | None:
        self._socket.settimeout(self._clock.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def read_body(response: http.client.HTTPResponse, limit: int, url: str) -> bytes:
    """A response's bytes, unpacked. SourceTooLarge over `limit`, packed or unpacked; HTTPException when it was cut."""
    if (response.length or 0) > limit:
        raise too_large(url, limit)
    pieces, size = [], 0
    while piece := response.read(_PIECE):
        size += len(piece)
        if size > limit:
            raise too_large(url, limit)
        pieces.append(piece)
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    body = b"".join(pieces)
    match (response.getheader("Content-Encoding") or "identity").strip().lower():
        case "identity":
            return body
        case "gzip" | "x-gzip":
            return gunzip(body, limit, url)
        case other:
            raise UnsupportedSource(f"{url} is packed by {other[:40]!r}, not by gzip: save it as a file, add that")


def gunzip(packed: bytes, limit: int, source: str) -> bytes:
    """What gzip packed. Raises SourceTooLarge over `limit` bytes, DamagedSource when it is broken or cut."""
    unpacked = bytearray()
    members = 0
    try:
        while packed:
            members += 1
            if members > _MAX_GZIP_MEMBERS:
                raise DamagedSource(f"{source} is gzip of over {_MAX_GZIP_MEMBERS} members: leave it out")
            member = zlib.decompressobj(wbits=31)
            unpacked += member.decompress(packed, limit - len(unpacked) + 1)
            if len(unpacked) > limit:
                raise too_large(source, limit)
            if not member.eof:
                raise zlib.error("it is cut")
            # Some servers fill up the end.
            packed = member.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise DamagedSource(f"{source} is no sound gzip ({error}): try again later") from error
    return bytes(unpacked)


def too_large(source: str, limit: int) -> SourceTooLarge:
    """The error for what is over the limit."""
    return SourceTooLarge(f"{source} is over {limit:,} bytes: leave it out, or raise the limit for one page")
