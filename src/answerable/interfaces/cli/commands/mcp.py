"""What `answerable mcp` does: serves a library to assistants, by standard input and output or by HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from answerable.interfaces.cli import render
from answerable.interfaces.mcp.server import LibraryServer
from answerable.library import Library


def serve_mcp(library: Library, writes: bool, roots: Sequence[str], listen: str | None, keys: str | None) -> None:
    """Serves until the client closes the input, or the process is told to stop. Raises SettingsError."""
    server = LibraryServer(library, writes, [Path(root) for root in roots])
    if listen is None:
        server.run("stdio")
        return
    from answerable.interfaces.http.access.key_file import Keys
    from answerable.interfaces.mcp.http import parse_listen, serve_http

    found = Keys(Path(keys).expanduser()) if keys else None
    # Standard output belongs to the protocol, also where it goes by HTTP.
    serve_http(server, *parse_listen(listen), found, lambda address: render.working(f"serving at {address}"))
