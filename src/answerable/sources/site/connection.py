"""HTTP/1.1 by httpcore2, over connections pinned to public IP addresses, within limits of time and size.

We use httpcore2 rather than httpx2, whose redirects, cookies, decoding and proxies would all have to be turned off.
Only public addresses are allowed, also after a redirect or a name look-up.
"""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from weakref import WeakSet

import httpcore2

from answerable.errors import (
    AddressRefused,
    DamagedSource,
    SettingsError,
    SiteUnreachable,
    SourceTooLarge,
    UnsupportedSource,
)
from answerable.sources.html.web_address import PORTS, WebAddress, host_and_port


@dataclass(slots=True)
class Timer:
    """Limits each wait of a request to `pause` seconds, and never beyond `deadline` (monotonic seconds)."""

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


class PinnedPool(httpcore2.NetworkBackend):
    """A pool of connections to the IP addresses that `locate` returned, even if the name resolves to others later.

    It opens them itself; `timeout` is a Timer in the methods that httpcore2 calls.
    """

    def __init__(self, locate: Callable[[WebAddress], Sequence[str]], tls: ssl.SSLContext | None) -> None:
        self._locate = locate
        self._streams: WeakSet[_TimedStream] = WeakSet()
        self._lock = threading.Lock()
        self._is_cut = False
        # No proxies: behind a proxy, the address that is connected to can't be checked.
        self._pool = httpcore2.ConnectionPool(
            tls or ssl.create_default_context(), max_connections=None, network_backend=self
        )

    def get(self, timer: Timer, headers: Mapping[str, str]) -> httpcore2.Response:
        """Send a GET request; the caller closes the response. Raise OSError and httpcore2's errors."""
        address = timer.address
        # The handshake of TLS checks the certificate against the host's name.
        url = httpcore2.URL(scheme=address.scheme, host=address.host, port=address.port, target=address.target)
        headers = {"Host": address.origin.partition("://")[2], **headers}
        request = httpcore2.Request(
            "GET",
            url,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
            # httpcore2 passes these values unchanged to the network streams.
            extensions={"timeout": dict.fromkeys(("connect", "read", "write"), timer)},
        )
        while True:
            try:
                return self._pool.handle_request(request)
            except (httpcore2.ReadError, httpcore2.WriteError, httpcore2.RemoteProtocolError):
                # The server had closed this idle connection: try the next one, or open a new one.
                if timer.has_connected:
                    raise

    def close_idle(self) -> None:
        """Close the connections that no request uses."""
        for connection in self._pool.connections:
            if connection.is_idle():
                connection.close()

    def cut(self) -> None:
        """End the requests of other threads, which then raise an error."""
        with self._lock:
            self._is_cut = True
            for stream in self._streams:
                stream.cut()
        self.close_idle()

    def connect_tcp(self, host: str, port: int, timeout: Any = None, *_: Any, **__: Any) -> httpcore2.NetworkStream:
        """Connect to the first of the located addresses that answers."""
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
        """Return the stream with its Timer, to be ended by `cut`."""
        timed = _TimedStream(stream, self)
        with self._lock:
            self._streams.add(timed)
            if self._is_cut:
                timed.cut()
        return timed


class _TimedStream(httpcore2.NetworkStream):
    """Applies the Timer to every read and write, so that a slow server can't exceed the limits."""

    def __init__(self, inner: httpcore2.NetworkStream, pool: PinnedPool) -> None:
        self._inner = inner
        self._pool = pool

    def read(self, max_bytes: int, timeout: Any = None) -> bytes:
        return self._inner.read(max_bytes, timeout.left())

    def write(self, buffer: bytes, timeout: Any = None) -> None:
        self._inner.write(buffer, timeout.left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None
    ) -> httpcore2.NetworkStream:
        return self._pool.track(self._inner.start_tls(ssl_context, server_hostname, timeout.left()))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)

    def cut(self) -> None:
        # The connection may already be closed by either side.
        with suppress(OSError):
            self.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


