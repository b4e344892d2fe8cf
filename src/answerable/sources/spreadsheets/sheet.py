"""A sheet of a workbook as its reader finds it: rows of shown texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from answerable.errors import SourceTooLarge

LAST_ROW = 1_048_576
LAST_COLUMN = 16_384


@dataclass(slots=True)
class Row:
    """A row with its number from 1, and the text of each filled cell by its column from 0.

    `is_bold`: all of its filled cells are set in bold, as in a header.
    """

    number: int
    cells: dict[int, str]
    is_hidden: bool = False
    is_bold: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """Cells that are shown as one: rows from 1 and columns from 0, both ends included."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int


@dataclass(slots=True)
class Sheet:
    """A sheet: its filled rows in order, merged cells, and hidden columns from 0.

    `headers` are the rows of which the workbook itself says that they name columns: the first one of a filter.
    `uncalculated` counts formulas without a stored value.
    """

    name: str
    is_hidden: bool = False
    rows: list[Row] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    hidden_columns: set[int] = field(default_factory=set)
    headers: set[int] = field(default_factory=set)
    uncalculated: int = 0


class Room:
    """Counts the characters and cells of a workbook as they are read: a cell may be repeated a million times."""

    def __init__(self, limit: int, source: str, advice: str) -> None:
        self._left = limit
        self._limit = limit
        self._source = source
        self._advice = advice

    def take(self, characters: int) -> None:
        """Count a cell of this many characters. Raises SourceTooLarge."""
        self._left -= characters + 3
        if self._left < 0:
            raise SourceTooLarge(
                f"{self._source} holds over {self._limit:,} characters: {self._advice}, or raise the setting "
                "max_file_size"
            )


def column_letters(column: int) -> str:
    """Return the name of a column from 0: A, B … Z, AA."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def column_number(letters: str) -> int:
    """Return the number from 0 of a column's name."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def fill_merged(sheet: Sheet) -> None:
    """Repeat the text of cells merged over several rows in each of these rows that has other text.

    A group's name beside its rows belongs to each of them. Texts over several columns stay where they are.
    """
    by_number = {row.number: row for row in sheet.rows}
    filled = 0
    for merge in sheet.merges:
        top = by_number.get(merge.first_row)
        text = top.cells.get(merge.first_column) if top else None
        if not text:
            continue
        for row in _rows_below(sheet.rows, by_number, merge):
            row.cells.setdefault(merge.first_column, text)
            filled += 1
            if filled > len(sheet.rows):
                # Merged cells don't overlap, except in hostile files.
                return


def _rows_below(rows: list[Row], by_number: dict[int, Row], merge: Merge) -> Iterator[Row]:
    height = merge.last_row - merge.first_row
    if height < len(rows):
        found = (by_number.get(number) for number in range(merge.first_row + 1, merge.last_row + 1))
        yield from (row for row in found if row is not None)
    else:
        yield from (row for row in rows if merge.first_row < row.number <= merge.last_row)
