"""The cells of a worksheet's XML as shown texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from answerable.sources.office.ooxml import local_name
from answerable.sources.spreadsheets.number_formats import shown
from answerable.sources.spreadsheets.sheet import LAST_COLUMN, LAST_ROW, Merge, Room, Row, Sheet, column_number

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([1-9]\d{0,6})")
_RANGE = re.compile(rf"{_REFERENCE.pattern}(?::{_REFERENCE.pattern})?")
_ISO_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d)?(?:\.\d+)?Z?)?")
_MOST_MERGES = 100_000
_TRUE = ("1", "true")


class SheetReader:
    """Reads the sheets of one workbook.

    `codes` and `bold` are the formats and the bold ones of the styles by number, `texts` the shared strings, `mark` the
    decimal mark to show.
    """

    tags = ("row", "mergeCell", "autoFilter", "col")

    def __init__(
        self, codes: Sequence[str], bold: frozenset[int], texts: Sequence[str], mark: str, is_1904: bool, room: Room
    ) -> None:
        self._codes = codes
        self._bold = bold
        self._texts = texts
        self._mark = mark
        self._is_1904 = is_1904
        self._room = room
        self._shown: dict[tuple[str, str], str] = {}

    def read(self, elements: Iterable[Any], sheet: Sheet) -> None:
        """Read the elements of a worksheet into a sheet. Raises SourceTooLarge."""
        for element in elements:
            match local_name(element):
                case "row":
                    self._row(element, sheet)
                case "mergeCell" if len(sheet.merges) < _MOST_MERGES:
                    if merge := _merge(element.get("ref", "")):
                        sheet.merges.append(merge)
                case "autoFilter":
                    add_header(sheet, element.get("ref", ""))
                case "col" if element.get("hidden") in _TRUE:
                    first, last = (int(element.get(name, "0")[:6] or 0) for name in ("min", "max"))
                    sheet.hidden_columns.update(range(max(first, 1) - 1, min(last, LAST_COLUMN)))

    def _row(self, element: Any, sheet: Sheet) -> None:
        above = sheet.rows[-1].number if sheet.rows else 0
        stated = element.get("r", "")
        number = int(stated) if stated.isdecimal() and len(stated) < 8 else above + 1
        if not above < number <= LAST_ROW:
            # Rows are in order in every valid sheet.
            number = above + 1
        row = Row(number, {}, element.get("hidden") in _TRUE)
        is_bold = True
        column = -1
        for cell in element:
            if local_name(cell) != "c":
                continue
            found = _REFERENCE.fullmatch(cell.get("r", ""))
            column = column_number(found[1]) if found else column + 1
            style = int(cell.get("s", "0")[:6] or 0)
            text = self._text(cell, style, sheet)
            if text and column < LAST_COLUMN:
                self._room.take(len(text))
                row.cells[column] = text
                is_bold = is_bold and style in self._bold
        if row.cells:
            row.is_bold = is_bold
            sheet.rows.append(row)

    def _text(self, cell: Any, style: int, sheet: Sheet) -> str:
        value = formula = inline = None
        for child in cell:
            name = local_name(child)
            if name == "v":
                value = child.text
            elif name == "f":
                formula = child
            elif name == "is":
                inline = child
        kind = cell.get("t", "n")
        if kind == "inlineStr" and inline is not None:
            return string_text(inline)
        if value is None:
            sheet.uncalculated += formula is not None
            return ""
        match kind:
            case "s":
                number = int(value) if value.isdecimal() and len(value) < 9 else len(self._texts)
                return self._texts[number] if number < len(self._texts) else ""
            case "n":
                return self._number(value, style)
            case "b":
                return "TRUE" if value.strip() in _TRUE else "FALSE"
            case "d" if found := _ISO_TIME.match(value):
                return found[1] if found[2] in (None, "00:00") else f"{found[1]} {found[2]}"
        return " ".join(value.split())

    def _number(self, value: str, style: int) -> str:
        code = self._codes[style] if style < len(self._codes) else ""
        text = self._shown.get((value, code))
        if text is None:
            try:
                text = shown(float(value), code or "General", self._mark, self._is_1904)
            except ValueError:
                text = " ".join(value.split())
            if len(self._shown) > 100_000:
                self._shown.clear()
            self._shown[value, code] = text
        return text


def string_text(element: Any) -> str:
    """Return the text of a shared or inline string on one line, without the reading aids of Japanese."""
    texts = (each.text or "" for each in element.iter("{*}t") if local_name(each.getparent()) != "rPh")
    return " ".join("".join(texts).split())


def add_header(sheet: Sheet, reference: str) -> None:
    """Note that the first row of a range of cells names its columns."""
    if found := _merge(reference):
        sheet.headers.add(found.first_row)


def _merge(reference: str) -> Merge | None:
    found = _RANGE.fullmatch(reference.strip())
    if found is None:
        return None
    columns = sorted(column_number(letters) for letters in (found[1], found[3] or found[1]))
    rows = sorted(int(number) for number in (found[2], found[4] or found[2]))
    return Merge(rows[0], columns[0], rows[1], columns[1])
