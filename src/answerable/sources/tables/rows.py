"""Text with delimiters → its rows: where each begins and ends, and what the columns are called.

The delimiter is found by counting: of those that give nearly all rows the same number of fields, the header's number
at best, the likeliest. Excel writes semicolons wherever the comma is the decimal mark, as in Spanish and Portuguese.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

Quoting = Literal[0, 1, 2, 3]
# Where quotes turn out to be none, they are characters like any other.
_QUOTING: tuple[Quoting, ...] = (csv.QUOTE_MINIMAL, csv.QUOTE_NONE)
# The likeliest first: a comma is also what decimal numbers and prose hold.
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
    """A row at its place in the text, without the line's end."""

    start: int
    end: int
    cells: list[str]


def read_table(content: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The names of the columns, as far as there is a header, and the span of every row of data.

    No rows for a text that is no table.
    """
    declared = _DECLARED.match(content)
    start = declared.end() if declared else 0
    delimiters = declared[1] if declared else _DELIMITERS
    for quoting in _QUOTING:
        delimiter = _delimiter(content, start, delimiters, quoting)
        if not delimiter:
            continue
        try:
            return _columns_and_rows(filter(_says_something, rows(content, start, delimiter, quoting)))
        except csv.Error:
            continue
    return [], []


def rows(content: str, start: int, delimiter: str, quoting: Quoting = csv.QUOTE_MINIMAL) -> Iterator[Row]:
    """The rows of a table, quoted line breaks respected, blank lines left out. Raises csv.Error at unsound quotes."""
    lines = _Lines(content, start)
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    while True:
        begin = lines.position
        cells = next(reader, None)
        if cells is None:
            return
        text = content[begin : lines.position]
        if text.strip():
            # A row may begin with delimiters that are blank themselves: only the line's end is cut off.
            yield Row(begin, begin + len(text.rstrip("\n")), cells)


class _Lines:
    """The lines of a text one by one, and how far they have been taken."""

    def __init__(self, content: str, start: int) -> None:
        self._content = content
        self.position = start

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        start = self.position
        if start >= len(self._content):
            raise StopIteration
        end = self._content.find("\n", start)
        self.position = len(self._content) if end < 0 else end + 1
        return self._content[start : self.position]


def _delimiter(content: str, start: int, delimiters: str, quoting: Quoting) -> str:
    """The delimiter that makes a table of the text, or nothing."""
    best = max(delimiters, key=lambda each: _evenness(content, start, each, quoting))
    return best if _evenness(content, start, best, quoting)[1] >= _SAME_WIDTH else ""


def _evenness(content: str, start: int, delimiter: str, quoting: Quoting) -> tuple[bool, float]:
    """Whether the first row is as wide as most, and how many are."""
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


def _columns_and_rows(found: Iterator[Row]) -> tuple[list[str], list[tuple[int, int]]]:
    sample = list(islice(found, _SAMPLE_ROWS))
    if not sample:
        return [], []
    width = Counter(len(row.cells) for row in sample).most_common(1)[0][0]
    # Reports begin with a title or two before the table itself.
    first = next(index for index, row in enumerate(sample) if len(row.cells) == width)
    header, below = sample[first].cells, sample[first + 1 :]
    has_header = _is_header(header, below)
    # Where nothing but text stands below, the first row may be data after all: then it can be quoted too.
    if has_header and any(_is_typed(index, below) for index in range(width)):
        del sample[first]
    spans = [(row.start, row.end) for row in sample]
    spans += [(row.start, row.end) for row in found]
    return [" ".join(cell.split()) for cell in header if cell.strip()] if has_header else [], spans


def _is_header(cells: Sequence[str], below: Sequence[Row]) -> bool:
    names = [cell.strip() for cell in cells if cell.strip()]
    if not below or not names or len(names) * 2 < len(cells) or len(set(names)) < len(names):
        return False
    if any(_NUMBER.fullmatch(name) or len(name) > _LONGEST_NAME for name in names):
        return False
    return not any(
        cell.strip() and index < len(row.cells) and row.cells[index].strip() == cell.strip()
        for index, cell in enumerate(cells)
        for row in below
    )


def _is_typed(index: int, below: Sequence[Row]) -> bool:
    """Whether a column holds numbers, dates or the like."""
    values = [row.cells[index].strip() for row in below if index < len(row.cells) and row.cells[index].strip()]
    return len(values) > 0 and sum(bool(_NUMBER.fullmatch(each)) for each in values) * 10 >= len(values) * 9


def _says_something(row: Row) -> bool:
    return any(_WORD.search(cell) for cell in row.cells)
