"""Paragraphs, cells and rows of an RTF document, as they end → blocks of Markdown."""

from __future__ import annotations

import re

from answerable.sources.markdown import Heading
from answerable.sources.markdown_blocks import MARK, table

_REFERENCE = re.compile(r"\[\^\d+\]")
_WIDEST = 63
_DEEPEST = 8


class Blocks:
    """Collects `blocks` of Markdown, `headings`, and the texts of `notes`."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.headings: list[Heading] = []
        self.notes: list[str] = []
        self._items: list[str] = []
        self._rows: list[list[str]] = []
        self._row: list[str] = []
        self._cell: list[str] = []

    def paragraph(self, text: str, level: int | None, marker: str, depth: int, in_table: bool) -> None:
        """Add a paragraph: a heading of this level, an item with this marker, text of a cell, or plain text."""
        lines = [" ".join(line.split()) for line in text.replace(MARK, "").split("\n")]
        text = "\n".join(filter(None, lines))
        if in_table:
            if text:
                self._cell.append(text.replace("\n", " "))
            return
        self._end_table()
        if not text:
            return
        if level is not None:
            self._end_list()
            line = text.replace("\n", " ")
            level = min(max(level, 1), 6)
            self.headings.append(Heading(0, level, _REFERENCE.sub("", line).strip(), None))
            self.blocks.append(f"{MARK}{'#' * level} {line}")
        elif marker:
            indent = "  " * min(depth, _DEEPEST) + marker
            self._items.append(indent + text.replace("\n", "\n" + " " * len(indent)))
        else:
            self._end_list()
            self.blocks.append(text)

    def cell(self) -> None:
        """End a cell."""
        if len(self._row) < _WIDEST:
            self._row.append(" ".join(self._cell))
        self._cell = []

    def row(self) -> None:
        """End a row."""
        if self._cell:
            self.cell()
        if self._row:
            self._rows.append(self._row)
        self._row = []

    def finish(self) -> None:
        """End what is open."""
        self.row()
        self._end_table()
        self._end_list()

    def _end_table(self) -> None:
        self.row()
        if self._rows:
            self._end_list()
            if max(map(len, self._rows)) > 1:
                text = table(self._rows)
                self.blocks += [text] if text else []
            else:
                self.blocks += [text for row in self._rows for text in row if text]
        self._rows = []

    def _end_list(self) -> None:
        if self._items:
            self.blocks.append("\n".join(self._items))
        self._items = []
