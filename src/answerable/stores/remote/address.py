"""Addresses of libraries on other Answerable servers: `answerable+https://HOST:PORT/NAME`, without the key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from answerable.errors import SettingsError

SCHEMES = ("answerable+http", "answerable+https")
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_SPELLING = (
    "It is answerable+https://HOST/NAME, or with http, with the library's name on that server. A key doesn't belong in "
    "it: set the environment variable ANSWERABLE_SERVER_KEY."
)


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """The server's URL, with the path that it is served under, and the library's name there."""

    url: str
    name: str

    @property
    def shown(self) -> str:
        """The address to show in messages."""
        return f"answerable+{self.url}/{self.name}"


def is_remote(address: str) -> bool:
    """Whether an address names a library on another Answerable server."""
    return address.partition("://")[0].lower() in SCHEMES


def parse_address(address: str) -> RemoteAddress:
    """Parse an address. Raise SettingsError, without quoting the address: it may contain a key by mistake."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise SettingsError(f"The library's address can't be read. {_SPELLING}") from None
    base, _, name = parts.path.rstrip("/").rpartition("/")
    host = parts.hostname or ""
    if (
        not host
        or "@" in parts.netloc
        or parts.query
        or parts.fragment
        or not _PATH.fullmatch(base)
        or not _NAME.fullmatch(name)
    ):
        raise SettingsError(f"The library's address can't be read. {_SPELLING}")
    bracketed = f"[{host}]" if ":" in host else host
    return RemoteAddress(f"{parts.scheme.lower().partition('+')[2]}://{bracketed}{port}{base}", name)
