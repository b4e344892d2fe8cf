"""Workbooks of Excel (.xlsx, .xlsm) and OpenDocument (.ods) → Document: a part for each row of each sheet.

Formulas are represented by the values that the workbook stores; nothing is calculated, and macros, links and pictures
are ignored. We read the XML ourselves, with lxml: openpyxl takes nearly twice as long, fails for the whole workbook at
one invalid colour, and returns numbers without applying their format; python-calamine 0.9.1 returns neither formats
(0.125 for 12.5%, 1240.5 for 1,240.50 €) nor bold cells, filters, hidden rows and columns. A cell of OpenDocument
contains the text that its program displayed; dates become ISO dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import islice
from typing import Any

from answerable.datatypes import Document
from answerable.formats.marks import OLE
from answerable.sources.context import ReadContext
from answerable.sources.office.odf import attribute, count_of, paragraph_text, properties
from answerable.sources.office.packages import Package, main_part, on_a_line, related, relations
from answerable.sources.spreadsheets.blocks import LAST_COLUMN, LAST_ROW, Merge, Room, Row, Sheet, column_number
from answerable.sources.spreadsheets.document import workbook_document
from answerable.sources.spreadsheets.old import read_xls
from answerable.sources.xml import local_name, relation_id, stream, whole_number
from answerable.tables.number_formats import BUILT_IN, decimal_mark, general, shown
from answerable.text.notation import LOWERED, RAISED, STRUCK

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([1-9]\d{0,6})")
_RANGE = re.compile(rf"{_REFERENCE.pattern}(?::{_REFERENCE.pattern})?")
_ISO_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d))?")
_TRUE = ("1", "true")
_INLINE = re.compile(rb"<(?:\w+:)?t(?: [^<>]{0,100})?>([^<]{1,500})<")
_XLSX_ADVICE = "open it in Excel or LibreOffice, save it again as .xlsx or CSV, and add that file"


def read_xlsx(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a workbook. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    if data.startswith(OLE):
        return read_xls(data, source, context)
    with Package(data, source, context, _XLSX_ADVICE, "Excel workbook") as package:
        main, title, metadata = main_part(package, "workbook")
        parts = related(package, main)
        styles = _styles(package.xml(parts["styles"])) if "styles" in parts else Styles()
        texts = _shared_texts(package, parts.get("sharedStrings"))
        workbook = package.xml(main)
        worksheets = list(_worksheets(package, main, workbook))
        # Some programs write each text inline in its cell, rather than as a shared string.
        first = {} if texts else {path: package.read(path) for _, path in worksheets[:3]}
        mark = decimal_mark(texts or _inline_texts(first.values()), styles.codes)
        is_1904 = any(each.get("date1904") in _TRUE for each in workbook.iterchildren("{*}workbookPr"))
        reader = SheetReader(styles, texts, mark, is_1904, Room(package.limit, source, _XLSX_ADVICE))
        for sheet, path in worksheets:
            for _, kind, table in relations(package, path):
                if kind == "table" and (root := package.xml(table)).get("headerRowCount") != "0":
                    add_header(sheet, root.get("ref", ""))
            rows = stream(first.get(path) or package.read(path), source, _XLSX_ADVICE, *reader.tags)
            reader.read((row for _, row in rows), sheet)
    return workbook_document([sheet for sheet, _ in worksheets], source, title, metadata, mark)


def _worksheets(package: Package, main: str, workbook: Any) -> Iterator[tuple[Sheet, str]]:
    """Yield the sheets with cells in order, still empty, and their parts' names; no sheets of charts and dialogs."""
    parts = {key: path for key, kind, path in relations(package, main) if kind == "worksheet"}
    for number, element in enumerate(islice(workbook.iter("{*}sheet"), 1_000), 1):
        # A hostile workbook may list the same sheet many times.
        if path := parts.pop(relation_id(element), ""):
            is_hidden = element.get("state", "visible") in ("hidden", "veryHidden")
            yield Sheet(" ".join(element.get("name", "").split()) or f"Sheet{number}", is_hidden), path


def _styles(root: Any) -> Styles:
    formats = root.iterfind("{*}numFmts/*")
    codes = BUILT_IN | {whole_number(each.get("numFmtId")): each.get("formatCode", "") for each in formats}
    fonts = list(root.iterfind("{*}fonts/*"))
    styles = Styles()
    for style in root.iterfind("{*}cellXfs/*"):
        number = whole_number(style.get("fontId"))
        for name, marked in (("b", styles.bold), ("strike", styles.struck)):
            if number < len(fonts) and _is_on(fonts[number], name):
                marked.add(len(styles.codes))
        styles.codes.append(codes.get(whole_number(style.get("numFmtId")), ""))
    return styles


