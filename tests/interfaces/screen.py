"""A terminal's screen: what is left to see of the bytes that a command sent, also when it is resized meanwhile."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|[\s\S]")
_BEGUN = re.compile(r"\x1b(?:\[[?0-9;]*)?\Z")


class Screen:
    """Lines of cells without an end. `reflows` breaks long lines anew at a resize, as most terminals do; others cut."""

    def __init__(self, width: int, reflows: bool) -> None:
        self.width = width
        self._reflows = reflows
        self._wraps = True
        self._rows: list[str] = [""]
        # Whether the next row goes on with the same line.
        self._goes_on: list[bool] = [False]
        self._row = self._column = 0
        self._rest = ""

    @property
    def lines(self) -> list[str]:
        """What is seen, row by row."""
        return [row.rstrip() for row in self._rows]

    def feed(self, text: str) -> None:
        """Obeys what a command sends. A control sequence may come in pieces."""
        text = self._rest + text
        begun = _BEGUN.search(text)
        self._rest = begun[0] if begun else ""
        for found in _CONTROL.finditer(text, 0, len(text) - len(self._rest)):
            if found[2]:
                self._obey(found[1], found[2])
            elif found[0] == "\r":
                self._column = 0
            elif found[0] == "\n":
                self._down()
            else:
                self._put(found[0])

    def resize(self, width: int) -> None:
        """Gives the screen another width."""
        self.width = width
        if not self._reflows:
            self._rows = [row[:width] for row in self._rows]
            self._column = min(self._column, width - 1)
            return
        line, offset, lines = "", 0, []
        for number, row in enumerate(self._rows):
            if number == self._row:
                offset, cursor_line = len(line) + self._column, len(lines)
            line += row
            if not self._goes_on[number]:
                lines.append(line.rstrip())
                line = ""
        self._rows, self._goes_on = [], []
        for number, each in enumerate(lines):
            if number == cursor_line:
                self._row, self._column = len(self._rows) + offset // width, offset % width
            parts = [each[start : start + width] for start in range(0, max(len(each), 1), width)]
            self._rows += parts
            self._goes_on += [True] * (len(parts) - 1) + [False]

    def _obey(self, given: str, command: str) -> None:
        count = int(given) if given.isdecimal() else 1
        if given == "?7":
            self._wraps = command == "h"
        elif command == "A":
            self._row = max(0, self._row - count)
        elif command == "K":
            self._rows[self._row] = "" if given == "2" else self._rows[self._row][: self._column]
            self._goes_on[self._row] = False
        elif command == "J":
            self._rows[self._row :] = [self._rows[self._row][: self._column]]
            self._goes_on[self._row :] = [False]

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append("")
            self._goes_on.append(False)

    def _put(self, character: str) -> None:
        if self._column == self.width:
            if self._wraps:
                self._goes_on[self._row] = True
                self._down()
                self._column = 0
            else:
                self._column -= 1
        row = self._rows[self._row].ljust(self._column)
        self._rows[self._row] = row[: self._column] + character + row[self._column + 1 :]
        self._column += 1
