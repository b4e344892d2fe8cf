"""`answerable export` and `answerable import`: write a library to a file, and load such a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from answerable.interfaces.cli.options import JsonOption, LibraryOption
from answerable.interfaces.cli.printing import print_json
from answerable.settings import load_settings


def export(
    file: Annotated[Path, Argument(metavar="FILE", help="The file to write, such as library.zip.")],
    library: LibraryOption = None,
    force: Annotated[bool, Option("--force", help="Overwrite an existing file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Export the library with its vectors to a zip of plain JSON lines and NumPy arrays (docs/backup.md).

    Only you may read the file. The same library always gives the same bytes, whatever its store.
    """
    from answerable.interfaces.cli.progress import count_progress
    from answerable.wiring.whole_library import export_library

    with count_progress("documents", enabled=not as_json) as count:
        settings = load_settings({"library": library})
        done = export_library(settings, file, force, lambda now: count(now.exported, now.documents))
    if as_json:
        print_json({"file": str(file), "documents": done.exported, "chunks": done.chunks, "bytes": done.bytes})
    else:
        typer.echo(f"exported {done.exported:,} documents ({done.chunks:,} passages), {done.bytes:,} bytes")


def import_(
    file: Annotated[Path, Argument(metavar="FILE", help="A file written by answerable export.")],
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import an exported file into the library without embedding it again. Documents already there are skipped.

    The whole file is checked before anything changes. Run the same command again to finish an interrupted import.
    """
    from answerable.interfaces.cli.progress import count_progress
    from answerable.wiring.whole_library import import_library

    with count_progress("documents", enabled=not as_json) as count:
        settings = load_settings({"library": library})
        done = import_library(settings, file, lambda now: count(now.copied + now.unchanged, now.documents))
    if as_json:
        print_json({"imported": done.copied, "unchanged": done.unchanged, "chunks": done.chunks})
    else:
        typer.echo(f"imported {done.copied:,} documents ({done.chunks:,} passages), {done.unchanged:,} already there")