def _is_on(font: Any, name: str) -> bool:
    found = None if font is None else font.find(f"{{*}}{name}")
    return found is not None and found.get("val", "1") not in ("0", "false")


def _shared_texts(package: Package, name: str | None) -> list[str]:
    if name is None:
        return []
    found = stream(package.read(name), package.source, _XLSX_ADVICE, "si")
    return [string_text(element) for _, element in found]


def _inline_texts(sheets: Iterable[bytes]) -> list[str]:
    """Return a sample of the texts written inline in the cells of the sheets."""
    found = (each[1].decode("utf-8", "replace") for data in sheets for each in _INLINE.finditer(data[:200_000]))
    return [text for each in found if (text := " ".join(unescape(each).split()))]


class SheetReader:
    """Reads the sheets of one workbook; `texts` are the shared strings, `mark` is the decimal mark to display."""

    tags = ("row", "mergeCell", "autoFilter", "col")

    def __init__(self, styles: Styles, texts: Sequence[str], mark: str, is_1904: bool, room: Room) -> None:
        self._styles = styles
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
                case "mergeCell" if len(sheet.merges) < 100_000:
                    if merge := _merge(element.get("ref", "")):
                        sheet.merges.append(merge)
                case "autoFilter":
                    add_header(sheet, element.get("ref", ""))
                case "col" if element.get("hidden") in _TRUE:
                    first, last = (whole_number(element.get(name)) for name in ("min", "max"))
                    sheet.hidden_columns.update(range(max(first, 1) - 1, min(last, LAST_COLUMN)))

    def _row(self, element: Any, sheet: Sheet) -> None:
        above = sheet.rows[-1].number if sheet.rows else 0
        number = whole_number(element.get("r"), above + 1)
        if not above < number <= LAST_ROW:
            # In every valid sheet, the rows are in order.
            number = above + 1
        row = Row(number, {}, element.get("hidden") in _TRUE)
        is_bold = True
        column = -1
        for cell in element:
            if local_name(cell) != "c":
                continue
            found = _REFERENCE.fullmatch(cell.get("r", ""))
            column = column_number(found[1]) if found else column + 1
            style = whole_number(cell.get("s"))
            text = self._text(cell, style, sheet)
            if text and column < LAST_COLUMN:
                self._room.take(len(text))
                row.cells[column] = on_a_line([(text, [STRUCK])]) if style in self._styles.struck else text
                is_bold = is_bold and style in self._styles.bold
        if row.cells:
            row.is_bold = is_bold
            sheet.rows.append(row)

    def _text(self, cell: Any, style: int, sheet: Sheet) -> str:
        parts = {local_name(child): child for child in cell}
        kind = cell.get("t", "n")
        if kind == "inlineStr" and "is" in parts:
            return string_text(parts["is"])
        value = parts["v"].text if "v" in parts else None
        if value is None:
            sheet.uncalculated += "f" in parts
            return ""
        match kind:
            case "s":
                number = whole_number(value, len(self._texts))
                return self._texts[number] if number < len(self._texts) else ""
            case "n":
                return self._number(value, style)
            case "b":
                return "TRUE" if value.strip() in _TRUE else "FALSE"
            case "d" if moment := _moment(value):
                return moment
        return " ".join(value.split())

    def _number(self, value: str, style: int) -> str:
        code = self._styles.codes[style] if style < len(self._styles.codes) else ""
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
    """Return the text of a shared or inline string on one line, without the phonetic guides of Japanese."""
    runs = list(element.iterchildren("{*}r"))
    if not runs:
        return " ".join((element.findtext("{*}t") or "").split())
    return on_a_line((run.findtext("{*}t") or "", _kinds(run.find("{*}rPr"))) for run in runs)


_HEIGHTS = {"superscript": RAISED, "subscript": LOWERED}


def _kinds(look: Any) -> list[str]:
    """How letters of this look are marked."""
    height = None if look is None else look.find("{*}vertAlign")
    kinds = [] if height is None else [kind for name, kind in _HEIGHTS.items() if height.get("val") == name]
    return kinds + [STRUCK] * _is_on(look, "strike")


def _moment(text: str) -> str:
    """Return the day that an ISO time begins with, and its time unless it is midnight; "" for another text."""
    found = _ISO_TIME.match(text)
    return " ".join(part for part in found.groups("") if part not in ("", "00:00")) if found else ""


def add_header(sheet: Sheet, reference: str) -> None:
    """Record that the first row of a range of cells names its columns."""
    if found := _merge(reference):
        sheet.headers.add(found.first_row)


