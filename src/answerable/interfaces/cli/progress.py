"""Progress of `answerable add`: bars for the current document and for all or, without a terminal, lines."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import PurePath

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, TextColumn
from rich.progress import Progress as Bars
from rich.text import Text

from answerable.indexing.ingest import OnProgress, Progress
from answerable.interfaces.cli.live import Live
from answerable.interfaces.cli.printing import clean, print_progress

NAME_WIDTH = 28
# Seconds between two lines: few for a log of hours, and a command of some seconds prints none.
EVERY = 20.0


@contextmanager
def add_progress(enabled: bool, every: float = EVERY) -> Iterator[OnProgress | None]:
    """Show progress bars on the error stream or, if it is no terminal, a line every so many seconds."""
    console = Console(stderr=True)
    started = time.monotonic()
    if not enabled:
        yield None
        return
    if not console.is_terminal or console.is_dumb_terminal:
        tell = _from_time_to_time(every)
        yield lambda progress: tell(
            f"{_file(progress)}, {_pace(progress, time.monotonic() - started)}: {_name(progress)}"
        )
        return
    columns: tuple[ProgressColumn, ...] = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[count]}", markup=False, justify="right"),
    )
    bars = Bars(*columns, console=console)
    document = bars.add_task("", total=None, count="")
    overall = bars.add_task("", total=None, count="")
    with Live(console, bars.get_renderable):

        def show(progress: Progress) -> None:
            bars.update(
                document,
                description=_fit(clean(_name(progress))),
                completed=progress.document_done,
                total=progress.document_total or None,
                count=f"{progress.document_done}/{progress.document_total}" if progress.document_total else "reading",
            )
            bars.update(
                overall,
                description=_file(progress),
                completed=progress.chunks_done,
                total=_expected_chunks(progress) or None,
                count=_pace(progress, time.monotonic() - started),
            )

        yield show


@contextmanager
def count_progress(unit: str, enabled: bool, every: float = EVERY) -> Iterator[Callable[[int, int], None]]:
    """Show `3 of 20 UNIT` on the error stream until the work is done or, if it is no terminal, from time to time."""
    console = Console(stderr=True)
    draws = enabled and console.is_terminal and not console.is_dumb_terminal
    tell = _from_time_to_time(math.inf if draws or not enabled else every)
    counted = ""

    def show(done: int, total: int) -> None:
        nonlocal counted
        counted = f"{done:,} of {total:,} {unit}"
        tell(counted)

    if not draws:
        yield show
        return
    with Live(console, lambda: Text(counted, style="dim")):
        yield show


def _from_time_to_time(every: float) -> Callable[[str], None]:
    """Return a function that prints a line, unless it did so, or was made, within these seconds."""
    last = time.monotonic()

    def tell(line: str) -> None:
        nonlocal last
        if time.monotonic() - last >= every:
            last = time.monotonic()
            print_progress(line)

    return tell


def _name(progress: Progress) -> str:
    return PurePath(progress.source).name or progress.source


def _file(progress: Progress) -> str:
    return f"file {min(progress.sources_done + 1, progress.sources_total)} of {progress.sources_total}"


def _pace(progress: Progress, seconds: float) -> str:
    """Return the number of passages done, the passages per second and the time left, as text."""
    if not progress.chunks_done:
        return "0 passages"
    rate = progress.chunks_done / max(seconds, 0.1)
    left = timedelta(seconds=round((_expected_chunks(progress) - progress.chunks_done) / rate))
    return f"{progress.chunks_done} passages, {rate:.1f}/s, {left} left"


def _expected_chunks(progress: Progress) -> int:
    """Return the expected total of chunks, assuming that unread sources have as many chunks as those read."""
    read = max(min(progress.sources_done, progress.sources_total), 1)
    return max(progress.chunks_total, round(progress.chunks_total / read * progress.sources_total))


def _fit(text: str) -> str:
    return text if len(text) <= NAME_WIDTH else f"…{text[1 - NAME_WIDTH :]}"
