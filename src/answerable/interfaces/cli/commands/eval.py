"""`answerable eval`: measure how well questions are answered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from answerable.interfaces.cli.options import JsonOption, LibraryOption, MeasureOptions, ModelOption, Texts
from answerable.settings import load_settings


def evaluate(
    measure: MeasureOptions,
    folders: Annotated[list[Path] | None, Argument(metavar="FOLDER", help="Question sets in BEIR's layout.")] = None,
    floor: Annotated[
        Texts, Option(metavar="FIGURE=VALUE", help="Exit with 1 below this value: ndcg@10=0.7 (repeatable).")
    ] = None,
    library: LibraryOption = None,
    model: ModelOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how well questions are answered, on question sets or on a library with your own questions.

    A set is a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv. A question list has the column question, and
    answer, document or unanswerable; docs/evaluation.md explains the figures.
    """
    from answerable.evaluation.report import parse_floors
    from answerable.interfaces.cli import measurement

    settings = load_settings({"library": library, "model": model})
    floors = parse_floors(floor or ())
    report = measurement.measure(settings, folders or (), measure, as_json)
    if not measurement.show(report, floors, as_json):
        raise typer.Exit(1)
