"""Addresses of libraries on a Qdrant server: `qdrant+https://HOST:PORT/NAME`, without the API key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from answerable.errors import SettingsError

SCHEMES = ("qdrant+http", "qdrant+https")
LIBRARY = "answerable"
PORT = 6333
TIMEOUT = 60

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_HOST = re.compile(r"[A-Za-z0-9_.-]+|[0-9a-f:.]+(%[a-z0-9]+)?")
_SPELLING = (
    "It is qdrant+http://HOST:6333/NAME or qdrant+https://HOST:6333/NAME, with NAME of up to 100 letters, digits, "
    "dots, dashes and underscores. A key doesn't belong in it: set the environment variable QDRANT_API_KEY."
)


@dataclass(frozen=True, slots=True)
class QdrantAddress:
    """A library's address in parts: the server's URL, the library's name, and the time-out of requests in seconds."""

    url: str
    name: str
    timeout: int

    @property
    def shown(self) -> str:
        """The address to show in messages."""
        return f"qdrant+{self.url}/{self.name}"


def is_qdrant(address: str) -> bool:
    """Whether an address names a library on a Qdrant server."""
    return address.partition("://")[0].lower() in SCHEMES


def parse_address(address: str) -> QdrantAddress:
    """Parse an address. Raise SettingsError, without quoting the address: it may contain an API key by mistake."""
    try:
        parts = urlsplit(address)
        port = parts.port or PORT
    except ValueError:
        raise SettingsError(f"The library's address can't be read. {_SPELLING}") from None
    name = parts.path.strip("/") or LIBRARY
    host = parts.hostname or ""
    parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
    timeout = parameters.pop("timeout", str(TIMEOUT))
    unreadable = parts.scheme not in SCHEMES or "@" in parts.netloc or not _HOST.fullmatch(host)
    if unreadable or parts.fragment or parameters or not _NAME.fullmatch(name):
        raise SettingsError(f"The library's address can't be read. {_SPELLING}")
    if not timeout.isascii() or not timeout.isdigit() or not 0 < int(timeout) < 100_000:
        raise SettingsError("The timeout in the library's address must be a number of seconds, as in ?timeout=120.")
    bracketed = f"[{host}]" if ":" in host else host
    return QdrantAddress(f"{parts.scheme.partition('+')[2]}://{bracketed}:{port}", name, int(timeout))
