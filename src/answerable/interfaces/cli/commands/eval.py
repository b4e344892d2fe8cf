"""`answerable eval`: measure how well questions are answered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Optional

import typer
from typer import Argument, Option

from answerable.interfaces.cli.options import JsonOption, LibraryOption, MeasureOptions, ModelOption, Texts
from answerable.interfaces.cli.printing import print_text
from answerable.settings import load_settings


@dataclass(frozen=True, slots=True)
class OutcomeOptions:
    """The files that `eval` writes, and the conditions under which it fails."""

    floor: Annotated[
        Texts, Option(metavar="FIGURE=VALUE", help="Exit with 1 below this value: ndcg@10=0.7 (repeatable).")
    ] = None
    html: Annotated[Optional[Path], Option(metavar="FILE", help="Also write a report with plots.")] = None
    suggest: Annotated[
        Optional[Path], Option(metavar="FILE", help="Draft questions from the library for you to correct.")
    ] = None
    drafts: Annotated[int, Option(metavar="NUMBER", min=1, help="Maximum number of drafts.")] = 20


def evaluate(
    measure: MeasureOptions,
    outcome: OutcomeOptions,
    folders: Annotated[Optional[list[Path]], Argument(metavar="FOLDER", help="Question sets in BEIR's layout.")] = None,
    library: LibraryOption = None,
    model: ModelOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how well questions are answered, on question sets or on a library with your own questions.

    A set is a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv. A question list has the column question, and
    answer, document or unanswerable; docs/evaluation.md explains the figures; --suggest drafts a list.
    """
    from answerable.evaluation.report import parse_floors
    from answerable.interfaces.cli import measurement

    settings = load_settings({"library": library, "model": model})
    if outcome.suggest:
        path = outcome.suggest
        count = measurement.write_suggestions(settings, path, outcome.drafts, measure.seed)
        print_text(f"{count} drafts are in {path}. Correct them, then: answerable eval --questions {path}")
        return
    floors = parse_floors(outcome.floor or ())
    report = measurement.measure(settings, folders or (), measure, as_json)
    if not measurement.show(report, floors, outcome.html, as_json):
        raise typer.Exit(1)
