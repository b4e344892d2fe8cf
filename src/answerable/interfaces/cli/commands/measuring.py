"""The command `eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from answerable.interfaces.cli import render
from answerable.interfaces.cli.options import JsonOption, LibraryOption, ModelOption
from answerable.settings import load_settings


def evaluate(
    folders: Annotated[
        Optional[list[str]], typer.Argument(metavar="FOLDER", help="Question sets in BEIR's layout.")
    ] = None,
    questions: Annotated[
        Optional[str], typer.Option(metavar="FILE", help="Your own questions on a library, CSV or JSON lines.")
    ] = None,
    library: LibraryOption = None,
    model: ModelOption = None,
    compare: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Retrievers to set side by side: dense,bm25,minmax,scaled,scaled+sentences,"
            "scaled+sentences+feedback,hybrid,hybrid+rerank.",
        ),
    ] = "",
    floor: Annotated[
        Optional[list[str]],
        typer.Option(metavar="FIGURE=VALUE", help="Exit status 1 where it isn't reached, as ndcg@10=0.7 (repeatable)."),
    ] = None,
    html: Annotated[Optional[str], typer.Option(metavar="FILE", help="Write a report with plots too.")] = None,
    retrieval_only: Annotated[bool, typer.Option("--retrieval-only", help="Search only, ask for no answers.")] = False,
    sample: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, help="So many questions of each set, drawn at random (0: all).")
    ] = 0,
    suggest: Annotated[
        Optional[str], typer.Option(metavar="FILE", help="Write draft questions from the library, for you to correct.")
    ] = None,
    drafts: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="How many drafts, at most.")] = 20,
    seed: Annotated[int, typer.Option(metavar="NUMBER", min=0, help="Of everything drawn at random.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure how well questions are answered. On question sets, or on a library with questions of your own.

    A set is a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv. A list has the columns question, and answer,
    document or unanswerable; --suggest drafts one. docs/evaluation.md explains the figures.
    """
    from answerable.evaluation.report import parse_floors
    from answerable.interfaces.cli.commands.evaluate import Evaluating, show, write_suggestions

    settings = load_settings({"library": library, "model": model})
    if suggest:
        found = write_suggestions(settings, Path(suggest), drafts, seed)
        render.note(f"{found} drafts are in {suggest}. Correct them, then: answerable eval --questions {suggest}")
        return
    floors = parse_floors(floor or ())
    listed = Path(questions) if questions else None
    paths = [Path(folder) for folder in folders or ()]
    report = Evaluating(settings, paths, listed, compare, retrieval_only, sample, seed, as_json).run()
    if not show(report, floors, Path(html) if html else None, as_json):
        raise typer.Exit(1)