def _merge(reference: str) -> Merge | None:
    found = _RANGE.fullmatch(reference.strip())
    if found is None:
        return None
    columns = sorted(column_number(letters) for letters in (found[1], found[3] or found[1]))
    rows = sorted(int(number) for number in (found[2], found[4] or found[2]))
    return Merge(rows[0], columns[0], rows[1], columns[1])


@dataclass(slots=True)
class Styles:
    """The format code of each cell style, and the numbers of the bold and of the struck styles.

    Without them, numbers have no format.
    """

    codes: list[str] = field(default_factory=list)
    bold: set[int] = field(default_factory=set)
    struck: set[int] = field(default_factory=set)


_ODS_ADVICE = "open it in LibreOffice, save it again as .ods, .xlsx or CSV, and add that file"
_MOST_REPEATED = 100_000  # repeated filled cells of a workbook, after which each repetition counts for more
_DURATION = re.compile(r"PT(?P<hours>\d{1,6})H(?P<minutes>\d\d)M(?P<seconds>\d\d)")
_HIDDEN = ("collapse", "filter")


def read_ods(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a spreadsheet. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    with Package(data, source, context, _ODS_ADVICE, "spreadsheet") as package:
        title, metadata = properties(package)
        reader = _Reader(Room(package.limit, source, _ODS_ADVICE))
        tags = ("table", "table-column", "table-row", "style")
        reader.read(stream(package.read("content.xml"), source, _ODS_ADVICE, *tags, starts=True))
    texts = (text for sheet in reader.sheets for row in sheet.rows for text in row.cells.values())
    return workbook_document(reader.sheets, source, title, metadata, decimal_mark(texts))


class _Reader:
    """Reads the elements of the content into sheets."""

    def __init__(self, room: Room) -> None:
        self.sheets: list[Sheet] = []
        self._room = room
        self._hidden_styles: set[str] = set()
        self._struck_styles: set[str] = set()
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
                    self._style(element)
                case "table-column", "end" if depth == 1:
                    self._columns(element)
                case "table-row", "end" if depth == 1:
                    self._rows(element)

    def _style(self, element: Any) -> None:
        name = attribute(element, "name")
        if any(attribute(each, "display") == "false" for each in element.iter("{*}table-properties")):
            self._hidden_styles.add(name)
        lines = (attribute(each, "text-line-through-style") for each in element.iter("{*}text-properties"))
        if attribute(element, "family") == "table-cell" and any(line not in ("", "none") for line in lines):
            self._struck_styles.add(name)

    def _begin(self, element: Any) -> None:
        name = " ".join(attribute(element, "name").split()) or f"Sheet{len(self.sheets) + 1}"
        if len(self.sheets) < 1_000:
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
                is_struck = attribute(cell, "style-name") in self._struck_styles
                row.cells[column] = text = on_a_line([(text, [STRUCK] * is_struck)])
                high, wide = count_of(cell, "number-rows-spanned"), count_of(cell, "number-columns-spanned")
                if high > 1 or wide > 1:
                    sheet.merges.append(Merge(row.number, column, row.number + high - 1, column + wide - 1))
                for place in range(column + 1, min(column + repeats, LAST_COLUMN)):
                    self._repeat(text)
                    row.cells[place] = text
            column += repeats

    def _repeat(self, text: str) -> None:
        self._repeated += 1
        # Many repetitions of a filled cell are an attack: each repetition then counts for more than its text.
        self._room.take(len(text) if self._repeated < _MOST_REPEATED else 1_000 + len(text))


def _text(cell: Any) -> str:
    kind, value = attribute(cell, "value-type"), attribute(cell, "value")
    if kind == "date" and (moment := _moment(attribute(cell, "date-value"))):
        return moment
    paragraphs = [paragraph_text(each).replace("\n", " ") for each in cell if local_name(each) in ("p", "h")]
    text = " ".join(filter(None, paragraphs))
    if text or not kind:
        return text
    if kind == "time" and (duration := _DURATION.match(attribute(cell, "time-value"))):
        return f"{int(duration['hours'])}:{duration['minutes']}"
    # Programs that write files without displaying them store only values.
    return _shown(cell, kind, value) or attribute(cell, "string-value")


def _shown(cell: Any, kind: str, value: str) -> str:
    """Return a stored value as the text to display."""
    if kind == "boolean":
        return attribute(cell, "boolean-value").upper()
    try:
        number = float(value)
    except ValueError:
        return value
    if kind == "percentage":
        return f"{general(number * 100, '.')}%"
    return f"{general(number, '.')} {attribute(cell, 'currency')}".strip()
