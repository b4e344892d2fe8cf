"""Find the rows and column names of delimited text.

The delimiter is the one that gives most rows the same number of fields, preferably the header's. Excel writes
semicolons where the comma is the decimal mark, as in Spanish and Portuguese.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from answerable.datatypes import Span

Quoting = Literal[0, 1, 2, 3]
# If the quotes are invalid, they are read as ordinary characters.
_QUOTING: tuple[Quoting, ...] = (csv.QUOTE_MINIMAL, csv.QUOTE_NONE)
# The likeliest first: decimal numbers and prose contain commas too.
_DELIMITERS = "\t;|,"
_SAMPLE_ROWS = 200
_LONGEST_SAMPLE = 200_000
_SAME_WIDTH = 0.7
_LONGEST_NAME = 100
_DECLARED = re.compile(r"sep=(.)[ \t]*\n", re.IGNORECASE)
_WORD = re.compile(r"\w")
_NUMBER = re.compile(
    r"[^\w\s]{0,3}\s?[+-]?\d[\d.,' \u00a0/:%TZ-]*(?:[a-zA-Z%€$£]{0,3})|true|false|yes|no|sí|si|sim|não|nao",
    re.IGNORECASE,
)


class Row(NamedTuple):
    """A row and its span in the text, without the line end."""

    start: int
    end: int
    cells: list[str]


def read_table(content: str) -> tuple[list[str], list[Span]]:
    """Return the column names, if there is a header, and the span of every row of data; no rows if it isn't a table."""
    for found in readings(content):
        try:
            return _columns_and_rows(found)
        except csv.Error:
            continue
    return [], []


def readings(content: str) -> Iterator[Iterator[Row]]:
    """Yield the rows of a table, header included, in each way that its quotes can be read; they may raise csv.Error."""
    declared = _DECLARED.match(content)
    start = declared.end() if declared else 0
    delimiters = declared[1] if declared else _DELIMITERS
    for quoting in _QUOTING:
        delimiter = max(delimiters, key=lambda each: _evenness(content, start, each, quoting))
        if _evenness(content, start, delimiter, quoting)[1] >= _SAME_WIDTH:
            found = rows(content, start, delimiter, quoting)
            yield (row for row in found if any(_WORD.search(cell) for cell in row.cells))


def rows(content: str, start: int, delimiter: str, quoting: Quoting = csv.QUOTE_MINIMAL) -> Iterator[Row]:
    """Yield the rows of a table without blank lines; quoted cells may contain line ends. Raises csv.Error."""
    position = begin = start

    def lines() -> Iterator[str]:
        nonlocal position
        while position < len(content):
            line_start = position
            position = content.find("\n", line_start) + 1 or len(content)
            yield content[line_start:position]

    for cells in csv.reader(lines(), delimiter=delimiter, quoting=quoting, strict=True):
        text = content[begin:position]
        if text.strip():
            # A row may begin with blank delimiters, so only the line end is cut off.
            yield Row(begin, begin + len(text.rstrip("\n")), cells)
        begin = position


def _evenness(content: str, start: int, delimiter: str, quoting: Quoting) -> tuple[bool, float]:
    """Return whether the first row has the most frequent number of fields, and the share of rows that have it."""
    widths: list[int] = []
    try:
        for row in rows(content, start, delimiter, quoting):
            widths.append(len(row.cells))
            if len(widths) == _SAMPLE_ROWS or row.end - start > _LONGEST_SAMPLE:
                break
    except csv.Error:
        return False, 0.0
    wide = Counter(width for width in widths if width > 1)
    if not wide or len(widths) < 2:
        return False, 0.0
    width, count = wide.most_common(1)[0]
    return widths[0] == width, count / len(widths)


def _columns_and_rows(found: Iterator[Row]) -> tuple[list[str], list[Span]]:
    sample = list(islice(found, _SAMPLE_ROWS))
    if not sample:
        return [], []
    width = Counter(len(row.cells) for row in sample).most_common(1)[0][0]
    # A report may begin with titles before the table.
    first = next(index for index, row in enumerate(sample) if len(row.cells) == width)
    header, below = sample[first].cells, sample[first + 1 :]
    has_header = is_header(header, [row.cells for row in below])
    # If there is only text below, the first row may be data and stays quotable.
    if has_header and any(_is_typed(index, below) for index in range(width)):
        del sample[first]
    spans = [(row.start, row.end) for row in sample]
    spans += [(row.start, row.end) for row in found]
    return [" ".join(cell.split()) for cell in header if cell.strip()] if has_header else [], spans


def is_header(cells: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row of cells names the columns of the rows below."""
    names = [cell.strip() for cell in cells if cell.strip()]
    if not below or not names or len(names) * 2 < len(cells) or len(set(names)) < len(names):
        return False
    if any(_NUMBER.fullmatch(name) or len(name) > _LONGEST_NAME for name in names):
        return False
    return not any(
        cell.strip() and index < len(row) and row[index].strip() == cell.strip()
        for index, cell in enumerate(cells)
        for row in below
    )


def _is_typed(index: int, below: Sequence[Row]) -> bool:
    """Whether a column contains numbers, dates or the like."""
    values = [row.cells[index].strip() for row in below if index < len(row.cells) and row.cells[index].strip()]
    return len(values) > 0 and sum(bool(_NUMBER.fullmatch(each)) for each in values) * 10 >= len(values) * 9
