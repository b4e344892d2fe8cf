"""Addresses of libraries on a Qdrant server: `qdrant+https://HOST:PORT/NAME`, without the API key.

What follows a question mark is the time-out and, for a library that is created, its layout on a cluster.
"""

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
class Layout:
    """How a library is laid out on a cluster when it is created; None leaves it to the server.

    `shards` divide it among machines, each shard is kept `replicas` times, a write must reach `write_consistency` of
    them. `on_disk` keeps vectors on disk, `quantized` also in 8 bits, in memory; results are scored in full.
    """

    shards: int | None = None
    replicas: int | None = None
    write_consistency: int | None = None
    on_disk: bool = False
    quantized: bool = False


@dataclass(frozen=True, slots=True)
class QdrantAddress:
    """A library's address in parts: the server's URL, the library's name, the time-out of requests in seconds."""

    url: str
    name: str
    timeout: int
    layout: Layout = Layout()

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
    timeout = _number(parameters.pop("timeout", None), "timeout", "a number of seconds, as in ?timeout=120")
    shards, replicas, consistency = (
        _number(parameters.pop(each, None), each, f"a number, as in ?{each}=3")
        for each in ("shards", "replicas", "write_consistency")
    )
    on_disk, quantized = (_is_true(parameters.pop(each, None), each) for each in ("on_disk", "quantized"))
    layout = Layout(shards, replicas, consistency, on_disk, quantized)
    unreadable = parts.scheme not in SCHEMES or "@" in parts.netloc or not _HOST.fullmatch(host)
    if unreadable or parts.fragment or parameters or not _NAME.fullmatch(name):
        raise SettingsError(f"The library's address can't be read. {_SPELLING}")
    bracketed = f"[{host}]" if ":" in host else host
    return QdrantAddress(f"{parts.scheme.partition('+')[2]}://{bracketed}:{port}", name, timeout or TIMEOUT, layout)


def _number(text: str | None, name: str, what: str) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 100_000:
        raise SettingsError(f"The {name} in the library's address must be {what}.")
    return int(text)


def _is_true(text: str | None, name: str) -> bool:
    if text not in (None, "true", "false"):
        raise SettingsError(f"{name} in the library's address must be true or false, as in ?{name}=true.")
    return text == "true"
