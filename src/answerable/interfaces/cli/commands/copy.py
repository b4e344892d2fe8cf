"""`answerable copy`: copy a library to another store."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument

from answerable.interfaces.cli.options import JsonOption
from answerable.interfaces.cli.printing import print_json
from answerable.settings import load_settings


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
    from answerable.interfaces.cli.progress import count_progress
    from answerable.wiring.build import copy_library

    with count_progress("documents", enabled=not as_json) as count:
        key = load_settings().qdrant_api_key
        done = copy_library(source, target, lambda now: count(now.copied + now.unchanged, now.documents), key)
    if as_json:
        print_json({"copied": done.copied, "unchanged": done.unchanged, "chunks": done.chunks})
    else:
        typer.echo(f"copied {done.copied:,} documents ({done.chunks:,} passages), {done.unchanged:,} already there")
