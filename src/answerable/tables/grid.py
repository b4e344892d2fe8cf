"""A grid of texts → a Table: its header, its columns' kinds, the rows that only repeat it or sum it up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, pairwise

from answerable.datatypes import Document
from answerable.tables.columns import read_columns
from answerable.tables.delimited import is_header
from answerable.tables.table import Kind, Origin, Row, Table, Value
from answerable.tables.values import dollar_of
from answerable.tables.words import folded, word_set
from answerable.text.languages import question_language

MOST_CELLS = 200_000
"""The most cells of a table that are kept: columns times rows."""

WIDEST = 1_000
"""The most columns of a table that are kept."""

_HEADER_SAMPLE = 200
_SAMPLE = 20_000
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")
_AFTER_TOTAL = re.compile(r"\s*(?:[:=.*]|\(.{0,20}\)|\d{4})*\s*$")
_LONGEST_TOTAL = 40


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a document as texts; `document.content[start:end]` is the row."""

    start: int
    end: int
    cells: Sequence[str]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a document tells about its tables: its language, what currency `$` is, the decimal mark if it is known."""

    language: str
    dollar: str
    decimal: str = ""


def setting_of(document: Document) -> Setting:
    """Return a document's language, guessed if it has none, and its dollar or peso."""
    language = document.language or question_language(document.content[:_SAMPLE])
    return Setting(language, dollar_of(document.content))


def make_table(
    lines: Iterable[Line],
    title: str,
    setting: Setting,
    origin: Origin = Origin.TABLE,
    names: Sequence[str] | None = None,
) -> Table | None:
    """Return the table of some lines, or None if it has no rows.

    `names` are the columns' names; None: the first line names them if it looks like a header, otherwise they are
    "1", "2" and so on.
    """
    lines, is_cut = _bounded(lines)
    width = min(max((len(line.cells) for line in lines), default=0), WIDEST)
    header = list(names) if names is not None else _header(lines, width)
    if names is None and header:
        lines = [line for line in lines if not _repeats(line.cells, header)]
    lines = [line for line in lines if any(cell.strip() for cell in line.cells)]
    if not lines or not width:
        return None
    width = max(width, min(len(header), WIDEST))
    grid = [_padded(line.cells, width) for line in lines]
    columns, values = read_columns(_distinct(header, width), grid, setting.language, setting.dollar, setting.decimal)
    rows = [Row(line.start, line.end, row) for line, row in zip(lines, values, strict=True)]
    numbers = [index for index, column in enumerate(columns) if column.kind is Kind.NUMBER]
    kept, total = _without_totals(rows, numbers)
    return Table(origin, title, columns, tuple(kept), total, is_cut) if kept else None


def _bounded(lines: Iterable[Line]) -> tuple[list[Line], bool]:
    """Return as many lines as are kept, and whether there are more."""
    found: list[Line] = []
    widest = 1
    for line in lines:
        widest = max(widest, min(len(line.cells), WIDEST))
        if (len(found) + 1) * widest > MOST_CELLS:
            return found, True
        found.append(line)
    return found, False


def _header(lines: Sequence[Line], width: int) -> list[str]:
    """Return the names in the first line, [] if it is a row like the others."""
    if not lines:
        return []
    first = list(lines[0].cells)
    below = [line.cells for line in islice(lines, 1, _HEADER_SAMPLE) if not _repeats(line.cells, first)]
    years = [index for index, cell in enumerate(first) if _YEAR.fullmatch(cell.strip())]
    if len(years) > 1 and _is_sequence([int(first[index]) for index in years]):
        # "Concept | 2023 | 2024"
        places = [index for index in range(len(first)) if index not in years]
        rest = [[row[index] for index in places if index < len(row)] for row in below]
        is_named = bool(below) and (not places or is_header([first[index] for index in places], rest))
        is_named |= bool(below) and places == [0] and not first[0].strip()
    else:
        is_named = is_header(first, below)
    return first[:width] if is_named else []


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


def _without_totals(rows: Sequence[Row], numbers: Sequence[int]) -> tuple[list[Row], Row | None]:
    """Return the rows without those that sum up others, and the last of these."""
    if not any(_says_total(row) for row in rows):
        return list(rows), None
    kept: list[Row] = []
    total = None
    whole, since = _Sums(numbers), _Sums(numbers)
    for place, row in enumerate(rows):
        is_last = place == len(rows) - 1
        if kept and _says_total(row) and (is_last or whole.equal(row) or since.equal(row)):
            total = row
            since = _Sums(numbers)
            continue
        kept.append(row)
        whole.add(row)
        since.add(row)
    return kept, total


def _says_total(row: Row) -> bool:
    first = next((value.text for value in row.values if value.text and value.number is None), "")
    if not first or len(first) > _LONGEST_TOTAL:
        return False
    return _AFTER_TOTAL.sub("", folded(first)) in word_set("values", "totals")


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
