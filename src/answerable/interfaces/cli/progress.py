"""Progress: on a terminal a block that is redrawn in place, bars of `answerable add` or a line; in a log, lines."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import PurePath

from rich.console import Console, RenderableType
from rich.text import Text

from answerable.indexing.ingest import OnProgress, Progress
from answerable.interfaces.cli.printing import clean, print_progress

NAME_WIDTH = 28  # columns; of 80, half are left for the bar and the count
# Seconds between two lines in a log: a command of hours prints few lines, a command of seconds prints none.
EVERY = 10.0


@contextmanager
def add_progress(enabled: bool, every: float = EVERY) -> Iterator[OnProgress | None]:
    """Show progress bars on the error stream or, if it isn't a terminal, a line every `every` seconds."""
    started = time.monotonic()
    latest: Progress | None = None

    def keep(progress: Progress) -> None:
        nonlocal latest
        latest = progress

    def line() -> str:
        return _line(latest, time.monotonic() - started) if latest else ""

    def bars() -> RenderableType:
        return _bars(latest, time.monotonic() - started) if latest else ""

    with _shown(line, enabled, every, bars):
        yield keep if enabled else None


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
def _shown(
    line: Callable[[], str], enabled: bool, every: float, drawn: Callable[[], RenderableType] | None = None
) -> Iterator[None]:
    """Draw what `drawn` returns, by default the line; where nothing can be drawn, print the line from time to time."""
    console = Console(stderr=True)

    def tell() -> None:
        if said := line():
            print_progress(said)

    if not enabled:
        yield
    elif console.is_terminal and not console.is_dumb_terminal:
        with live(console, drawn or (lambda: Text(line(), style="dim"))):
            yield
    else:
        with _repeated(tell, every):
            yield


@contextmanager
def _repeated(act: Callable[[], None], every: float) -> Iterator[None]:
    """Call `act` every `every` seconds in a thread, whether or not there is news."""
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.wait(every):
            act()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _bars(progress: Progress, seconds: float) -> RenderableType:
    """Return a bar of the document and one of everything."""
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[count]}", markup=False, justify="right"),
    )
    done, total = progress.document_done, progress.document_total
    count = f"{done}/{total}" if total else "reading"
    bars.add_task(_fit(clean(_name(progress))), completed=done, total=total or None, count=count)
    expected, pace = _expected_chunks(progress), _pace(progress, seconds)
    bars.add_task(_file(progress), completed=progress.chunks_done, total=expected or None, count=pace)
    return bars.get_renderable()


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


@contextmanager
def live(console: Console, look: Callable[[], RenderableType]) -> Iterator[None]:
    """Draw the output of `look` ten times a second, and erase it at the end.

    The cursor rests on the block's first character, and stays there when a narrower terminal rewraps the lines, so each
    drawing can be erased completely. If the block is higher than the screen, only its end is drawn.
    """

    def draw() -> None:
        width, height = _size(console)
        with console.capture() as captured:
            console.print(look(), width=width)
        lines = captured.get().rstrip("\n").split("\n")[1 - height :]
        back = f"\r\x1b[{len(lines) - 1}A" if len(lines) > 1 else "\r"
        write(_CUT_LINES + _ERASE_BELOW + "\n".join(lines) + back + _WRAP_LINES)

    def write(text: str) -> None:
        console.file.write(text)
        console.file.flush()

    write(_HIDE_CURSOR)
    draw()
    try:
        with _repeated(draw, _PACE):
            yield
    finally:
        draw()
        write(_ERASE_BELOW + _SHOW_CURSOR)


def _size(console: Console) -> tuple[int, int]:
    """Return the current size of the terminal. Rich would use the environment's size, which ignores a resize."""
    try:
        columns, rows = os.get_terminal_size(console.file.fileno())
    except OSError:
        columns = rows = 0
    return columns or console.width, max(rows or console.height, 2)
