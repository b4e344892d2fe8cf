"""Addresses of libraries on a PostgreSQL server: `postgresql://user:password@host:port/database?library=NAME`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlencode, urlsplit

from answerable.errors import SettingsError

SCHEMES = ("postgresql", "postgres")
LIBRARY = "answerable"
STATEMENT_TIMEOUT = 60.0
CONNECT_TIMEOUT = "10"

_HOSTS = re.compile(r"((\[[^\]]*\]|[^][:@,]*)(:\d*)?(,|$))*")
_NAME_BYTES = 63


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """The parts of an address: libpq's connection string, the schema, and the address to show, without its password.

    `statement_timeout` is in seconds, 0 for no limit.
    """

    conninfo: str = field(repr=False)
    schema: str
    shown: str
    statement_timeout: float


def is_postgres(address: str) -> bool:
    """Whether an address leads to a library on PostgreSQL."""
    return address.partition("://")[0] in SCHEMES


def shown(address: str) -> str:
    """Return an address of any kind without its password. Raise SettingsError."""
    scheme, sign, rest = address.partition("://")
    # SQLAlchemy's addresses name the driver, too.
    plain = f"{scheme.partition('+')[0]}{sign}{rest}"
    return parse_address(plain).shown if is_postgres(plain) else address


def parse_address(address: str) -> PostgresAddress:
    """Parse an address; pass parameters that answerable doesn't define to libpq. Raise SettingsError."""
    parts = urlsplit(address)
    account, _, hosts = parts.netloc.rpartition("@")
    # For libpq the host begins after the first @: it would quote the rest of a password with one.
    if parts.scheme not in SCHEMES or "@" in account or not _HOSTS.fullmatch(hosts) or parts.fragment:
        # A password with an odd character may be in any part: show nothing of it.
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
