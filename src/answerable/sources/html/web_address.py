"""Web addresses in one plain (normalised) form.

Unusual spellings of a host are refused, since programs disagree on the host that they mean.
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
    """An http or https address in plain form, without fragment; IPv6 is without brackets."""

    scheme: str
    host: str
    port: int
    target: str  # percent-encoded path and query

    @property
    def origin(self) -> str:
        """Scheme and host, with the port unless it is the default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")

    @property
    def url(self) -> str:
        """The address as text."""
        return self.origin + self.target


def is_site(source: str) -> bool:
    """Whether a source is a web address, not a path."""
    return source.lower().startswith(("http://", "https://"))


@lru_cache(1 << 13)
def parse_address(text: str) -> WebAddress:
    """Parse an address into plain form. Raise AddressRefused if it is invalid or disguised."""
    text = text.strip(" \t\r\n")
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise _refused(text, str(error)) from error
    if _CONTROL.search(text):
        raise _refused(text, "it contains control characters or lone surrogates")
    if parts.scheme not in PORTS:
        raise _refused(text, "it doesn't begin with http:// or https://")
    if "@" in parts.netloc:
        raise _refused(text, "it contains a user name or password, which can also hide the host")
    if _CLIMBS.search(parts.path):
        raise _refused(text, "its path contains . or .. segments")
    host, port = host_and_port(parts.netloc, text)
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    query = quote(parts.query, safe="/?%:@!$&'()*+,;=~")
    return WebAddress(parts.scheme, host, port or PORTS[parts.scheme], target + (f"?{query}" if query else ""))


def host_and_port(netloc: str, text: str) -> tuple[str, int | None]:
    """Return a host in plain form and its port. Raise AddressRefused for anything unusual."""
    match = _NETLOC.fullmatch(netloc)
    if match is None:
        raise _refused(text, "it has no plain host name")
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        raise _refused(text, f"port {port} doesn't exist")
    try:
        return str(IPv6Address(match["v6"])) if match["v6"] else _plain_name(match["name"]), port
    except ValueError as error:  # Includes UnicodeError and AddressValueError.
        raise _refused(text, f"its host is invalid ({error})") from error


def _plain_name(name: str) -> str:
    host = (name if name.isascii() else name.encode("idna").decode("ascii")).lower().removesuffix(".")
    if not _HOST.fullmatch(host) or len(host) > 253:
        raise ValueError("it is not a host name")
    # Browsers and systems read a host that ends in a number as an IPv4 address of 1 to 4 decimal, octal or hex parts.
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        return str(IPv4Address(host))
    return host


def _refused(text: str, reason: str) -> AddressRefused:
    shown = re.sub(r"//[^/?#]*@", "//…@", "".join(c for c in text[:200] if c.isprintable()))
    return AddressRefused(f"{shown!r} is not fetched, {reason}: give an address like https://docs.example.com/book/")
