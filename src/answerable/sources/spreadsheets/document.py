"""Sheets → Document: each sheet under its name, its tables with a line between bars for each row, a part for each line.

A part's place is what the program calls it: `Costs!A2:F2`. Rows and sheets that the program hides are read too, because
filters hide rows; their places say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import EmptySource
from answerable.sources.spreadsheets.blocks import Block, Line, find_blocks
from answerable.sources.spreadsheets.sheet import Sheet, column_letters, fill_merged
from answerable.sources.text import stem

_LONGEST_NAME = 100
_MOST_RUNS = 20
_HIDDEN = " (hidden)"


def workbook_document(
    sheets: Sequence[Sheet], source: str, title: str, metadata: dict[str, str], mark: str
) -> Document:
    """Return the document of a workbook's sheets. Raises EmptySource if no sheet has a filled cell."""
    writer = _Writer()
    for sheet in sheets:
        fill_merged(sheet)
        writer.write(sheet)
    uncalculated = sum(sheet.uncalculated for sheet in sheets)
    if not writer.parts:
        if uncalculated:
            raise EmptySource(
                f"{source} holds only formulas without stored values: open it in Excel or LibreOffice, save it, and "
                "add it again"
            )
        raise EmptySource(f"{source} holds no text or numbers in its cells: check that it is the right file")
    found = {**metadata, "sheets": ", ".join(sheet.name for sheet in sheets)}
    if hidden := "; ".join(_hidden(sheets)):
        found["hidden"] = hidden
    if uncalculated:
        found["without_values"] = f"{uncalculated} formulas: open the file in a spreadsheet program and save it"
    if mark != ".":
        found["decimal_mark"] = mark
    content = "".join(writer.pieces)
    identity = document_id(source, content)
    kind = DocumentType.SPREADSHEET
    return Document(identity, content, source, title or stem(source), kind, metadata=found, parts=tuple(writer.parts))


class _Writer:
    """Collects the pieces of the content and, with the same offsets, its parts."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.parts: list[Part] = []
        self._length = 0
        self._headings: tuple[str, ...] = ()
        self._place = ""
        self._is_hidden = False

    def write(self, sheet: Sheet) -> None:
        """Write a sheet; nothing for an empty one."""
        blocks = find_blocks(sheet)
        if not blocks:
            return
        self._headings = (sheet.name[:_LONGEST_NAME],)
        self._place = sheet.name[:_LONGEST_NAME]
        self._is_hidden = sheet.is_hidden
        self._add(f"{chr(10) if self.pieces else ''}# {sheet.name}{' (hidden sheet)' if sheet.is_hidden else ''}\n")
        for block in blocks:
            self._add("\n")
            self._block(block)

    def _block(self, block: Block) -> None:
        is_table = len(block.columns) > 1
        for line in block.lines:
            if block.is_sparse:
                self._line(line, f"| {' | '.join(map(_escaped, line.cells.values()))} |", sorted(line.cells))
            elif is_table:
                cells = " | ".join(_escaped(line.cells.get(column, "")) for column in block.columns)
                self._line(line, f"| {cells} |", block.columns)
                if line is block.header:
                    self._add(f"|{' --- |' * len(block.columns)}\n")
            else:
                self._line(line, _escaped(line.cells[block.columns[0]]), block.columns)

    def _line(self, line: Line, text: str, columns: Sequence[int]) -> None:
        first, last = (
            f"{column_letters(column)}{row}"
            for column, row in zip((columns[0], columns[-1]), (line.first, line.last), strict=True)
        )
        cells = first if first == last else f"{first}:{last}"
        hidden = _HIDDEN if line.is_hidden or self._is_hidden else ""
        place = f"{self._place}!{cells}{hidden}"
        start, end = self._length, self._length + len(text)
        self.parts.append(Part(start, end, PartKind.RECORD, headings=self._headings, place=place))
        self._add(f"{text}\n")

    def _add(self, text: str) -> None:
        self.pieces.append(text)
        self._length += len(text)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|") if "|" in text else text


def _hidden(sheets: Iterable[Sheet]) -> Iterator[str]:
    """Yield what is hidden: "sheet Notes", "rows 5-7, 9 of Costs", "columns D of Costs"."""
    for sheet in sheets:
        if sheet.is_hidden:
            yield f"sheet {sheet.name}"
        rows = [row.number for row in sheet.rows if row.is_hidden]
        if rows:
            yield f"rows {_runs(rows, str)} of {sheet.name}"
        used = {column for row in sheet.rows for column in row.cells}
        columns = sorted(used & sheet.hidden_columns)
        if columns:
            yield f"columns {_runs(columns, column_letters)} of {sheet.name}"


def _runs(numbers: Sequence[int], name: Callable[[int], str]) -> str:
    """Return numbers as "5-7, 9"."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda each: each[1] - each[0])]
    named = [name(run[0]) if len(run) == 1 else f"{name(run[0])}-{name(run[-1])}" for run in runs[:_MOST_RUNS]]
    return ", ".join(named) + (" …" if len(runs) > _MOST_RUNS else "")
