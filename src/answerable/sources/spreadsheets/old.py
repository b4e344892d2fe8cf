"""Excel workbooks before 2007 (.xls) → Document, as of later ones; xlrd parses them.

python-calamine 0.9.1 reads .xls and .xlsb, but returns neither formats of numbers nor bold and struck text, hidden rows
and columns.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from answerable.datatypes import Document
from answerable.errors import DamagedSource, EncryptedSource
from answerable.left_out import LeftOut, LeftOutKind
from answerable.sources.context import ReadContext
from answerable.sources.office.packages import WITHOUT_PASSWORD, on_a_line, refuse_container
from answerable.sources.spreadsheets.blocks import Merge, Room, Row, Sheet
from answerable.sources.spreadsheets.document import workbook_document
from answerable.tables.number_formats import decimal_mark, shown
from answerable.text.notation import LOWERED, RAISED, STRUCK

_ADVICE = "open it in Excel or LibreOffice, save it as .xlsx or CSV, and add that file"
# What xlrd and the look-ups below raise for bytes out of place, besides its own errors.
_OF_DAMAGE = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, AssertionError, struct.error)
_BOLD = 700  # weight of bold letters
_MOST_MERGES = 100_000  # merged cells of a sheet; a guess, not measured


def read_xls(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a workbook. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    from xlrd import open_workbook  # type: ignore[import-untyped]
    from xlrd.biffh import XLRDError  # type: ignore[import-untyped]
    from xlrd.compdoc import CompDocError  # type: ignore[import-untyped]

    refuse_container(data, source)
    room = Room((context or ReadContext()).limits.max_file_size, source, _ADVICE)
    try:
        with open(os.devnull, "w") as log:
            book = open_workbook(file_contents=data, logfile=log, formatting_info=True, ragged_rows=True)
        values = (value for sheet in book for row in range(sheet.nrows) for value in sheet.row_values(row))
        codes = [each.format_str for each in book.format_map.values() if each.format_str]
        mark = decimal_mark((value for value in values if isinstance(value, str)), codes)
        sheets = [_sheet(book, sheet, mark, room) for sheet in book]
    except (XLRDError, CompDocError, *_OF_DAMAGE) as error:
        if "encrypted" in str(error):
            raise EncryptedSource(f"{source} is encrypted: {WITHOUT_PASSWORD}") from error
        raise DamagedSource(f"{source} is not a valid Excel workbook ({str(error)[:200]}): {_ADVICE}") from error
    if context:
        context.left_out.extend(LeftOut.counted((LeftOutKind.COMMENT, len(sheet.cell_note_map)) for sheet in book))
    return workbook_document(sheets, source, "", {}, mark)


def _sheet(book: Any, given: Any, mark: str, room: Room) -> Sheet:
    hidden = {column for column, facts in given.colinfo_map.items() if facts.hidden}
    sheet = Sheet(" ".join(given.name.split()), bool(given.visibility), hidden_columns=hidden)
    for top, bottom, left, right in islice(given.merged_cells, _MOST_MERGES):
        sheet.merges.append(Merge(top + 1, left, bottom, right - 1))
    for place in range(given.nrows):
        facts = given.rowinfo_map.get(place)
        row = Row(place + 1, {}, bool(facts and facts.hidden), is_bold=True)
        for column, cell in enumerate(given.row(place)):
            style = book.xf_list[cell.xf_index]
            runs = given.rich_text_runlist_map.get((place, column), ())
            if text := on_a_line(_pieces(book, _text(book, cell, style, mark), [(0, style.font_index), *runs])):
                room.take(len(text))
                row.cells[column] = text
                row.is_bold = row.is_bold and book.font_list[style.font_index].weight >= _BOLD
        if row.cells:
            sheet.rows.append(row)
    return sheet


def _text(book: Any, cell: Any, style: Any, mark: str) -> str:
    from xlrd.biffh import XL_CELL_BOOLEAN, XL_CELL_DATE, XL_CELL_ERROR, XL_CELL_NUMBER, error_text_from_code

    if cell.ctype in (XL_CELL_NUMBER, XL_CELL_DATE):
        return shown(cell.value, book.format_map[style.format_key].format_str or "", mark, bool(book.datemode))
    if cell.ctype == XL_CELL_BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    return str(error_text_from_code.get(cell.value, "") if cell.ctype == XL_CELL_ERROR else cell.value)


def _pieces(book: Any, text: str, runs: Sequence[tuple[int, int]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the pieces of a text whose runs begin at these offsets in these fonts, and how each is marked."""
    for (start, font), (end, _) in pairwise([*runs, (len(text), 0)]):
        look = book.font_list[font]
        yield text[start:end], [[], [RAISED], [LOWERED]][look.escapement % 3] + [STRUCK] * bool(look.struck_out)
