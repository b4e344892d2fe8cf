"""`answerable mcp`: serve a library to assistants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

from typer import Option

from answerable.errors import SettingsError
from answerable.interfaces.cli.options import LibrariesOption, ModelOption, Text, open_libraries
from answerable.interfaces.cli.printing import print_progress


def mcp(
    library: LibrariesOption = None,
    model: ModelOption = None,
    write: Annotated[bool, Option("--write", help="Let assistants add and remove documents.")] = False,
    root: Annotated[
        Optional[list[Path]],
        Option(metavar="FOLDER", help="With --write: allow adding files from this folder (repeatable)."),
    ] = None,
    http: Annotated[Text, Option(metavar="HOST:PORT", help="Serve by HTTP, for example at 127.0.0.1:8765.")] = None,
    keys: Annotated[Optional[Path], Option(metavar="FILE", help="With --http: require a key from this file.")] = None,
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
        from answerable.interfaces.http.access.key_file import Keys
        from answerable.interfaces.mcp.http_server import parse_listen, serve_http

        found = Keys(keys.expanduser()) if keys else None
        # Standard output belongs to the protocol, even when serving by HTTP.
        serve_http(server, *parse_listen(http), found, lambda address: print_progress(f"serving at {address}"))
