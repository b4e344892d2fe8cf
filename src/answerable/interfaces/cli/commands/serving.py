"""The commands that serve a library to programs and people."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from answerable.interfaces.cli.options import LibraryOption, ModelOption, open_library


def serve(
    library: LibraryOption = None,
    also: Annotated[
        Optional[list[str]],
        typer.Option(metavar="NAME=ADDRESS", help="Serve this library too, under that name (repeatable)."),
    ] = None,
    model: ModelOption = None,
    host: Annotated[str, typer.Option(metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="NUMBER", min=0, max=65535, help="0 takes any that is free.")] = 8000,
    keys: Annotated[
        Optional[str], typer.Option(metavar="FILE", help="Only who has one of these keys is served.")
    ] = None,
    data: Annotated[
        Optional[str], typer.Option(metavar="FOLDER", help="Where conversations and uploads are kept.")
    ] = None,
    session_days: Annotated[
        float, typer.Option(metavar="DAYS", min=0, help="How long a conversation is kept after its last question.")
    ] = 30.0,
    base_path: Annotated[str, typer.Option(metavar="PATH", help="The path that a proxy serves it under.")] = "",
    server_name: Annotated[
        Optional[list[str]], typer.Option(metavar="HOST", help="A name that it is reached by (repeatable).")
    ] = None,
    allow_origin: Annotated[
        Optional[list[str]],
        typer.Option(metavar="ORIGIN", help="Let pages of this site use it, as https://example.org (repeatable)."),
    ] = None,
    proxy: Annotated[
        Optional[list[str]],
        typer.Option(metavar="ADDRESS", help="Believe this proxy whom it speaks for (repeatable)."),
    ] = None,
    asks_per_minute: Annotated[
        Optional[int],
        typer.Option(metavar="NUMBER", help="How often one key, and one address, may ask (default with keys: 120)."),
    ] = None,
) -> None:
    """Serve the library by HTTP: a web page, and an API for programs. Without keys to this machine only."""
    from answerable.interfaces.cli.commands.serve import Serving
    from answerable.interfaces.cli.commands.serve import serve as run_server

    run_server(
        Serving(
            library=library,
            also=also or (),
            model=model,
            host=host,
            port=port,
            keys=keys,
            data=data,
            session_days=session_days,
            base_path=base_path,
            server_names=server_name or (),
            allow_origins=allow_origin or (),
            proxies=proxy or (),
            asks_per_minute=asks_per_minute,
        )
    )


def mcp(
    library: LibraryOption = None,
    model: ModelOption = None,
    write: Annotated[bool, typer.Option("--write", help="Let assistants add and remove documents too.")] = False,
    root: Annotated[
        Optional[list[str]],
        typer.Option(metavar="FOLDER", help="With --write: files may be added from this folder (repeatable)."),
    ] = None,
    http: Annotated[
        Optional[str], typer.Option(metavar="HOST:PORT", help="Serve by HTTP, as at 127.0.0.1:8765.")
    ] = None,
    keys: Annotated[
        Optional[str], typer.Option(metavar="FILE", help="With --http: only who has one of these keys is served.")
    ] = None,
) -> None:
    """Serve the library to assistants by the Model Context Protocol, over standard input and output or HTTP.

    They can search, ask, list documents and read passages.
    """
    from answerable.interfaces.cli.commands.mcp import serve_mcp

    with open_library(library, model, create=write) as opened:
        serve_mcp(opened, write, root or (), http, keys)
