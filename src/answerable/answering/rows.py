"""Show a quoted row of a table with the names of its columns: "Item: Flights · Amount: 1,240 EUR"."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile, zip_longest
from typing import Any

from answerable.answering.excerpt import Excerpt
from answerable.datatypes import DocumentType
from answerable.tables.bars import header_above
from answerable.text.markdown_marks import without_marks

LONGEST = 2_000
"""A longer row is shown as it stands."""
TABLE = 20_000
"""How many characters above a row the first row of its table is looked for."""
LONGEST_NAMES = 200

_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_DELIMITERS = ";\t|,"


def shown_row(excerpt: Excerpt) -> str:
    """Return a row as names and values on one line; "" if it isn't a row of a table."""
    text = excerpt.text.strip()
    if len(text) > LONGEST:
        return ""
    if text.startswith("|") and text.endswith("|"):
        document = excerpt.result.document
        is_sheet = document.type is DocumentType.SPREADSHEET
        names = header_above(document.content, excerpt.start) if is_sheet else column_names(excerpt)
        return _joined(_cells(names), _shown_cells(excerpt, text))
    if excerpt.result.document.type is DocumentType.RECORDS:
        return _record(excerpt, text)
    part = next((each for each in excerpt.result.chunk.parts if each.start <= excerpt.start < each.end), None)
    if part is not None and part.cells and part.start <= excerpt.start and excerpt.end <= part.end:
        edges = [*part.cells, excerpt.end]
        content = excerpt.result.document.content
        return _joined((), [content[start:end] for start, end in pairwise(edges) if start < end])
    return ""


def column_names(row: Excerpt) -> str:
    """Return the first row of the table that a row is in; nothing for that row itself, or outside of tables."""
    document, start = row.result.document, row.start
    content = document.content
    if document.type is DocumentType.RECORDS:
        names = content[: min(start, LONGEST_NAMES)].partition("\n")
        return names[0].strip() if names[1] and not names[0].startswith(("[", "{")) else ""
    if document.type is DocumentType.SPREADSHEET:
        return header_above(content, start)[:LONGEST_NAMES]
    if not row.text.startswith("|"):
        return ""
    low = max(0, start - TABLE)
    above = content[low:start].split("\n")[-2::-1]
    rows = list(takewhile(lambda line: line.lstrip().startswith("|"), above))
    is_whole = low == 0 or len(rows) < len(above)
    return rows[-1].strip()[:LONGEST_NAMES] if rows and is_whole else ""


def is_header(excerpt: Excerpt) -> bool:
    """Return whether a sentence is the row of column names of a table between bars."""
    if not excerpt.text.startswith("|") or column_names(excerpt):
        return False
    below = excerpt.result.document.content[excerpt.end : excerpt.end + LONGEST].lstrip("\n").partition("\n")[0]
    return bool(_RULE.fullmatch(below)) and "|" in below


def _record(excerpt: Excerpt, text: str) -> str:
    if text.startswith(("{", "[")):
        try:
            return " · ".join(f"{name}: {value}" if name else value for name, value in _fields(json.loads(text)))
        except (ValueError, RecursionError):
            return ""
    names = column_names(excerpt)
    delimiter = max(_DELIMITERS, key=text.count)
    if delimiter not in text:
        return ""
    try:
        (cells,) = csv.reader([" ".join(text.splitlines())], delimiter=delimiter)
        header = next(csv.reader([names], delimiter=delimiter), []) if names else []
    except (csv.Error, ValueError):
        return ""
    return _joined(header if len(header) == len(cells) else (), cells)


def _fields(record: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the fields of a JSON record; those of an object within it as `address.city`."""
    if isinstance(record, dict):
        for name, value in record.items():
            yield from _fields(value, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(record, list):
        if any(isinstance(item, dict | list) for item in record):
            for number, item in enumerate(record, 1):
                yield from _fields(item, f"{prefix}.{number}" if prefix else str(number))
        elif record:
            yield prefix, ", ".join(map(str, record))
    elif record is not None and record != "":
        yield prefix, str(record)


def _cells(row: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(row.strip())[1:-1]]


def _shown_cells(excerpt: Excerpt, text: str) -> list[str]:
    """Return the cells of a row, without the marks of Markdown."""
    document, start = excerpt.result.document, excerpt.start + excerpt.text.index(text)
    edges = [start + bar.start() for bar in _BAR.finditer(text)]
    shown = (without_marks(document, first + 1, last) for first, last in pairwise(edges))
    return [cell.strip().replace("\\|", "|") for cell in shown]


def _joined(names: Sequence[str], cells: Sequence[str]) -> str:
    pairs = ((" ".join(name.split()), " ".join(cell.split())) for name, cell in zip_longest(names, cells, fillvalue=""))
    return " · ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
