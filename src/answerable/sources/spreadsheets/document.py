"""Sheets → Document: each sheet under its name, its tables as lines with bars, and a part for each line.

The place of a part is named as in the spreadsheet program: `Costs!A2:F2`. Rows and sheets that the program hides are
read too, because filters hide rows; their places say that they are hidden.
"""

from __future__ import annotations

from collections.abc import Sequence

from answerable.datatypes import Document, DocumentType, PartKind
from answerable.errors import EmptySource
from answerable.sources.spreadsheets.blocks import Block, Row, Sheet, column_letters, fill_merged, find_blocks
from answerable.sources.text import PartedText, make_document

# Characters: every row carries its sheet's name. Excel allows 31 characters.
_LONGEST_NAME = 100


def workbook_document(
    sheets: Sequence[Sheet], source: str, title: str, metadata: dict[str, str], mark: str
) -> Document:
    """Return the document of a workbook's sheets. Raises EmptySource if no sheet has a filled cell."""
    written = PartedText()
    for sheet in sheets:
        fill_merged(sheet)
        _write(sheet, written)
    uncalculated = sum(sheet.uncalculated for sheet in sheets)
    if not written.parts:
        if uncalculated:
            raise EmptySource(
                f"{source} holds only formulas without stored values: open it in Excel or LibreOffice, save it, and "
                "add it again"
            )
        raise EmptySource(f"{source} holds no text or numbers in its cells: check that it is the right file")
    found = {**metadata, "sheets": ", ".join(sheet.name for sheet in sheets)}
    if hidden := "; ".join(filter(None, map(_hidden_columns, sheets))):
        found["hidden"] = hidden
    if uncalculated:
        found["without_values"] = f"{uncalculated} formulas: open the file in a spreadsheet program and save it"
    if mark != ".":
        found["decimal_mark"] = mark
    return make_document(source, written.content, DocumentType.SPREADSHEET, written.parts, title, found)


def _write(sheet: Sheet, written: PartedText) -> None:
    """Write a sheet; write nothing for an empty sheet."""
    blocks = find_blocks(sheet)
    if not blocks:
        return
    name = sheet.name[:_LONGEST_NAME]
    hidden = " (hidden sheet)" if sheet.is_hidden else ""
    written.write(f"{chr(10) if written.parts else ''}# {sheet.name}{hidden}\n")
    for block in blocks:
        written.write("\n")
        for line in block.lines:
            text, columns = _shown(line, block)
            place = f"{name}!{_cells(line, columns)}{' (hidden)' if line.is_hidden or sheet.is_hidden else ''}"
            written.part(text, PartKind.RECORD, headings=(name,), place=place)
            written.write("\n")
            if line is block.header:
                written.write(f"|{' --- |' * len(block.columns)}\n")


def _shown(line: Row, block: Block) -> tuple[str, Sequence[int]]:
    """Return the displayed text of a line, and the columns that it covers."""
    if block.is_sparse:
        return f"| {' | '.join(map(_escaped, line.cells.values()))} |", sorted(line.cells)
    if len(block.columns) == 1:
        return _escaped(line.cells[block.columns[0]]), block.columns
    return f"| {' | '.join(_escaped(line.cells.get(column, '')) for column in block.columns)} |", block.columns


def _cells(line: Row, columns: Sequence[int]) -> str:
    """Return the range of a line's cells: `A2:F2`."""
    first, last = f"{column_letters(columns[0])}{line.number}", f"{column_letters(columns[-1])}{line.end}"
    return first if first == last else f"{first}:{last}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|") if "|" in text else text


def _hidden_columns(sheet: Sheet) -> str:
    """Return the filled columns that are hidden, "columns D, E of Costs", or ""."""
    used = {column for row in sheet.rows for column in row.cells}
    letters = ", ".join(map(column_letters, sorted(used & sheet.hidden_columns)))
    return f"columns {letters} of {sheet.name}" if letters else ""