def headers_of(response: httpcore2.Response) -> dict[str, str]:
    """Return a response's headers by lower-case name; the values of repeated headers are joined by commas."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def length_of(headers: Mapping[str, str]) -> int | None:
    """Return the size of a body that the headers declare, or None."""
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
    """Return unpacked gzip data. Raise SourceTooLarge over `limit` bytes, DamagedSource if it is broken or cut off."""
    try:
        with gzip.GzipFile(fileobj=BytesIO(packed)) as file:
            unpacked = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedSource(f"{source} is not valid gzip ({error}): try again later") from error
    if len(unpacked) > limit:
        raise too_large(source, limit)
    return unpacked


def too_large(source: str, limit: int) -> SourceTooLarge:
    """Return the error for a page over the limit."""
    return SourceTooLarge(f"{source} is over {limit:,} bytes: leave it out, or raise the limit for one page")


Resolve = Callable[[str, int], Sequence[str]]


# Non-public addresses: the IANA special-purpose registries (RFC 6890), multicast, and the wire server of Azure's
# machines, a public address. Other clouds' metadata servers are link-local, shared or unique local.
_BLOCKS = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    2001::/23 2001:db8::/32 2002::/16 3fff::/20
"""
_NOT_PUBLIC = tuple(map(ip_network, _BLOCKS.split()))
_GLOBAL_UNICAST = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet; IPv6 forms of an IPv4 address count as the latter."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if ip in _NAT64:
            return is_public(str(IPv4Address(int(ip) & 0xFFFFFFFF)))
        if ip not in _GLOBAL_UNICAST:
            return False
    return not any(ip in block for block in _NOT_PUBLIC)


def resolve(host: str, port: int) -> list[str]:
    """Return the IP addresses of a name from the system's resolver, within its own time limits."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class AddressGuard:
    """Decides which IP addresses may be connected to: public ones, and any of the trusted hosts in `allow_hosts`."""

    def __init__(self, allow_hosts: Iterable[str] = (), resolve: Resolve = resolve) -> None:
        self._allowed = frozenset(_allowed(entry) for entry in allow_hosts)
        self._resolve = resolve

    def locate(self, address: WebAddress) -> list[str]:
        """Return the IP addresses to connect to, from a single look-up. Raise AddressRefused if any isn't public."""
        trusted = not self._allowed.isdisjoint({(address.host, address.port), (address.host, None)})
        if not trusted and address.port < 1024 and address.port not in PORTS.values():
            raise _refused(address, f"port {address.port} isn't a web port")
        # In plain form, only an IP address has a colon or consists of figures.
        is_ip = ":" in address.host or address.host.replace(".", "").isdigit()
        found = [address.host] if is_ip else self._look_up(address)
        private = next((ip for ip in found if not is_public(ip)), "")
        if private and not trusted:
            raise _refused(address, f"{private} isn't on the public internet")
        return found

    def _look_up(self, address: WebAddress) -> list[str]:
        try:
            found = list(dict.fromkeys(self._resolve(address.host, address.port)))
        except (OSError, UnicodeError) as error:
            raise SiteUnreachable(
                f"the name {address.host} can't be looked up ({error}): check it and your connection"
            ) from error
        if not found:
            raise SiteUnreachable(f"the name {address.host} has no IP address: check it")
        return found


def _allowed(entry: str) -> tuple[str, int | None]:
    try:
        return str(IPv6Address(entry)), None
    except ValueError:
        pass
    try:
        return host_and_port(entry, entry)
    except AddressRefused as error:
        raise SettingsError(f"allow_hosts has {entry!r}: give hosts like 127.0.0.1:3000 or docs.example.com") from error


def _refused(address: WebAddress, reason: str) -> AddressRefused:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return AddressRefused(
        f"{address.url} is not fetched: {reason}. "
        f"If you trust it, allow the host: set ANSWERABLE_ALLOW_HOSTS={host}:{address.port}"
    )
