"""`answerable serve`: serve libraries by HTTP until stopped."""

from __future__ import annotations

import logging
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, Optional

from typer import Option

from answerable.errors import MissingPackage, SettingsError
from answerable.interfaces.cli.options import LibraryOption, ModelOption, Texts
from answerable.interfaces.cli.printing import CleanFormatter, print_text
from answerable.settings import Settings, load_settings, variables

if TYPE_CHECKING:
    from answerable.interfaces.http.guards.stack import Guards

# The name of the library of `--library` in URLs.
_NAME = "library"
_BASE_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")


@dataclass(frozen=True, slots=True)
class AddressOptions:
    """The server's address, names and proxies."""

    host: Annotated[str, Option(metavar="HOST", help="The address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Option(metavar="NUMBER", min=0, max=65535, help="0 picks a free port.")] = 8000
    base_path: Annotated[str, Option(metavar="PATH", help="The path a proxy serves it under.")] = ""
    server_name: Annotated[Texts, Option(metavar="HOST", help="A host name clients use (repeatable).")] = None
    allow_origin: Annotated[
        Texts, Option(metavar="ORIGIN", help="Let pages of this site use it: https://example.org (repeatable).")
    ] = None
    proxy: Annotated[
        Texts, Option(metavar="ADDRESS", help="Trust this proxy's forwarded client addresses (repeatable).")
    ] = None


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """Keys, limits and stored data of the server."""

    keys: Annotated[Optional[Path], Option(metavar="FILE", help="Require a key from this file.")] = None
    asks_per_minute: Annotated[
        Optional[int],
        Option(metavar="NUMBER", help="Questions per minute of a key or address (default with keys: 120)."),
    ] = None
    data: Annotated[Optional[Path], Option(metavar="FOLDER", help="Folder for conversations and uploads.")] = None
    folders: Annotated[
        Texts,
        Option(
            metavar="FOLDER",
            help="A folder that admins may add from the page (repeatable; `none`; without keys: your home).",
        ),
    ] = None
    session_days: Annotated[
        float, Option(metavar="DAYS", min=0, help="Keep a conversation this long after its last question.")
    ] = 30.0


def serve(
    address: AddressOptions,
    access: AccessOptions,
    library: LibraryOption = None,
    also: Annotated[
        Texts, Option(metavar="NAME=ADDRESS", help="Also serve this library under this name (repeatable).")
    ] = None,
    model: ModelOption = None,
) -> None:
    """Serve the library by HTTP: a web page, and an API for programs. Without keys to this machine only."""
    try:
        from answerable.interfaces.http.server import Server
        from answerable.interfaces.http.service import Options, default_data_folder, open_service
    except ModuleNotFoundError as error:
        raise MissingPackage(f"answerable serve needs the package {error.name}", "server") from error

    handler = logging.StreamHandler()
    handler.setFormatter(CleanFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    guards = _guards(address, access)
    data = access.data.expanduser() if access.data else default_data_folder()
    fixed = {**variables(), **({"model": "--model"} if model else {})}
    options = Options(
        data,
        _base_path(address.base_path),
        session_days=access.session_days,
        folders=_folders(address, access),
        fixed=fixed,
    )
    service = open_service(_libraries(library, also or (), model), options)
    try:
        # Fail now rather than at the first question.
        service.libraries.get(_NAME)
        server = Server(service, guards, address.host, address.port)
    except BaseException:
        service.close()
        raise
    print_text(f"Answerable is at {server.address} (Ctrl-C stops it).")
    sys.stdout.flush()
    # uvicorn stops first, then raises the signal again.
    signal.signal(signal.SIGTERM, _stop)
    with suppress(KeyboardInterrupt):
        server.serve_until_stopped()


def _guards(address: AddressOptions, access: AccessOptions) -> Guards:
    from answerable.interfaces.http.access.key_file import Keys
    from answerable.interfaces.http.guards.rate_limits import OWN_MACHINE, Rates
    from answerable.interfaces.http.guards.stack import Guards

    asks = access.asks_per_minute
    if asks is not None and asks < 1:
        raise SettingsError(f"--asks-per-minute is {asks}; it must be at least 1.")
    keys = Keys(access.keys.expanduser()) if access.keys else None
    if keys and not keys.list():
        raise SettingsError(
            f"{access.keys} has no keys, so nobody could use the server. "
            f"Make one: answerable keys add --role ask {access.keys}"
        )
    rates = Rates() if keys else OWN_MACHINE
    return Guards(
        keys,
        address.server_name or (),
        address.allow_origin or (),
        address.proxy or (),
        replace(rates, asks=asks or rates.asks),
    )


def _folders(address: AddressOptions, access: AccessOptions) -> tuple[Path, ...]:
    """Return the folders that admins may add from the page. Raise SettingsError."""
    if access.folders is None:
        # With keys, or behind a proxy, admins may be people who shouldn't read this account's files.
        return () if access.keys or address.proxy else (Path.home(),)
    if access.folders == ["none"]:
        return ()
    found = tuple(Path(each).expanduser().absolute() for each in access.folders)
    for folder in found:
        if not folder.is_dir():
            raise SettingsError(f"--folders {folder} is not a folder. Name one that exists, or none.")
    return found


def _libraries(library: str | None, also: Sequence[str], model: str | None) -> Mapping[str, Settings]:
    """Return the settings of every library by its name, the default library first. Raise SettingsError."""
    found = {_NAME: load_settings({"library": library, "model": model})}
    for each in also:
        name, _, address = each.partition("=")
        if not address or name in found:
            raise SettingsError(f"--also {each!r} is not a new NAME=ADDRESS; {_NAME} is the name of --library.")
        found[name] = load_settings({"library": address, "model": model})
    return found


def _base_path(given: str) -> str:
    path = given.rstrip("/")
    if path and not _BASE_PATH.fullmatch(path):
        raise SettingsError(f"--base-path {given!r} is not a path; it must start with a slash, such as /docs.")
    return path


def _stop(*_: object) -> NoReturn:
    # A second signal doesn't wait for what still runs.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.exit(0)
