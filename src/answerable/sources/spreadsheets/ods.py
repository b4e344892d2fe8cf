"""OpenDocument spreadsheets (.ods) → Document: a part for each row of each sheet.

A cell's text is the one that the program stored as shown; dates become ISO dates. Formulas are not calculated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from answerable.datatypes import Document
from answerable.errors import DamagedSource, SourceError
from answerable.sources.context import ReadContext
from answerable.sources.office.odf import attribute, count_of, paragraph_text, properties, refuse_encrypted
from answerable.sources.office.ooxml import local_name, stream
from answerable.sources.office.zip_package import Package
from answerable.sources.spreadsheets.document import workbook_document
from answerable.sources.spreadsheets.marks import decimal_mark
from answerable.sources.spreadsheets.number_formats import general
from answerable.sources.spreadsheets.sheet import LAST_COLUMN, LAST_ROW, Merge, Room, Row, Sheet

_ADVICE = "open it in LibreOffice, save it again as .ods, .xlsx or CSV, and add that file"
_MOST_SHEETS = 1_000
_MOST_REPEATED = 100_000
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d)?)?")
_DURATION = re.compile(r"PT(?P<hours>\d{1,6})H(?P<minutes>\d\d)M(?P<seconds>\d\d)")
_TAGS = ("table", "table-column", "table-row", "style", "database-range")
_HIDDEN = ("collapse", "filter")


def read_ods(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a spreadsheet. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    limit = (context or ReadContext()).limits.max_file_size
    with Package(data, source, limit, _ADVICE) as package:
        try:
            refuse_encrypted(package)
            title, metadata = properties(package)
            reader = _Reader(Room(limit, source, _ADVICE))
            reader.read(stream(package.read("content.xml"), source, _ADVICE, *_TAGS, starts=True))
        except SourceError:
            raise
        except Exception as error:
            # Hostile XML may be nested too deeply or lack what the standard requires.
            raise DamagedSource(f"{source} is not a valid spreadsheet ({str(error)[:200]}): {_ADVICE}") from error
    texts = (text for sheet in reader.sheets for row in sheet.rows for text in row.cells.values())
    return workbook_document(reader.sheets, source, title, metadata, decimal_mark(texts))


class _Reader:
    """Reads the elements of the content into sheets."""

    def __init__(self, room: Room) -> None:
        self.sheets: list[Sheet] = []
        self._room = room
        self._hidden_styles: set[str] = set()
        self._repeated = 0
        self._row = self._column = 0

    def read(self, events: Iterator[tuple[str, Any]]) -> None:
        """Read all elements. Raises SourceTooLarge."""
        depth = 0
        for event, element in events:
            match local_name(element), event:
                case "table", "start":
                    depth += 1
                    if depth == 1:
                        self._begin(element)
                case "table", "end":
                    depth -= 1
                case "style", "end":
                    if any(attribute(each, "display") == "false" for each in element.iter("{*}table-properties")):
                        self._hidden_styles.add(attribute(element, "name"))
                case "table-column", "end" if depth == 1:
                    self._columns(element)
                case "table-row", "end" if depth == 1:
                    self._rows(element)

    def _begin(self, element: Any) -> None:
        name = " ".join(attribute(element, "name").split()) or f"Sheet{len(self.sheets) + 1}"
        if len(self.sheets) < _MOST_SHEETS:
            self.sheets.append(Sheet(name, attribute(element, "style-name") in self._hidden_styles))
        self._row = self._column = 0

    def _columns(self, element: Any) -> None:
        count = count_of(element, "number-columns-repeated")
        if attribute(element, "visibility") in _HIDDEN:
            self.sheets[-1].hidden_columns.update(range(self._column, min(self._column + count, LAST_COLUMN)))
        self._column += count

    def _rows(self, element: Any) -> None:
        sheet, repeats = self.sheets[-1], count_of(element, "number-rows-repeated")
        row = Row(self._row + 1, {}, attribute(element, "visibility") in _HIDDEN)
        self._cells(element, row, sheet)
        first = self._row
        self._row += repeats
        if not row.cells or first >= LAST_ROW:
            return
        sheet.rows.append(row)
        for number in range(first + 2, min(first + repeats, LAST_ROW) + 1):
            for text in row.cells.values():
                self._repeat(text)
            sheet.rows.append(Row(number, dict(row.cells), row.is_hidden))

    def _cells(self, element: Any, row: Row, sheet: Sheet) -> None:
        column = 0
        for cell in element:
            name = local_name(cell)
            if name not in ("table-cell", "covered-table-cell") or column >= LAST_COLUMN:
                continue
            repeats = count_of(cell, "number-columns-repeated")
            text = "" if name == "covered-table-cell" else _text(cell)
            if text:
                self._room.take(len(text))
                row.cells[column] = text
                self._merge(cell, row, column, sheet)
                for place in range(column + 1, min(column + repeats, LAST_COLUMN)):
                    self._repeat(text)
                    row.cells[place] = text
            column += repeats

    def _merge(self, cell: Any, row: Row, column: int, sheet: Sheet) -> None:
        high, wide = count_of(cell, "number-rows-spanned"), count_of(cell, "number-columns-spanned")
        if high > 1 or wide > 1:
            sheet.merges.append(Merge(row.number, column, row.number + high - 1, column + wide - 1))

    def _repeat(self, text: str) -> None:
        self._repeated += 1
        # Many repetitions of a filled cell are a bomb: each costs more than its text.
        self._room.take(len(text) if self._repeated < _MOST_REPEATED else 1_000 + len(text))


def _text(cell: Any) -> str:
    kind, value = attribute(cell, "value-type"), attribute(cell, "value")
    if kind == "date" and (found := _DATE.match(attribute(cell, "date-value"))):
        return found[1] if found[2] in (None, "00:00") else f"{found[1]} {found[2]}"
    paragraphs = [paragraph_text(each).replace("\n", " ") for each in cell if local_name(each) in ("p", "h")]
    text = " ".join(filter(None, paragraphs))
    if text or not kind:
        return text
    if kind == "time" and (duration := _DURATION.match(attribute(cell, "time-value"))):
        return f"{int(duration['hours'])}:{duration['minutes']}"
    # Programs that write files without showing them store only values.
    return _shown(cell, kind, value) or attribute(cell, "string-value")


def _shown(cell: Any, kind: str, value: str) -> str:
    """Return a stored value as text."""
    if kind == "boolean":
        return attribute(cell, "boolean-value").upper()
    try:
        number = float(value)
    except ValueError:
        return value
    if kind == "percentage":
        return f"{general(number * 100, '.')}%"
    return f"{general(number, '.')} {attribute(cell, 'currency')}".strip()
