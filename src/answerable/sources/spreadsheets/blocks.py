"""A sheet, as rows of displayed text → its tables: divided by empty rows, side by side, with titles and headers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby, islice, pairwise

from answerable.errors import SourceTooLarge
from answerable.tables.grid import header_of
from answerable.tables.headers import joined
from answerable.tables.values import shape_of, split_number

LAST_ROW = 1_048_576  # number of the last row; Excel's own limit
LAST_COLUMN = 16_384  # number of the last column; Excel's own limit


@dataclass(slots=True)
class Row:
    """A row with its number from 1, and the text of each filled cell by its column from 0.

    `is_bold`: all of its filled cells are bold, as in a header. `last` is the number of the header's second row, if the
    header has two rows.
    """

    number: int
    cells: dict[int, str]
    is_hidden: bool = False
    is_bold: bool = False
    last: int = 0

    @property
    def end(self) -> int:
        """The number of this row, or of the second row of a header."""
        return self.last or self.number


@dataclass(frozen=True, slots=True)
class Merge:
    """Cells that are displayed as one cell: rows from 1 and columns from 0, both ends included."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int


@dataclass(slots=True)
class Sheet:
    """A sheet: its filled rows in order, merged cells, and hidden columns from 0.

    `headers` are the rows that the workbook itself marks as column names: the first row of a filter. `uncalculated`
    counts the formulas without a stored value.
    """

    name: str
    is_hidden: bool = False
    rows: list[Row] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    hidden_columns: set[int] = field(default_factory=set)
    headers: set[int] = field(default_factory=set)
    uncalculated: int = 0


class Room:
    """Counts the characters and cells of a workbook while they are read: a cell may be repeated a million times."""

    def __init__(self, limit: int, source: str, advice: str) -> None:
        self._left = limit
        self._limit = limit
        self._source = source
        self._advice = advice

    def take(self, characters: int) -> None:
        """Count a cell of this many characters. Raises SourceTooLarge when the workbook exceeds its limit."""
        self._left -= characters + 3
        if self._left < 0:
            raise SourceTooLarge(
                f"{self._source} holds over {self._limit:,} characters: {self._advice}, or raise the setting "
                "max_file_size"
            )


def column_letters(column: int) -> str:
    """Return the letters of a column, whose number counts from 0: A, B … Z, AA."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def column_number(letters: str) -> int:
    """Return the number from 0 of the column with these letters."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def fill_merged(sheet: Sheet) -> None:
    """Repeat the text of cells merged over several rows in each of these rows that has other text.

    A group's name next to its rows belongs to each of the rows. Text merged over several columns stays where it is.
    """
    numbers = [row.number for row in sheet.rows]
    filled = 0
    for merge in sheet.merges:
        first, after = bisect_left(numbers, merge.first_row), bisect_right(numbers, merge.last_row)
        is_filled = first < after and numbers[first] == merge.first_row
        text = sheet.rows[first].cells.get(merge.first_column, "") if is_filled else ""
        for place in range(first + 1, after) if text else ():
            sheet.rows[place].cells.setdefault(merge.first_column, text)
            filled += 1
            if filled > len(sheet.rows):
                # Merged cells don't overlap, except in hostile files.
                return


_HEADER_WITHIN = 12  # rows at the beginning of a table, among which its header is looked for
_SAMPLE = 200  # rows that are compared with a possible header
_WIDEST_SPARSE = 10  # cells per filled cell; above, a table's cells are not aligned in columns; a guess, not measured
_SMALL_SPARSE = 10_000  # cells, to which the limit above doesn't apply; a guess, not measured


@dataclass(frozen=True, slots=True)
class _Hints:
    """The rows that filters mark as headers; and, by (row, column), the last column of each cell that spans columns."""

    headers: Collection[int]
    wide: Mapping[tuple[int, int], int]


@dataclass(slots=True)
class Block:
    """Rows that belong together. `columns` are those with text; `header` names them, or is None if no row does.

    `is_sparse`: so few of its cells are filled that the rows aren't aligned in columns.
    """

    columns: list[int]
    rows: list[Row] = field(default_factory=list)
    header: Row | None = None
    is_sparse: bool = False

    @property
    def lines(self) -> list[Row]:
        """The header, if there is one, and the rows."""
        return [self.header, *self.rows] if self.header else self.rows


def find_blocks(sheet: Sheet) -> list[Block]:
    """Return the blocks of a sheet from top to bottom; tables next to each other come from left to right."""
    wide = {(merge.first_row, merge.first_column): merge.last_column for merge in sheet.merges}
    hints = _Hints(sheet.headers, wide)
    blocks: list[Block] = []
    # An empty row divides the rows above it from those below.
    for _, run in groupby(enumerate(sheet.rows), lambda each: each[1].number - each[0]):
        for rows in _side_by_side([row for _, row in run], hints):
            for block in _blocks(rows, hints):
                if blocks and _continues(block, blocks[-1]):
                    blocks[-1].rows += block.rows
                else:
                    blocks.append(block)
    return blocks


def _side_by_side(run: Sequence[Row], hints: _Hints) -> list[list[Row]]:
    """Divide a run of rows at empty columns between two tables that both have a header."""
    used = sorted({column for row in run for column in row.cells})
    groups: dict[int, int] = {}
    for before, column in pairwise([used[0], *used]):
        groups[column] = groups.get(before, 0) + (column > before + 1)
    apart = _divided(run, groups)
    if len(apart) == 1:
        return apart
    tables = accumulate(_find_header(rows, hints) is not None for rows in apart)
    joined = [max(count - 1, 0) for count in tables]
    return _divided(run, {column: joined[group] for column, group in groups.items()})


