"""The commands that write a library to a file, and read it from there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from answerable.interfaces.cli.options import JsonOption, LibraryOption
from answerable.settings import load_settings
from answerable.wiring.upkeep import export_library, import_library

if TYPE_CHECKING:
    from answerable.maintenance.backup.exporting import ExportReport
    from answerable.maintenance.copy import CopyReport


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What to write, as library.zip.")],
    library: LibraryOption = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there already.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the library to a file, with its vectors: a zip of plain JSON lines and NumPy arrays (docs/backup.md).

    Only you may read the file. The same library always gives the same bytes, from whichever store.
    """
    from answerable.interfaces.cli.printing import print_json
    from answerable.interfaces.cli.progress import count_progress

    with count_progress("documents", enabled=not as_json) as count:

        def show(now: ExportReport) -> None:
            count(now.exported, now.documents)

        done = export_library(load_settings({"library": library}), file, force, show)
    if as_json:
        print_json({"file": str(file), "documents": done.exported, "chunks": done.chunks, "bytes": done.bytes})
    else:
        typer.echo(f"exported {done.exported:,} documents ({done.chunks:,} passages), {done.bytes:,} bytes")


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What answerable export has written.")],
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put what an exported file holds into the library, without embedding again. What is there already stays.

    The whole file is checked before anything is changed. An interrupted import is finished by the same command.
    """
    from answerable.interfaces.cli.printing import print_json
    from answerable.interfaces.cli.progress import count_progress

    with count_progress("documents", enabled=not as_json) as count:

        def show(now: CopyReport) -> None:
            count(now.copied + now.unchanged, now.documents)

        done = import_library(load_settings({"library": library}), file, show)
    if as_json:
        print_json({"imported": done.copied, "unchanged": done.unchanged, "chunks": done.chunks})
    else:
        typer.echo(
            f"imported {done.copied:,} documents ({done.chunks:,} passages), {done.unchanged:,} were there already"
        )
