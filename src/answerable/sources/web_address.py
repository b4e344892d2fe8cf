"""Addresses of the web in one plain form.

A host that is written in any but the plain form is refused: programs differ in where they think such an address leads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, urlsplit

from answerable.errors import AddressRefused

PORTS = {"http": 80, "https": 443}
_NETLOC = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^:@\[\]\\/%]+))(?::(?P<port>[0-9]{0,5}))?", re.ASCII)
_HOST = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_CLIMBS = re.compile(r"/(\.|%2e){1,2}(/|$)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An http or https address in its plain form, without fragment.

    `host` is ASCII in lower case, IPv6 without brackets; `target` is the path with the query, percent-encoded.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        """Scheme, host, and the port where it isn't the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")

    @property
    def url(self) -> str:
        """The address as text."""
        return self.origin + self.target


@lru_cache(1 << 13)
def parse_address(text: str) -> WebAddress:
    """The address that a text names. Raises AddressRefused for what is none, or tries to pass for another."""
    try:
        parts = urlsplit(text.strip(" \t\r\n"))
    except ValueError as error:
        raise _refused(text, str(error)) from error
    if _CONTROL.search(text.strip(" \t\r\n")):
        raise _refused(text, "it holds control characters or broken ones")
    if parts.scheme not in PORTS:
        raise _refused(text, "it doesn't begin with http:// or https://")
    if "@" in parts.netloc:
        raise _refused(text, "it holds a user name or password, which also serves to hide the host")
    if _CLIMBS.search(parts.path):
        raise _refused(text, "its path climbs by dots")
    host, port = host_and_port(parts.netloc, text)
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    query = quote(parts.query, safe="/?%:@!$&'()*+,;=~")
    return WebAddress(parts.scheme, host, port or PORTS[parts.scheme], target + (f"?{query}" if query else ""))


def host_and_port(netloc: str, text: str) -> tuple[str, int | None]:
    """A host in its plain form, and its port. Raises AddressRefused for anything unusual."""
    match = _NETLOC.fullmatch(netloc)
    if match is None:
        raise _refused(text, "it names no plain host")
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        raise _refused(text, f"there is no port {port}")
    try:
        host = str(IPv6Address(match["v6"])) if match["v6"] else _plain_name(match["name"])
    except ValueError as error:  # UnicodeError of the codec and AddressValueError are such.
        raise _refused(text, f"its host can't be read ({error})") from error
    return host, port


def _plain_name(name: str) -> str:
    host = (name if name.isascii() else name.encode("idna").decode("ascii")).lower().removesuffix(".")
    if not _HOST.fullmatch(host) or len(host) > 253:
        raise ValueError("it is no name of a host")
    # What ends in a number is an IPv4 address for browsers and the system, in decimal, octal or hex, of 1 to 4 parts.
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        return str(IPv4Address(host))
    return host


def _refused(text: str, reason: str) -> AddressRefused:
    shown = re.sub(r"//[^/?#]*@", "//…@", "".join(c for c in text[:200] if c.isprintable()))
    return AddressRefused(f"{shown!r} is not fetched, {reason}: give an address like https://docs.example.com/book/")
