"""The bars of `answerable add`: one for the document at hand, one for everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from answerable.ingestion import OnProgress, Progress


@contextmanager
def add_progress(enabled: bool) -> Iterator[OnProgress | None]:
    """Bars on the error stream while it is a terminal; otherwise nothing is shown."""
    console = Console(stderr=True)
    if not (enabled and console.is_terminal):
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        document = bars.add_task("", total=None, rate="")
        overall = bars.add_task("passages", total=None, rate="")

        def show(progress: Progress) -> None:
            name = PurePath(progress.source).name or progress.source
            bars.update(
                document, description=_fit(name), completed=progress.document_done, total=progress.document_total
            )
            bars.update(
                overall,
                description=_fit(f"file {progress.sources_done} of {progress.sources_total}"),
                completed=progress.chunks_done,
                total=progress.chunks_total,
                rate=f"{bars.tasks[1].speed or 0:.1f}/s",
            )

        yield show


def _fit(text: str, width: int = 28) -> str:
    return text if len(text) <= width else f"…{text[1 - width :]}"
