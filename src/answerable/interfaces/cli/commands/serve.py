"""`answerable serve`, `mcp` and `keys`: serve libraries by HTTP or to assistants, and manage the keys for access."""

from __future__ import annotations

import logging
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from typer import Argument, Option

from answerable.errors import MissingPackage, SettingsError
from answerable.interfaces.cli.options import (
    JsonOption,
    LibrariesOption,
    LibraryOption,
    ModelOption,
    Text,
    Texts,
    examples,
    open_libraries,
)
from answerable.interfaces.cli.printing import CleanFormatter, one_line, print_json, print_progress, print_text
from answerable.interfaces.http.guards.key_file import Keys, Role
from answerable.settings import Settings, load_settings, variables

if TYPE_CHECKING:
    from answerable.interfaces.http.guards.stack import Guards

# The name in URLs of the library that `--library` gives.
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

    keys: Annotated[Path | None, Option(metavar="FILE", help="Require a key from this file.")] = None
    asks_per_minute: Annotated[
        int | None,
        Option(metavar="NUMBER", help="Questions per minute of a key or address (default with keys: 120)."),
    ] = None
    data: Annotated[Path | None, Option(metavar="FOLDER", help="Folder for conversations and uploads.")] = None
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
        from answerable.interfaces.http.server import Server, open_service
        from answerable.interfaces.http.service import Options, default_data_folder
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
        # With keys, or behind a proxy, an admin may be a person who must not reach this machine's network.
        addresses=not (access.keys or address.proxy),
        fixed=fixed,
    )
    service = open_service(_libraries(library, also or (), model), options)
    try:
        # Open the library now, so that an error is reported at the start rather than at the first question.
        service.libraries.get(_NAME)
        server = Server(service, guards, address.host, address.port)
    except BaseException:
        service.close()
        raise
    print_text(f"Answerable is at {server.address} (Ctrl-C stops it).")
    sys.stdout.flush()
    # On SIGTERM uvicorn stops first, and then raises the signal again.
    signal.signal(signal.SIGTERM, _stop)
    with suppress(KeyboardInterrupt):
        server.serve_until_stopped()


def _guards(address: AddressOptions, access: AccessOptions) -> Guards:
    from answerable.interfaces.http.guards.callers import OWN_MACHINE, Rates
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
        # With keys, or behind a proxy, an admin may be a person who must not read this account's files.
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
    # A second signal ends the process at once, even if threads are still running.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.exit(0)


def mcp(
    library: LibrariesOption = None,
    model: ModelOption = None,
    write: Annotated[bool, Option("--write", help="Let assistants add and remove documents.")] = False,
    root: Annotated[
        list[Path] | None,
        Option(metavar="FOLDER", help="With --write: allow adding files from this folder (repeatable)."),
    ] = None,
    http: Annotated[Text, Option(metavar="HOST:PORT", help="Serve by HTTP, for example at 127.0.0.1:8765.")] = None,
    keys: Annotated[Path | None, Option(metavar="FILE", help="With --http: require a key from this file.")] = None,
) -> None:
    """Serve the library to assistants by the Model Context Protocol, over standard input and output or HTTP.

    Assistants can search, ask, list documents and read passages.
    """
    from answerable.interfaces.mcp.server import LibraryServer

    if write and len(library or ()) > 1:
        raise SettingsError("Only one library can be changed: with --write, name one with --library.")
    with open_libraries(library, model, create=write) as opened:
        server = LibraryServer(opened, write, root or ())
        if http is None:
            server.run("stdio")
            return
        from answerable.interfaces.mcp.http_server import parse_listen, serve_http

        found = Keys(keys.expanduser()) if keys else None
        # Print to the error stream: `answerable mcp` leaves standard output to the protocol, even with HTTP.
        serve_http(server, *parse_listen(http), found, lambda address: print_progress(f"serving at {address}"))


keys = typer.Typer(rich_markup_mode=None, add_completion=False)

FileArgument = Annotated[Path, Argument(metavar="FILE", help="The key file of answerable serve --keys.")]


@keys.callback()
def start() -> None:
    """Make, list and remove the keys of `answerable serve`."""


@keys.command(epilog=examples("keys add"))
def add(
    file: FileArgument,
    role: Annotated[Role, Option(help="ask may ask, search and read; admin may also add and remove.")],
    library: Annotated[Text, Option(metavar="NAME", help="The only library it opens (default: all).")] = None,
    name: Annotated[str, Option(metavar="WHO", help="A note on whose key it is.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a key and show it once: the file keeps only its hash. A running server accepts it at once."""
    key, secret = Keys(file).add(role, library, name)
    if as_json:
        print_json({"id": key.id, "key": secret})
    else:
        typer.echo(secret)
        typer.echo(f"Save it now: it is not shown again. Its id is {key.id}.", err=True)


@keys.command("list", epilog=examples("keys list"))
def list_keys(file: FileArgument, as_json: JsonOption = False) -> None:
    """List the keys without their secrets."""
    found = Keys(file).list()
    if as_json:
        fields = ("id", "role", "library", "name", "made")
        print_json({"keys": [{field: getattr(key, field) for field in fields} for key in found]})
    for key in () if as_json else found:
        about = (key.role, key.library or "all libraries", key.made, key.name)
        print_text((key.id, "cyan"), "  ", one_line(", ".join(filter(None, about))))


@keys.command(epilog=examples("keys remove"))
def remove(
    file: FileArgument,
    key: Annotated[str, Argument(metavar="ID", help="The id shown by answerable keys list.")],
    as_json: JsonOption = False,
) -> None:
    """Remove a key. A running server refuses it from the next request on."""
    removed = Keys(file).remove(key)
    if as_json:
        print_json({"removed": removed.id})
    else:
        print_text(f"removed {removed.id}", f" ({one_line(removed.name)})" if removed.name else "")
