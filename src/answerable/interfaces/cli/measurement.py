"""The work of `answerable eval`: measure question sets or a library, and print the figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from answerable import __version__
from answerable.errors import SettingsError
from answerable.evaluation.evaluation import Plan, evaluate, evaluate_list, set_store
from answerable.evaluation.judging import parse_retrievers
from answerable.evaluation.report import FIGURES, Difference, Figure, Group, Report, SetReport, below
from answerable.evaluation.sets import QuestionSet, asked_of
from answerable.interfaces.cli.options import MeasureOptions
from answerable.interfaces.cli.printing import console, counted, one_line, print_error, print_json, print_text
from answerable.interfaces.cli.progress import add_progress, count_progress
from answerable.protocols import Embedder
from answerable.settings import Settings
from answerable.wiring.build import build_embedder, without_password


def measure(settings: Settings, folders: Sequence[Path], options: MeasureOptions, as_json: bool) -> Report:
    """Measure question sets, or the library with a question list. Raise SourceError, SettingsError, LibraryError."""
    if bool(folders) == bool(options.questions):
        raise SettingsError(
            "What to measure? Give folders with question sets, or questions on a library with --questions FILE."
        )

    is_search = options.retrieval_only
    plan = Plan(parse_retrievers(options.compare), not is_search, options.sample, options.seed)
    if options.questions:
        sets = [_measure_library(settings, options.questions, plan, as_json)]
    else:
        embedder = build_embedder(settings)
        sets = [_measure_set(folder, settings, embedder, plan, as_json) for folder in folders]
    return Report(__version__, settings.embedder, "none" if is_search else settings.model, options.seed, sets)


def _measure_set(folder: Path, settings: Settings, embedder: Embedder, plan: Plan, as_json: bool) -> SetReport:
    questions = QuestionSet.load(folder, str(folder))
    with ExitStack() as stack:
        with add_progress(enabled=not as_json) as progress:
            store = stack.enter_context(set_store(questions, settings, embedder, progress))
        plan = stack.enter_context(_shown(plan, questions.name, as_json))
        return evaluate(questions.name, asked_of(questions), settings, store, embedder, plan)


def _measure_library(settings: Settings, path: Path, plan: Plan, as_json: bool) -> SetReport:
    name = f"{path.name} on {without_password(settings.library_address)}"
    with _shown(plan, name, as_json) as plan:
        found, listed, left_out = evaluate_list(settings, path, plan)
    if left_out:
        print_text(
            f"{counted(left_out, 'vote')} of {listed:,} passed over: nothing is expected yet, or the document is gone. "
            f"To count them, fill in `answer`, `document` or `unanswerable` in {path}.",
            stderr=True,
        )
    return found


@contextmanager
def _shown(plan: Plan, name: str, as_json: bool) -> Iterator[Plan]:
    """Show progress: how many questions have been asked."""
    with count_progress(f"questions of {one_line(name)}", enabled=not as_json) as count:
        yield replace(plan, on_asked=lambda _, done, total: count(done, total))


def show(report: Report, floors: Mapping[str, float], as_json: bool) -> bool:
    """Print the report and each missed floor; return whether all floors are reached."""
    missed = below(report, floors)
    if as_json:
        print_json({**report.to_json(), "below_floor": missed})
    else:
        for each in report.sets:
            _print_set(each)
    for sentence in missed:
        print_error(sentence)
    return not missed


def _print_set(found: SetReport) -> None:
    print_text(
        (found.name, "bold"),
        f": {found.questions:,} questions, {found.unanswerable:,} without an answer; {found.documents:,} documents, "
        f"{found.passages:,} passages",
    )
    columns = [
        ({figure.name: figure for figure in each.figures}, {change.name: change for change in each.differences})
        for each in found.measured
    ]
    rows = [
        [name, *(_cell(figures.get(name), changes.get(name)) for figures, changes in columns)]
        for name in FIGURES
        if any(name in figures for figures, _ in columns)
    ]
    for at, step in enumerate(found.measured[0].latencies):
        latencies = (each.latencies[at] for each in found.measured)
        rows.append([f"{step.step} p50/p95", *(f"{1000 * one.p50:.0f}/{1000 * one.p95:.0f} ms" for one in latencies)])
    points = [each.operating for each in found.measured]
    if any(points):
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
        [group.name, f"{group.questions:,}", *(_cell(each.get(name)) for name in names)]
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


def _cell(figure: Figure | None, change: Difference | None = None) -> str:
    """Return a figure as text, with its interval or with its difference from the default configuration's figure."""
    if figure is None:
        return "–"
    if change is None:
        return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"
    return f"{figure.value:.3f} {change.value:+.3f} p={change.p:.3f}"
