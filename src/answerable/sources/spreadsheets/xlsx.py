"""Excel workbooks (.xlsx, .xlsm) → Document: a part for each row of each sheet.

Formulas are shown by the values that the workbook stores; nothing is calculated, and macros, links and pictures are
ignored. We read the XML ourselves, on lxml: openpyxl takes nearly twice as long, fails for the whole workbook at a
wrong colour, and gives numbers without showing them by their format; python-calamine has neither formats nor hidden
rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
from answerable.sources.spreadsheets.xlsx_cells import SheetReader, add_header

_ADVICE = "open it in Excel or LibreOffice, save it again as .xlsx or CSV, and add that file"
_MOST_SHEETS = 1_000


@dataclass(frozen=True, slots=True)
class Styles:
    """For each style of cells, its format code and whether it is bold."""

    codes: tuple[str, ...]
    bold: frozenset[int]


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
            mark = decimal_mark(texts, styles.codes)
            room = Room(limit, source, _ADVICE)
            sheets = list(_sheets(package, main, styles, texts, mark, room))
        except SourceError:
            raise
        except Exception as error:
            # Hostile XML may be nested too deeply or lack what the standard requires.
            raise DamagedSource(f"{source} is not a valid Excel workbook ({str(error)[:200]}): {_ADVICE}") from error
    return workbook_document(sheets, source, title, metadata, mark)


def _sheets(package: Package, main: str, styles: Styles, texts: list[str], mark: str, room: Room) -> Iterator[Sheet]:
    workbook = package.xml(main)
    is_1904 = any(
        local_name(each) == "workbookPr" and each.get("date1904") in ("1", "true") for each in workbook.iterchildren()
    )
    parts = {key: (kind, path) for key, kind, path in relations(package, main)}
    reader = SheetReader(styles.codes, styles.bold, texts, mark, is_1904, room)
    count = 0
    for element in workbook.iter("{*}sheet"):
        key = next((value for name, value in element.attrib.items() if name.rpartition("}")[2] == "id"), "")
        kind, path = parts.get(key, ("", ""))
        count += 1
        if kind != "worksheet" or count > _MOST_SHEETS:
            # Sheets of charts and dialogs have no cells.
            continue
        is_hidden = element.get("state", "visible") in ("hidden", "veryHidden")
        sheet = Sheet(" ".join(element.get("name", "").split()) or f"Sheet{count}", is_hidden)
        for _, kind, table in relations(package, path):
            if kind == "table" and package.xml(table).get("headerRowCount") != "0":
                add_header(sheet, package.xml(table).get("ref", ""))
        reader.read((row for _, row in stream(package.read(path), package.source, _ADVICE, *reader.tags)), sheet)
        yield sheet


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
    return [_shared_text(element) for _, element in found]


def _shared_text(element: Any) -> str:
    """Return the text of a shared or inline string on one line, without the reading aids of Japanese."""
    pieces = []
    for text in element.iter("{*}t"):
        parent = text.getparent()
        if local_name(parent) != "rPh":
            pieces.append(text.text or "")
    return " ".join("".join(pieces).split())
