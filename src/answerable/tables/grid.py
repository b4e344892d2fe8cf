"""A grid of texts → a Table: its header, its columns' kinds, the rows that only repeat it or sum it up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, pairwise

from answerable.datatypes import Document
from answerable.tables.columns import read_columns
from answerable.tables.delimited import is_header
from answerable.tables.table import Kind, Origin, Row, Table, Value
from answerable.tables.values import Customs, DayOrder, dollar_of
from answerable.tables.words import folded, word_set
from answerable.text.languages import question_language

MOST_CELLS = 200_000
"""The most cells of a table that are kept: columns times rows."""

WIDEST = 1_000
"""The most columns of a table that are kept."""

_HEADER_SAMPLE = 200
_MOST_TITLES = 5
_SAMPLE = 20_000
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")
_AFTER_TOTAL = re.compile(r"(?:[:=.* ]|\([^()]{0,20}\)|\b\d{4}\b)*$")
_LONGEST_TOTAL = 40


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a document as texts; `document.content[start:end]` is the row."""

    start: int
    end: int
    cells: Sequence[str]


def customs_of(document: Document) -> Customs:
    """Return how a document writes numbers, dates and money, where its tables leave it open."""
    content = document.content
    language = document.language or question_language(content[:_SAMPLE])
    # English without European money is most likely American.
    is_american = language == "en" and "£" not in content and "€" not in content
    return Customs(
        decimal="," if language in word_set("values", "codes", "comma_languages") else ".",
        order=DayOrder.MONTH_FIRST if is_american else DayOrder.DAY_FIRST,
        dollar=dollar_of(content),
    )


def make_table(
    lines: Iterable[Line],
    title: str,
    customs: Customs,
    *,
    origin: Origin = Origin.TABLE,
    names: Sequence[str] | None = None,
    has_header: bool = False,
    is_mark_known: bool = False,
) -> Table | None:
    """Return the table of some lines, or None if it has no rows.

    `names` are the columns' names; None: the first line names them if it looks like a header or `has_header` is true,
    otherwise they are "1", "2" and so on. `is_mark_known`: the decimal mark is that of `customs`.
    """
    filled = (line for line in lines if names or any(cell.strip() for cell in line.cells))
    lines, is_cut = _bounded(filled, headers=int(names is None))
    header = list(names or ())
    if names is None:
        lines, title = _without_title(lines, title)
        header = _header(lines, has_header)
        lines = [line for line in lines if not header or not _repeats(line.cells, header)]
    if not lines:
        return None
    width = min(max(len(header), *(len(line.cells) for line in lines)), WIDEST)
    grid = [_padded(line.cells, width) for line in lines]
    totals = {place for place, cells in enumerate(grid) if says_total(cells)}
    columns, values = read_columns(_distinct(header, width), grid, customs, is_mark_known, totals)
    rows = [Row(line.start, line.end, row) for line, row in zip(lines, values, strict=True)]
    numbers = [index for index, column in enumerate(columns) if column.kind is Kind.NUMBER]
    named = {place for place in totals if _is_total(grid[place])}
    kept, total = _without_totals(rows, totals, named, numbers)
    return Table(origin, title, columns, tuple(kept), total, is_cut) if kept else None


def _bounded(lines: Iterable[Line], headers: int) -> tuple[list[Line], bool]:
    """Return as many lines as are kept, besides headers, and whether there are more."""
    found: list[Line] = []
    widest = 1
    for line in lines:
        widest = max(widest, min(len(line.cells), WIDEST))
        if (len(found) + 1 - headers) * widest > MOST_CELLS:
            return found, True
        found.append(line)
    return found, False


def _without_title(lines: list[Line], title: str) -> tuple[list[Line], str]:
    """Return the lines from the header on, and the text of a line above it that fills one cell: the table's title."""
    filled = [[cell.strip() for cell in line.cells if cell.strip()] for line in lines[:_MOST_TITLES]]
    place = next((place for place, cells in enumerate(filled) if len(cells) > 1), 0)
    return (lines[place:], filled[0][0]) if place and _header(lines[place:]) else (lines, title)


