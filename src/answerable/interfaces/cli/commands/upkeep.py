"""The commands that look after an installation: what runs here, and what decides on refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from answerable.interfaces.cli import render
from answerable.interfaces.cli.options import JsonOption, LibraryOption
from answerable.settings import load_settings


def doctor(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Show what runs here. Versions, the embedder's runtime and speed, the library, and settings that were changed."""
    from answerable.interfaces.cli.commands.doctor import diagnose

    render.diagnosis(diagnose(load_settings({"library": library})), as_json)


def calibrate(
    sets: Annotated[list[str], typer.Argument(metavar="FOLDER", help="Question sets in BEIR's layout.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the figures; keep nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Fit to your embedder what decides on refusals. Half of the sets' articles are fitted on, the others measured.

    A set is a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv. Two or more on different subjects are best:
    the questions of one are asked of the others too. The local embedder comes fitted.
    """
    from answerable.interfaces.cli.commands.calibrate import Calibrating

    calibrating = Calibrating(load_settings(), [Path(folder) for folder in sets])
    found = calibrating.run()
    render.calibration(found, "" if dry_run else calibrating.keep(found.gate), as_json)
