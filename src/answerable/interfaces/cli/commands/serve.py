"""What `answerable serve` does: serves libraries by HTTP until it is told to stop."""

from __future__ import annotations

import logging
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from answerable.errors import MissingPackage, SettingsError
from answerable.interfaces.cli import render
from answerable.interfaces.cli.printing import CleanFormatter
from answerable.settings import Settings, load_settings

NAME = "library"
"""What the library of `--library` is called in addresses."""

_BASE_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")


@dataclass(frozen=True, slots=True)
class Serving:
    """What the command was given. `also` are further libraries, each as NAME=ADDRESS."""

    library: str | None
    also: Sequence[str]
    model: str | None
    host: str
    port: int
    keys: str | None
    data: str | None
    session_days: float
    base_path: str
    server_names: Sequence[str]
    allow_origins: Sequence[str]
    proxies: Sequence[str]
    asks_per_minute: int | None


def serve(given: Serving) -> None:
    """Serves until a signal says to stop, and prints the address first. Raises SettingsError and MissingPackage."""
    try:
        from answerable.interfaces.http.access.key_file import Keys
        from answerable.interfaces.http.guards.rate_limits import OWN_MACHINE, Rates
        from answerable.interfaces.http.guards.stack import Guards
        from answerable.interfaces.http.server import Server
        from answerable.interfaces.http.service import Options, default_data_folder, open_service
    except ModuleNotFoundError as error:
        raise MissingPackage(f"answerable serve needs the package {error.name}", "server") from error

    if given.asks_per_minute is not None and given.asks_per_minute < 1:
        raise SettingsError(f"--asks-per-minute is {given.asks_per_minute}; it must be at least 1.")
    handler = logging.StreamHandler()
    handler.setFormatter(CleanFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    keys = Keys(Path(given.keys).expanduser()) if given.keys else None
    # A file that can't be used is said now, not when somebody asks.
    if keys and not keys.list():
        raise SettingsError(
            f"{given.keys} has no keys, so that nobody could use the server. "
            f"Make one: answerable keys add --role ask {given.keys}"
        )
    data = Path(given.data).expanduser() if given.data else default_data_folder()
    options = Options(data, _base_path(given.base_path), session_days=given.session_days)
    usual = Rates() if keys else OWN_MACHINE
    rates = replace(usual, asks=given.asks_per_minute or usual.asks)
    guards = Guards(keys, given.server_names, given.allow_origins, given.proxies, rates)
    service = open_service(libraries(given), options)
    try:
        # What is wrong with it is said now, not when somebody asks.
        service.libraries.get(NAME)
        server = Server(service, guards, given.host, given.port)
    except BaseException:
        service.close()
        raise
    render.note(f"Answerable is at {server.address} (Ctrl-C stops it).")
    sys.stdout.flush()
    # uvicorn stops first, and then passes the signal on.
    signal.signal(signal.SIGTERM, _stopped)
    try:
        server.serve_until_stopped()
    except KeyboardInterrupt:
        return


def libraries(given: Serving) -> Mapping[str, Settings]:
    """The settings of every library by name, the default first. Raises SettingsError."""
    found = {NAME: load_settings({"library": given.library, "model": given.model})}
    for each in given.also:
        name, equals, address = each.partition("=")
        if not equals or not address or name in found:
            raise SettingsError(f"--also {each!r} is no new NAME=ADDRESS; {NAME} names that of --library.")
        found[name] = load_settings({"library": address, "model": given.model})
    return found


def _base_path(given: str) -> str:
    path = given.rstrip("/")
    if path and not _BASE_PATH.fullmatch(path):
        raise SettingsError(f"--base-path {given!r} is no path: it begins with a slash, as /docs.")
    return path


def _stopped(*_: object) -> NoReturn:
    sys.exit(0)