def _header(lines: Sequence[Line], is_certain: bool = False) -> list[str]:
    """Return the names in the first line, [] if it is a row like the others."""
    if len(lines) < 2:
        return []
    first = [cell.strip() for cell in lines[0].cells]
    names = [name for name in first if name]
    if is_certain and len(names) * 2 >= len(first):
        return first
    below = [line.cells for line in islice(lines, 1, _HEADER_SAMPLE) if not _repeats(line.cells, first)]
    years = [index for index, cell in enumerate(first) if _YEAR.fullmatch(cell)]
    if len(years) > 1 and _is_sequence([int(first[index]) for index in years]) and len(years) < len(first):
        # "Concept | 2023 | 2024": what stands beside the years decides.
        places = [index for index in range(len(first)) if index not in years]
        below = [[row[index] for index in places if index < len(row)] for row in below]
        names = [first[index] for index in places]
        return first if below and (not any(names) or is_header(names, below)) else []
    return first if is_header(first, below) else []


def _is_sequence(years: Sequence[int]) -> bool:
    return all(after > before for before, after in pairwise(years)) or all(
        after < before for before, after in pairwise(years)
    )


def _repeats(cells: Sequence[str], header: Sequence[str]) -> bool:
    return [cell.strip() for cell in cells[: len(header)]] == [cell.strip() for cell in header]


def _distinct(header: Sequence[str], width: int) -> list[str]:
    """Return a name for every column; a column without a name has its number."""
    names = (" ".join(header[index].split()) if index < len(header) else "" for index in range(width))
    return [name or str(index + 1) for index, name in enumerate(names)]


def _padded(cells: Sequence[str], width: int) -> list[str]:
    kept = [cell.strip() for cell in cells[:width]]
    return kept + [""] * (width - len(kept))


def _without_totals(
    rows: Sequence[Row], totals: Collection[int], named: Collection[int], numbers: Sequence[int]
) -> tuple[list[Row], Row | None]:
    """Return the rows without those of `totals` that sum up others, and the last of these.

    The last row needn't be the sum if it is one of `named`.
    """
    if not totals:
        return list(rows), None
    kept: list[Row] = []
    total = None
    whole, since = _Sums(numbers), _Sums(numbers)
    for place, row in enumerate(rows):
        is_last = place == len(rows) - 1
        if kept and place in totals and ((is_last and place in named) or whole.equal(row) or since.equal(row)):
            total = row
            since = _Sums(numbers)
            continue
        kept.append(row)
        whole.add(row)
        since.add(row)
    return kept, total


def _is_total(cells: Sequence[str]) -> bool:
    """Whether the first text of a row is a word for the sum of others."""
    first = next(filter(None, cells), "")
    if len(first) > _LONGEST_TOTAL or not first[:1].isalpha():
        return False
    return _AFTER_TOTAL.sub("", folded(first)) in word_set("values", "totals")


def says_total(cells: Sequence[str]) -> bool:
    """Return whether a text of a row begins or ends with a word for a sum: "Subtotal May", "North Total"."""
    words = [_AFTER_TOTAL.sub("", folded(cell)).split() for cell in cells if 0 < len(cell) <= _LONGEST_TOTAL]
    return _is_total(cells) or any({each[0], each[-1]} & word_set("values", "totals") for each in words if each)


class _Sums:
    """The exact sums of the columns of numbers."""

    def __init__(self, columns: Sequence[int]) -> None:
        self._sums = dict.fromkeys(columns, Decimal(0))

    def add(self, row: Row) -> None:
        for column in self._sums:
            self._sums[column] += _exact(row.values[column])

    def equal(self, row: Row) -> bool:
        """Whether a number of a row is the sum in its column."""
        return any(
            row.values[column].number is not None and _exact(row.values[column]) == found
            for column, found in self._sums.items()
        )


def _exact(value: Value) -> Decimal:
    return Decimal(0) if value.number is None else Decimal(repr(value.number))
