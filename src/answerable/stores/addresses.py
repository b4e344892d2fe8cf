"""Addresses of libraries on servers.

PostgreSQL: `postgresql://user:password@host:port/database?library=NAME`. Qdrant: `qdrant+https://HOST:PORT/NAME`,
without the API key; the query string sets the time-out and, for a library that is created, its layout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from answerable.errors import SettingsError

POSTGRES = ("postgresql", "postgres")
QDRANT = ("qdrant+http", "qdrant+https")
LIBRARY = "answerable"
# Seconds; round numbers, documented in docs/postgres.md, not measured.
STATEMENT_TIMEOUT = 60.0
CONNECT_TIMEOUT = "10"
# Seconds; a round number, documented in docs/qdrant.md, not measured.
TIMEOUT = 60
# Qdrant's default port.
PORT = 6333

_HOSTS = re.compile(r"((\[[^\]]*\]|[^][:@,]*)(:\d*)?(,|$))*")
# Bytes; PostgreSQL cuts longer names.
_NAME_BYTES = 63
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_HOST = re.compile(r"[A-Za-z0-9_.-]+|[0-9a-f:.]+(%[a-z0-9]+)?")
_SPELLING = (
    "It is qdrant+http://HOST:6333/NAME or qdrant+https://HOST:6333/NAME, with NAME of up to 100 letters, digits, "
    "dots, dashes and underscores. A key doesn't belong in it: set the environment variable QDRANT_API_KEY."
)


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """The parts of an address: libpq's connection string, the schema, and the address to show, without its password.

    `statement_timeout` is in seconds, 0 for no limit.
    """

    conninfo: str = field(repr=False)
    schema: str
    shown: str
    statement_timeout: float


@dataclass(frozen=True, slots=True)
class QdrantAddress:
    """A library's address in parts: the server's URL, the library's name, the time-out of requests in seconds.

    The other fields say how a new library is laid out on a cluster; None leaves this to the server. `shards` divide
    it among machines, each shard has `replicas` copies, and a write must reach `write_consistency` copies. `on_disk`
    keeps vectors on disk; `quantized` also keeps 8-bit vectors in memory, and results are scored with the full ones.
    """

    url: str
    name: str
    timeout: int
    shards: int | None = None
    replicas: int | None = None
    write_consistency: int | None = None
    on_disk: bool = False
    quantized: bool = False

    @property
    def shown(self) -> str:
        """The address to show in messages."""
        return f"qdrant+{self.url}/{self.name}"


def is_postgres(address: str) -> bool:
    """Whether an address leads to a library on PostgreSQL."""
    return address.partition("://")[0] in POSTGRES


def is_qdrant(address: str) -> bool:
    """Whether an address names a library on a Qdrant server."""
    return address.partition("://")[0].lower() in QDRANT


def shown(address: str) -> str:
    """Return an address, of any kind except Qdrant's, without its password. Raise SettingsError."""
    scheme, sign, rest = address.partition("://")
    # SQLAlchemy's addresses also name the driver, as in `postgresql+psycopg`.
    plain = f"{scheme.partition('+')[0]}{sign}{rest}"
    return parse_postgres(plain).shown if is_postgres(plain) else address


def parse_postgres(address: str) -> PostgresAddress:
    """Parse an address; pass parameters that answerable doesn't define to libpq. Raise SettingsError."""
    parts = urlsplit(address)
    account, _, hosts = parts.netloc.rpartition("@")
    # For libpq the host begins after the first @: its error would quote the rest of a password that contains an @.
    if parts.scheme not in POSTGRES or "@" in account or not _HOSTS.fullmatch(hosts) or parts.fragment:
        # Quote no part of the address: if the password has special characters, any part may contain some of it.
        raise SettingsError(
            "The library's address can't be read. It is postgresql://USER:PASSWORD@HOST:PORT/DATABASE?library=NAME, "
            "where characters such as @ : / ? # in the password are written as %40 %3A %2F %3F %23."
        )
    # Like libpq, which doesn't read a plus sign as a space.
    pairs = (pair.partition("=") for pair in parts.query.split("&") if pair)
    given = {unquote(name): unquote(value) for name, _, value in pairs}
    schema = _checked_name(given.pop("library", LIBRARY))
    timeout = _seconds(given.pop("statement_timeout", str(STATEMENT_TIMEOUT)))
    given.setdefault("connect_timeout", CONNECT_TIMEOUT)
    user = account.partition(":")[0]
    named = {name: given[name] for name in ("host", "port") if name in given} | {"library": schema}
    return PostgresAddress(
        conninfo=f"postgresql://{parts.netloc}{parts.path}?{_query(given)}",
        schema=schema,
        shown=f"postgresql://{user}{'@' if user else ''}{hosts}{parts.path or '/'}?{_query(named)}",
        statement_timeout=timeout,
    )


def parse_qdrant(address: str) -> QdrantAddress:
    """Parse an address. Raise SettingsError, without quoting the address: it may contain an API key by mistake."""
    try:
        parts = urlsplit(address)
        port = parts.port or PORT
    except ValueError:
        raise SettingsError(f"The library's address can't be read. {_SPELLING}") from None
    name, host = parts.path.strip("/") or LIBRARY, parts.hostname or ""
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    timeout = _number(given.pop("timeout", None), "timeout", "a number of seconds, as in ?timeout=120")
    copies = (
        _number(given.pop(each, None), each, f"a number, as in ?{each}=3")
        for each in ("shards", "replicas", "write_consistency")
    )
    layout = (*copies, *(_is_true(given.pop(each, None), each) for each in ("on_disk", "quantized")))
    unreadable = parts.scheme not in QDRANT or "@" in parts.netloc or not _HOST.fullmatch(host)
    if unreadable or parts.fragment or given or not _NAME.fullmatch(name):
        raise SettingsError(f"The library's address can't be read. {_SPELLING}")
    bracketed = f"[{host}]" if ":" in host else host
    url = f"{parts.scheme.partition('+')[2]}://{bracketed}:{port}"
    return QdrantAddress(url, name, timeout or TIMEOUT, *layout)  # type: ignore[arg-type]


def _query(parameters: Mapping[str, str]) -> str:
    return urlencode(parameters, safe="/", quote_via=quote)


def _checked_name(name: str) -> str:
    reserved = name.startswith("pg_") or name in ("", "information_schema")
    if reserved or "\0" in name or len(name.encode("utf-8", "replace")) > _NAME_BYTES:
        raise SettingsError(
            f"A library can't be called {name!r}. Take a name of 1 to {_NAME_BYTES} letters that doesn't begin with "
            "pg_, as in ?library=contracts."
        )
    return name


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < 1e6:
        raise SettingsError(f"statement_timeout is {text!r}; it must be a number of seconds, 0 for no limit.")
    return seconds


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
