"""Excel workbooks (.xlsx, .xlsm) → Document: a part for each row of each sheet.

Formulas are shown by the values that the workbook stores; nothing is calculated, and macros, links and pictures are
ignored. We read the XML ourselves, on lxml: openpyxl takes nearly twice as long, fails for the whole workbook at a
wrong colour, and gives numbers without showing them by their format; python-calamine has neither formats nor hidden
rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import islice
from typing import Any

from answerable.datatypes import Document
from answerable.errors import DamagedSource, SourceError
from answerable.sources.context import ReadContext
from answerable.sources.office.ooxml import local_name, properties, refuse_container, related, relations, stream
from answerable.sources.office.zip_package import Package
from answerable.sources.spreadsheets.document import workbook_document
from answerable.sources.spreadsheets.marks import decimal_mark
from answerable.sources.spreadsheets.number_formats import BUILT_IN
from answerable.sources.spreadsheets.sheet import Room, Sheet
from answerable.sources.spreadsheets.xlsx_cells import SheetReader, add_header, string_text

_ADVICE = "open it in Excel or LibreOffice, save it again as .xlsx or CSV, and add that file"
_MOST_SHEETS = 1_000
_SAMPLED_SHEETS = 3
_SAMPLE = 200_000
_INLINE = re.compile(rb"<(?:\w+:)?t(?: [^<>]{0,100})?>([^<]{1,500})<")


@dataclass(frozen=True, slots=True)
class Styles:
    """For each style of cells, its format code and whether it is bold."""

    codes: tuple[str, ...]
    bold: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Worksheet:
    """A sheet with cells, by the name of its part."""

    name: str
    is_hidden: bool
    path: str


def read_xlsx(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a workbook.

    Raises EncryptedSource, DamagedSource, SourceTooLarge, EmptySource, and UnsupportedSource for one before 2007.
    """
    refuse_container(data, source, ".xls")
    limit = (context or ReadContext()).limits.max_file_size
    with Package(data, source, limit, _ADVICE) as package:
        try:
            found = related(package, "")
            if "officeDocument" not in found:
                raise ValueError("it names no workbook")
            main = found["officeDocument"]
            title, metadata = properties(package, found.get("core-properties"))
            parts = related(package, main)
            styles = _styles(package, parts.get("styles"))
            texts = _shared_texts(package, parts.get("sharedStrings"))
            workbook = package.xml(main)
            worksheets = list(_worksheets(package, main, workbook))
            # Some programs write each text in its cell.
            first = {} if texts else {each.path: package.read(each.path) for each in worksheets[:_SAMPLED_SHEETS]}
            mark = decimal_mark(texts or _inline_texts(first.values()), styles.codes)
            is_1904 = any(each.get("date1904") in ("1", "true") for each in workbook.iterchildren("{*}workbookPr"))
            room = Room(limit, source, _ADVICE)
            reader = SheetReader(styles.codes, styles.bold, texts, mark, is_1904, room)
            sheets = list(_sheets(package, worksheets, reader, first))
        except SourceError:
            raise
        except Exception as error:
            # Hostile XML may be nested too deeply or lack what the standard requires.
            raise DamagedSource(f"{source} is not a valid Excel workbook ({str(error)[:200]}): {_ADVICE}") from error
    return workbook_document(sheets, source, title, metadata, mark)


def _sheets(
    package: Package, worksheets: Sequence[_Worksheet], reader: SheetReader, read_already: Mapping[str, bytes]
) -> Iterator[Sheet]:
    for worksheet in worksheets:
        sheet = Sheet(worksheet.name, worksheet.is_hidden)
        for _, kind, table in relations(package, worksheet.path):
            if kind == "table" and (root := package.xml(table)).get("headerRowCount") != "0":
                add_header(sheet, root.get("ref", ""))
        data = read_already.get(worksheet.path) or package.read(worksheet.path)
        reader.read((row for _, row in stream(data, package.source, _ADVICE, *reader.tags)), sheet)
        yield sheet


def _worksheets(package: Package, main: str, workbook: Any) -> Iterator[_Worksheet]:
    """Yield the sheets with cells in order; those of charts and dialogs have none."""
    parts = {key: path for key, kind, path in relations(package, main) if kind == "worksheet"}
    for number, element in enumerate(islice(workbook.iter("{*}sheet"), _MOST_SHEETS), 1):
        key = next((value for name, value in element.attrib.items() if name.rpartition("}")[2] == "id"), "")
        # A hostile workbook shows one sheet many times.
        if path := parts.pop(key, ""):
            is_hidden = element.get("state", "visible") in ("hidden", "veryHidden")
            yield _Worksheet(" ".join(element.get("name", "").split()) or f"Sheet{number}", is_hidden, path)


def _styles(package: Package, name: str | None) -> Styles:
    """Return the styles of cells; a part of styles that is missing or damaged leaves numbers without format."""
    if name is None:
        return Styles((), frozenset())
    root = package.xml(name)
    codes = dict(BUILT_IN)
    fonts: list[bool] = []
    formats: list[str] = []
    bold: set[int] = set()
    for group in root.iterchildren():
        match local_name(group):
            case "numFmts":
                codes |= {_number(each.get("numFmtId")): each.get("formatCode", "") for each in group.iterchildren()}
            case "fonts":
                fonts = [_is_bold(font) for font in group.iterchildren()]
    for group in root.iterchildren("{*}cellXfs"):
        for style in group.iterchildren():
            font = _number(style.get("fontId"))
            if font < len(fonts) and fonts[font]:
                bold.add(len(formats))
            formats.append(codes.get(_number(style.get("numFmtId")), ""))
    return Styles(tuple(formats), frozenset(bold))


def _is_bold(font: Any) -> bool:
    found = font.find("{*}b")
    return found is not None and found.get("val", "1") not in ("0", "false")


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 9 else 0


def _shared_texts(package: Package, name: str | None) -> list[str]:
    if name is None:
        return []
    found = stream(package.read(name), package.source, _ADVICE, "si")
    return [string_text(element) for _, element in found]


def _inline_texts(sheets: Iterable[bytes]) -> list[str]:
    """Return a sample of the texts in the cells of sheets."""
    return [
        text
        for data in sheets
        for found in _INLINE.finditer(data[:_SAMPLE])
        if (text := " ".join(unescape(found[1].decode("utf-8", "replace")).split()))
    ]
