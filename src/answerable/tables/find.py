"""Find the tables of a document, and the rows of tables and of lists of objects (CSV, TSV, JSON, JSON lines).

The delimiter is the one with which most rows have the same number of fields, preferably as many as the header. Excel
writes semicolons where the comma is the decimal mark, as in Spanish and Portuguese.
"""

from __future__ import annotations

import csv
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import islice, pairwise
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any

from answerable.datatypes import Document, DocumentType, Part
from answerable.tables.delimited import DELIMITED, readings, without_notes
from answerable.tables.entries import chat_table, entry_tables
from answerable.tables.grid import (
    MOST_CELLS,
    WIDEST,
    BarTable,
    bar_tables,
    customs_of,
    front_matter,
    make_table,
    plain_cell,
)
from answerable.tables.table import Line, Origin, Table
from answerable.tables.values import Customs

# Document types in which the author wrote any line `|---|---|` below the first row of a table.
_MARKDOWN = frozenset({DocumentType.MARKDOWN, DocumentType.NOTEBOOK, DocumentType.ORG})
_LONGEST_CAPTION = 100  # characters of a caption, which is one line; longer text is a paragraph
_LOOKED_BACK = 1_000  # characters before a table that may be its caption: a paragraph; a guess, not measured
_SENTENCE_END = re.compile(r"[.!?…]\s+")
_NO_CAPTION = ("- ", "* ", "---", "```", "+-")


def find_tables(document: Document) -> list[Table]:
    """Return the tables of a document, in order, each with at most `grid.MOST_CELLS` cells."""
    match document.type:
        case DocumentType.CHAT:
            return list(filter(None, [chat_table(document)]))
        case DocumentType.RECORDS:
            return list(filter(None, [_records_table(document, customs_of(document))]))
        case DocumentType.CALENDAR | DocumentType.CONTACTS:
            return list(entry_tables(document))
    bars, rows = list(bar_tables(document.content)), list(_pdf_tables(document))
    found = list(entry_tables(document)) if "BEGIN:V" in document.content else []
    starts_with_rule = document.type is DocumentType.MARKDOWN and document.content.startswith("---")
    if not (bars or rows or starts_with_rule):
        return found
    customs = customs_of(document)
    if document.type is DocumentType.SPREADSHEET:
        return [table for each in bars if (table := _sheet_table(each, customs, document))]
    # The file readers of other formats write a line `|---|---|` below the first row of every table.
    is_markdown = document.type in _MARKDOWN
    made = [_front_matter(document, customs)] if starts_with_rule else []
    made += [_bar_table(each, document, customs, is_markdown) for each in bars]
    of_pdf = [make_table(lines, _title(document, lines[0].start), customs) for lines in rows]
    # Where columns of a PDF have only numbers for names, the grid isn't sure: its first rows may be missing.
    made += [table for table in of_pdf if table and not all(column.name.isdecimal() for column in table.columns)]
    return sorted((table for table in (*found, *made) if table), key=lambda table: table.span)


def _bar_table(found: BarTable, document: Document, customs: Customs, is_markdown: bool) -> Table | None:
    header, *below = found.lines
    title = _title(document, header.start)
    if found.has_rule and not any(header.cells):
        return make_table(below, title, customs, names=header.cells)
    return make_table(found.lines, title, customs, has_header=is_markdown and found.has_rule)


def _sheet_table(found: BarTable, customs: Customs, document: Document) -> Table | None:
    """Return the table of a sheet: the file reader has found the header, and writes numbers with one decimal mark."""
    customs = replace(customs, decimal=str(document.metadata.get("decimal_mark") or "."))
    header, *below = found.lines
    names = header.cells if found.has_rule else []
    rows = [line for line in below if line.cells != header.cells] if names else found.lines
    return make_table(rows, _title(document, header.start), customs, names=names, is_mark_known=True)


def _front_matter(document: Document, customs: Customs) -> Table | None:
    values, end = front_matter(document.content)
    if not values:
        return None
    end = len(document.content[:end].rstrip())
    line = Line(0, end, list(values.values()))
    return make_table([line], document.title, customs, origin=Origin.FRONT_MATTER, names=list(values))


def _pdf_tables(document: Document) -> Iterator[list[Line]]:
    """Yield runs of rows with the same number of cells; a run may continue on the next page.

    Between the pages' rows there may be lines that the document repeats, except for numbers in them: running heads.
    """
    run: list[Line] = []
    page = 0
    repeated: Counter[str] = Counter()
    for part in filter(lambda part: part.cells, document.parts):
        row, pages = _pdf_row(document.content, part), (part.page or 0) - page
        between = _without_numbers(document.content[run[-1].end : row.start]) if run else []
        if between and not repeated:
            repeated.update(_without_numbers(document.content))
        is_head = pages == 1 and all(repeated[line] > 1 for line in between)
        if run and not (len(run[-1].cells) == len(row.cells) and pages <= 1 and (is_head or not between)):
            yield run
            run = []
        run.append(row)
        page = part.page or 0
    if run:
        yield run


