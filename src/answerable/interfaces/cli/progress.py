"""Progress: on a terminal a block that is redrawn in place, bars of `answerable add` or a line; in a log, lines."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import PurePath
from types import TracebackType

from rich.console import Console, RenderableType
from rich.progress import BarColumn, ProgressColumn, TextColumn
from rich.progress import Progress as Bars
from rich.text import Text

from answerable.indexing.ingest import OnProgress, Progress
from answerable.interfaces.cli.printing import clean, print_progress

NAME_WIDTH = 28  # columns; of 80, half are left for the bar and the count
# Seconds between two lines in a log: a command of hours prints few lines, a command of seconds prints none.
EVERY = 10.0


@contextmanager
def add_progress(enabled: bool, every: float = EVERY) -> Iterator[OnProgress | None]:
    """Show progress bars on the error stream or, if it isn't a terminal, a line every `every` seconds."""
    console = Console(stderr=True)
    started = time.monotonic()
    if not enabled:
        yield None
        return
    if not _can_draw(console):
        latest: list[Progress] = []

        def keep(progress: Progress) -> None:
            latest[:] = [progress]

        with _told(lambda: "".join(_line(each, time.monotonic() - started) for each in latest), every):
            yield keep
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
    """Show `3 of 20 UNIT` on the error stream until the work is done or, if it isn't a terminal, from time to time."""
    counted = ""

    def show(done: int, total: int) -> None:
        nonlocal counted
        counted = f"{done:,} of {total:,} {unit}"

    with _shown(lambda: counted, enabled, every):
        yield show


@contextmanager
def working(doing: str, enabled: bool, every: float = EVERY) -> Iterator[None]:
    """Show what is being done, and for how long, as `count_progress` does: for work that counts nothing."""
    started = time.monotonic()
    with _shown(lambda: f"{doing}: {time.monotonic() - started:.0f} s", enabled, every):
        yield


@contextmanager
def _shown(look: Callable[[], str], enabled: bool, every: float) -> Iterator[None]:
    console = Console(stderr=True)
    if not enabled:
        yield
    elif _can_draw(console):
        with Live(console, lambda: Text(look(), style="dim")):
            yield
    else:
        with _told(look, every):
            yield


@contextmanager
def _told(look: Callable[[], str], every: float) -> Iterator[None]:
    """Print the line that `look` returns every `every` seconds, whether or not there is news."""
    is_over = threading.Event()

    def tell() -> None:
        while not is_over.wait(every):
            if line := look():
                print_progress(line)

    telling = threading.Thread(target=tell, daemon=True)
    telling.start()
    try:
        yield
    finally:
        is_over.set()
        telling.join()


def _can_draw(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal


def _line(progress: Progress, seconds: float) -> str:
    return f"{_file(progress)}, {_pace(progress, seconds)}: {_name(progress)}"


def _name(progress: Progress) -> str:
    return PurePath(progress.source).name or progress.source


def _file(progress: Progress) -> str:
    # All files are stored, and their vectors are being made.
    if not progress.sources_total:
        return "making vectors"
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


# Seconds between two drawings.
_PACE = 0.1
_ERASE_BELOW = "\x1b[J"
_CUT_LINES, _WRAP_LINES = "\x1b[?7l", "\x1b[?7h"
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


class Live:
    """A context manager that draws the output of `look()` ten times a second, and erases it at the end.

    The cursor rests on the block's first character, and stays there when a narrower terminal rewraps the lines, so each
    drawing can be erased completely. If the block is higher than the screen, only its end is drawn.
    """

    def __init__(self, console: Console, look: Callable[[], RenderableType]) -> None:
        self._console = console
        self._look = look
        self._is_over = threading.Event()
        self._drawing = threading.Thread(target=self._draw_until_over, daemon=True)

    def __enter__(self) -> Live:
        self._write(_HIDE_CURSOR)
        self._drawing.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._drawing.join()
        self._write(_ERASE_BELOW + _SHOW_CURSOR)

    def _draw_until_over(self) -> None:
        self._draw()
        while not self._is_over.wait(_PACE):
            self._draw()
        self._draw()

    def _draw(self) -> None:
        width, height = self._size()
        with self._console.capture() as captured:
            self._console.print(self._look(), width=width)
        lines = captured.get().rstrip("\n").split("\n")[1 - height :]
        back = f"\r\x1b[{len(lines) - 1}A" if len(lines) > 1 else "\r"
        self._write(_CUT_LINES + _ERASE_BELOW + "\n".join(lines) + back + _WRAP_LINES)

    def _size(self) -> tuple[int, int]:
        """Return the current size of the terminal. Rich would use the environment's size, which ignores a resize."""
        try:
            columns, rows = os.get_terminal_size(self._console.file.fileno())
        except OSError:
            columns = rows = 0
        return columns or self._console.width, max(rows or self._console.height, 2)

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()
