"""Redraw a block of terminal output in place, even after the terminal is resized."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import TracebackType

from rich.console import Console, RenderableType

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
        """Return the current size of the terminal. Rich would use the environment's, which misses a resize."""
        try:
            columns, rows = os.get_terminal_size(self._console.file.fileno())
        except OSError:
            columns = rows = 0
        return columns or self._console.width, max(rows or self._console.height, 2)

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()