def _without_numbers(text: str) -> list[str]:
    """Return the lines of a text without its digits, and without blank lines."""
    return [line.strip() for line in re.split(r"[\n\f]", re.sub(r"\d", "", text)) if line.strip()]


def _pdf_row(content: str, part: Part) -> Line:
    end = part.start + len(content[part.start : part.end].rstrip())
    bounds = [*part.cells, max(end, part.cells[-1])]
    cells = [content[start:stop].strip() for start, stop in pairwise(bounds)]
    return Line(part.start, end, cells)


def _title(document: Document, start: int) -> str:
    """Return the title of the table at an offset: the line above it, the nearest heading, or the document's title."""
    place = bisect_right(document.parts, start, key=attrgetter("start")) - 1
    heading = document.parts[place].headings[-1:] if place >= 0 else ()
    return _caption(document.content, start) or "".join(heading) or document.title


def _caption(content: str, start: int) -> str:
    """Return the last sentence of the paragraph above if it ends in a colon, or all of a short line; else ""."""
    above = content[max(0, start - _LOOKED_BACK) : content.rfind("\n", 0, start) + 1].rstrip()
    paragraph = above[max(above.rfind("\n\n"), above.rfind("\n#")) + 1 :].strip().split("\n")
    if paragraph[0].startswith("#") and len(paragraph) > 1:
        del paragraph[0]
    text = plain_cell(" ".join(line.strip(" \t>#") for line in paragraph))
    if text.endswith(":"):
        text = _SENTENCE_END.split(text)[-1].rstrip(": ")
    elif len(paragraph) > 1 or text.startswith(_NO_CAPTION) or text[-1:] in ".,;!?…":
        return ""
    return text if "|" not in text and len(text) <= _LONGEST_CAPTION else ""


_SMALLEST, _LARGEST = 1e-15, 1e15  # outside this range, a number without an exponent would be mostly zeros
_DEEPEST = 5  # levels of nesting that are still readable as a cell; a guess, not measured


def _records_table(document: Document, customs: Customs) -> Table | None:
    is_json = any(document.content.startswith(("{", "["), part.start) for part in document.parts[:1])
    is_delimited = PurePosixPath(document.source.lower()).suffix in DELIMITED or not is_json
    return (_delimited if is_delimited else _objects)(document, customs)


def _delimited(document: Document, customs: Customs) -> Table | None:
    for above, header, found in readings(document.content):
        filled = [cell for cell in above[0].cells if cell.strip()] if above else []
        title = filled[0] if len(filled) == 1 else document.title
        names = header.cells if header else []
        rows = (row for row in found if row.cells != names)
        try:
            return make_table(without_notes(rows, document.content), title, customs, names=names)
        except csv.Error:
            continue
    return None


def _objects(document: Document, customs: Customs) -> Table | None:
    customs = replace(customs, decimal=".")
    read = ((part, _parsed(document.content, part)) for part in document.parts[: MOST_CELLS + 1])
    records = [(part, record) for part, record in read if record]
    flat = [(part, dict(_fields(record))) for part, record in records if isinstance(record, dict)]
    names = list(islice(dict.fromkeys(name for _, fields in flat for name in fields), WIDEST))
    if not flat:
        lists = (Line(part.start, part.end, [_text(each) for each in record]) for part, record in records)
        return make_table(lists, document.title, customs, is_mark_known=True)
    rows = (Line(part.start, part.end, [fields.get(name, "") for name in names]) for part, fields in flat)
    return make_table(rows, document.title, customs, names=names, is_mark_known=True)


def _parsed(content: str, part: Part) -> Any:
    try:
        return json.loads(content[part.start : part.end], parse_float=_literal, parse_int=str)
    except (ValueError, RecursionError):
        return None


def _literal(number: str) -> str:
    """Return a JSON number as it is written, but without an exponent."""
    if "e" not in number.lower() or not _SMALLEST < abs(float(number)) < _LARGEST:
        return number
    return f"{Decimal(number):f}"


def _fields(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of an object's fields; fields of an object within it are named like "address.city"."""
    for name, value in record.items():
        if isinstance(value, dict) and value:
            yield from ((_text(f"{name}.{inner}"), _text(each)) for inner, each in value.items())
        else:
            yield _text(name), _text(value)


def _text(value: Any, depth: int = 0) -> str:
    if depth == _DEEPEST:
        return "…"
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(_text(each, depth + 1) for each in value)
        case dict():
            return ", ".join(f"{_text(name)}: {_text(each, depth + 1)}" for name, each in value.items())
    # An unpaired surrogate escape such as \ud800 denotes no character.
    return str(value).encode("utf-8", "replace").decode()