def _divided(run: Sequence[Row], groups: Mapping[int, int]) -> list[list[Row]]:
    """Divide the rows of a run by the group to which each column belongs."""
    found: list[list[Row]] = [[] for _ in range(max(groups.values()) + 1)]
    if len(found) == 1:
        return [list(run)]
    for row in run:
        cells: dict[int, dict[int, str]] = {}
        for column in sorted(row.cells):
            cells.setdefault(groups[column], {})[column] = row.cells[column]
        for group, own in cells.items():
            found[group].append(Row(row.number, own, row.is_hidden, row.is_bold))
    return found


def _blocks(rows: Sequence[Row], hints: _Hints) -> Iterator[Block]:
    """Yield the rows above a run's header, each title as a block, and then the table."""
    header = _find_header(rows, hints)
    if header is None:
        yield from _plain(rows)
        return
    yield from _plain([row for row in rows if row.number < header.number])
    yield _block([row for row in rows if row.number > header.end], header)


def _plain(rows: Sequence[Row]) -> Iterator[Block]:
    """Yield blocks without a header: a row with a single cell is a title or note; other rows stay together."""
    together: list[Row] = []
    for row in rows:
        if len(row.cells) == 1 and len(together) < 2:
            if together:
                yield _block(together)
                together = []
            yield _block([row])
        else:
            together.append(row)
    if together:
        yield _block(together)


def _block(rows: list[Row], header: Row | None = None) -> Block:
    lines = [header, *rows] if header else rows
    columns = sorted({column for line in lines for column in line.cells})
    filled = sum(len(line.cells) for line in lines)
    is_sparse = len(columns) * len(lines) > _WIDEST_SPARSE * filled + _SMALL_SPARSE
    return Block(columns, lines if is_sparse else rows, None if is_sparse else header, is_sparse)


def _find_header(rows: Sequence[Row], hints: _Hints) -> Row | None:
    """Return the row, or the two rows, with the names of the columns below; None if there is no such row.

    A row that names all columns of figures is preferred, because lines above a table look like headers, too.
    """
    partial: Row | None = None
    for place, row in enumerate(rows[:_HEADER_WITHIN]):
        below = rows[place + 1 : place + 1 + _SAMPLE]
        if not below:
            break
        names = _two_rows(row, below, hints.wide) if len(below) > 1 else None
        if names and _names_columns(names, below[1:], is_bold=True):
            return Row(row.number, names, row.is_hidden, last=below[0].number)
        if row.number in hints.headers and len(row.cells) > 1:
            return row
        if _names_columns(row.cells, below, row.is_bold):
            lower = below[len(below) // 2 :]
            usual = Counter(column for line in lower for column in line.cells if column not in row.cells)
            unnamed = [column for column, count in usual.items() if column > min(row.cells) and count * 2 > len(lower)]
            if not any(_are_figures(line.cells.get(column, "") for line in lower) for column in unnamed):
                return row
            partial = partial or row
    return partial


def _names_columns(names: Mapping[int, str], below: Sequence[Row], is_bold: bool) -> bool:
    used = sorted({*names, *(column for row in below for column in row.cells)})
    if len(names) < 2 or len(names) * 2 < len(used):
        return False
    # A struck figure is a figure all the same.
    others = [[row.cells.get(column, "").strip("~") for column in used] for row in below]
    if not header_of([[names.get(column, "") for column in used], *others]):
        return False
    # In a list of names and values in two columns, the first row may look like a header without being one.
    return len(used) > 2 or is_bold or any(map(_are_figures, zip(*others, strict=True)))


def _are_figures(texts: Iterable[str]) -> bool:
    """Whether most of the texts are numbers or dates."""
    filled = list(filter(None, texts))
    figures = [text for text in filled if shape_of(text) == "figure" or split_number(text, "USD") is not None]
    return bool(filled) and len(figures) * 10 >= len(filled) * 7


def _two_rows(row: Row, below: Sequence[Row], wide: Mapping[tuple[int, int], int]) -> dict[int, str]:
    """Return the names of a two-row header, "2023" over "Budget" and "Spent"; {} if the header has only one row."""
    second = below[0].cells
    columns = sorted(row.cells.keys() | second.keys())
    top: list[str | None] = []
    last = -1
    for column in columns:
        text = row.cells.get(column, "")
        # A name that is repeated instead of merged continues, too.
        continues = column <= last or (text and text == row.cells.get(column - 1))
        top.append(None if continues else text)
        last = max(last, wide.get((row.number, column), column))
    if len(row.cells) == 1 and None not in top:
        return {}
    others = [[each.cells.get(column, "") for column in columns] for each in below[1:]]
    names = joined(top, [second.get(column, "") for column in columns], others)
    return {column: name for column, name in zip(columns, names, strict=False) if name}


def _continues(block: Block, before: Block) -> bool:
    """Whether a block continues the table above it, after an empty row."""
    if block.header or not before.header or block.is_sparse or not set(block.columns) <= set(before.columns):
        return False
    named = [column for column in before.columns if column in before.header.cells]
    return len(block.columns) > 1 and max(len(line.cells) for line in islice(block.rows, 20)) * 2 >= len(named)
