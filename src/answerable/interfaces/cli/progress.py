"""Progress bars of `answerable add`: one for the current document and one for all documents."""

from __future__ import annotations

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
from answerable.interfaces.cli.printing import clean

NAME_WIDTH = 28


@contextmanager
def add_progress(enabled: bool) -> Iterator[OnProgress | None]:
    """Show progress bars on the error stream if it is a terminal."""
    console = Console(stderr=True)
    if not (enabled and console.is_terminal and not console.is_dumb_terminal):
        yield None
        return
    columns: tuple[ProgressColumn, ...] = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[count]}", markup=False, justify="right"),
    )
    started = time.monotonic()
    bars = Bars(*columns, console=console)
    document = bars.add_task("", total=None, count="")
    overall = bars.add_task("", total=None, count="")
    with Live(console, bars.get_renderable):

        def show(progress: Progress) -> None:
            name = PurePath(progress.source).name or progress.source
            number = min(progress.sources_done + 1, progress.sources_total)
            bars.update(
                document,
                description=_fit(clean(name)),
                completed=progress.document_done,
                total=progress.document_total or None,
                count=f"{progress.document_done}/{progress.document_total}" if progress.document_total else "reading",
            )
            bars.update(
                overall,
                description=f"file {number} of {progress.sources_total}",
                completed=progress.chunks_done,
                total=_expected_chunks(progress) or None,
                count=_pace(progress, time.monotonic() - started),
            )

        yield show


@contextmanager
def count_progress(unit: str, enabled: bool) -> Iterator[Callable[[int, int], None]]:
    """Show `3 of 20 UNIT` on the error stream if it is a terminal, until the work is done."""
    console = Console(stderr=True)
    counted = ""

    def show(done: int, total: int) -> None:
        nonlocal counted
        counted = f"{done:,} of {total:,} {unit}"

    if not (enabled and console.is_terminal and not console.is_dumb_terminal):
        yield show
        return
    with Live(console, lambda: Text(counted, style="dim")):
        yield show


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
