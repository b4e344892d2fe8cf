"""`answerable copy`: copy a library to another store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument

from answerable.interfaces.cli.options import JsonOption
from answerable.interfaces.cli.printing import print_json
from answerable.settings import load_settings
from answerable.wiring.build import copy_library

if TYPE_CHECKING:
    from answerable.maintenance.copy import CopyReport


def copy(
    source: Annotated[
        str, Argument(metavar="FROM", help="The library to copy: a folder, postgresql://… or qdrant+http://….")
    ],
    target: Annotated[
        str, Argument(metavar="TO", help="The destination: a folder, postgresql://… or qdrant+http://….")
    ],
    as_json: JsonOption = False,
) -> None:
    """Copy a library to another place without embedding it again. Documents already there are skipped.

    Run the same command again to finish an interrupted copy.
    """
    shows = sys.stderr.isatty() and not as_json

    def show(now: CopyReport) -> None:
        typer.echo(f"\r{now.copied + now.unchanged} of {now.documents} documents ", nl=False, err=True)

    done = copy_library(source, target, show if shows else None, load_settings().qdrant_api_key)
    if shows and done.copied:
        typer.echo(err=True)
    if as_json:
        print_json({"copied": done.copied, "unchanged": done.unchanged, "chunks": done.chunks})
    else:
        typer.echo(f"copied {done.copied:,} documents ({done.chunks:,} passages), {done.unchanged:,} already there")
