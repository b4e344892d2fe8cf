"""What `answerable eval` does: measures question sets or a library, prints the figures, writes drafts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from answerable import __version__
from answerable.errors import SettingsError
from answerable.evaluation.asked import asked_of
from answerable.evaluation.configurations import parse_retrievers
from answerable.evaluation.evaluation import Plan, evaluate, set_store
from answerable.evaluation.html_report import write_html
from answerable.evaluation.question_lists import find_documents, read_questions
from answerable.evaluation.report import FIGURES, Difference, Figure, Group, Report, SetReport, below
from answerable.evaluation.sets import QuestionSet
from answerable.evaluation.suggest import suggest, write_drafts
from answerable.interfaces.cli import render
from answerable.interfaces.cli.printing import console, one_line, print_json, print_text
from answerable.interfaces.cli.progress import add_progress
from answerable.settings import Settings
from answerable.wiring.build import build_embedder, build_library, build_store, without_password

_Value = TypeVar("_Value")

_STEP = 10
"""After how many questions the count on the screen changes."""


@dataclass(frozen=True, slots=True)
class Evaluating:
    """What was asked for: `folders` of question sets, or a list of questions for the library of the settings."""

    settings: Settings
    folders: Sequence[Path]
    questions: Path | None
    compare: str
    retrieval_only: bool
    sample: int
    seed: int
    as_json: bool

    def run(self) -> Report:
        """The report. Raises SourceError, SettingsError and LibraryError."""
        if bool(self.folders) == bool(self.questions):
            raise SettingsError(
                "What to measure? Give folders with question sets, or a list of questions on a library with "
                "--questions FILE. --suggest FILE writes a first list."
            )
        retrievers = parse_retrievers(self.compare)
        plan = Plan(retrievers, not self.retrieval_only, self.sample, self.seed, self._show)
        sets = list(self._sets(plan) if self.folders else self._library(plan))
        settings = self.settings
        return Report(
            __version__, settings.embedder, "none" if self.retrieval_only else settings.model, self.seed, sets
        )

    def _sets(self, plan: Plan) -> Iterator[SetReport]:
        embedder = build_embedder(self.settings)
        for folder in self.folders:
            questions = QuestionSet.load(folder, str(folder))
            with ExitStack() as stack:
                with add_progress(enabled=not self.as_json) as progress:
                    store = stack.enter_context(set_store(questions, self.settings, embedder, progress))
                yield evaluate(questions.name, asked_of(questions), self.settings, store, embedder, plan)

    def _library(self, plan: Plan) -> Iterator[SetReport]:
        assert self.questions is not None
        listed = read_questions(self.questions)
        settings = self.settings
        with closing(build_store(settings.library_address, False, settings.qdrant_api_key)) as store:
            asked = find_documents(listed, list(store.documents()), self.questions)
            embedder = build_embedder(settings, store.fingerprint)
            name = f"{self.questions.name} on {without_password(settings.library_address)}"
            yield evaluate(name, asked, settings, store, embedder, plan)

    def _show(self, name: str, done: int, total: int) -> None:
        if self.as_json or not sys.stderr.isatty() or (done % _STEP and done < total):
            return
        sys.stderr.write(f"\r{one_line(name)}: {done:,} of {total:,} questions " + ("\n" if done == total else ""))
        sys.stderr.flush()


def write_suggestions(settings: Settings, path: Path, count: int, seed: int) -> int:
    """Writes drafts from the library's passages, and says how many there are."""
    with build_library(settings, create=False) as library:
        drafts = suggest(library, count, seed)
    if not drafts:
        raise SettingsError(
            "The rules find no draft in this library: they know English, Spanish and Portuguese sentences that define "
            "or date something, count, or name who did it. Write a list yourself: question, answer, document."
        )
    write_drafts(drafts, path)
    return len(drafts)


def show(report: Report, floors: Mapping[str, float], html: Path | None, as_json: bool) -> bool:
    """Prints the report, writes the page, and says which floors aren't reached; whether all are."""
    missed = below(report, floors)
    if html is not None:
        write_html(report, html)
    if as_json:
        print_json({**report.to_json(), "below_floor": missed})
    else:
        for each in report.sets:
            _print_set(each)
    for sentence in missed:
        render.error(sentence)
    return not missed


def _print_set(found: SetReport) -> None:
    print_text(
        (found.name, "bold"),
        f": {found.questions:,} questions, {found.unanswerable:,} without an answer; {found.documents:,} documents, "
        f"{found.passages:,} passages",
    )
    columns = [{figure.name: figure for figure in each.figures} for each in found.measured]
    changes = [{change.name: change for change in each.differences} for each in found.measured]
    rows = []
    for name in (name for name in FIGURES if any(name in column for column in columns)):
        rows.append([name, *(_told(*each) for each in zip(_of(name, columns), _of(name, changes), strict=True))])
    for at, step in enumerate(found.measured[0].latencies):
        latencies = (each.latencies[at] for each in found.measured)
        rows.append([f"{step.step} p50/p95", *(f"{1000 * one.p50:.0f}/{1000 * one.p95:.0f} ms" for one in latencies)])
    if found.measured[0].curve:
        rows.append(["risk area (lower)", *(f"{each.risk_area:.3f}" for each in found.measured)])
        points = (each.operating for each in found.measured)
        rows.append(["wrong of answered", *(f"{now.risk:.3f} of {now.coverage:.3f}" if now else "–" for now in points)])
    _print_table(["", *(each.configuration for each in found.measured)], rows)
    for groups in (found.measured[0].by_language, found.measured[0].by_type):
        if groups:
            _print_groups(groups)


def _print_groups(groups: Sequence[Group]) -> None:
    shown = ("ndcg@10", "answer_containment", "citation_precision", "answered", "refusal_recall")
    known = [{figure.name: figure for figure in group.figures} for group in groups]
    names = [name for name in shown if any(name in each for each in known)]
    rows = [
        [group.name, f"{group.questions:,}", *(_told(each.get(name)) for name in names)]
        for group, each in zip(groups, known, strict=True)
    ]
    _print_table(["", "questions", *names], rows)


def _print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD)
    for at, name in enumerate(header):
        made.add_column(name, justify="right" if at else "left")
    for row in rows:
        made.add_row(*(Text(one_line(cell)) for cell in row))
    console().print(made)


def _of(name: str, columns: Sequence[Mapping[str, _Value]]) -> list[_Value | None]:
    return [column.get(name) for column in columns]


def _told(figure: Figure | None, change: Difference | None = None) -> str:
    """A figure with its interval, or with how it differs from the default's."""
    if figure is None:
        return "–"
    if change is None:
        return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"
    return f"{figure.value:.3f} {change.value:+.3f} p={change.p:.3f}"
