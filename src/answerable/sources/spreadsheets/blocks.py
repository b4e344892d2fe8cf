"""Find the tables of a sheet: rows divided by empty rows, tables side by side, titles above a header, headers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

from answerable.sources.spreadsheets.sheet import Row, Sheet
from answerable.tables.delimited import is_header

_HEADER_WITHIN = 12
_SAMPLE = 200
_TIME = re.compile(r"(?:1[89]|20|21)\d\d(?:-\d\d(?:-\d\d)?)?")
_NUMBER = re.compile(r"[^\w\s]{0,3}\s?[A-Z]{0,3}\s?[+(-]?[^\w\s]{0,2}\s?\d[\d.,' /:%-]*[^\W\d_€$£]{0,3}[€$£)]?")
_WIDEST_SPARSE = 10
_SMALL_SPARSE = 10_000


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table or a title: texts by column, the numbers of its first and last row, and whether it is hidden."""

    first: int
    last: int
    cells: dict[int, str]
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class _Hints:
    """The rows that filters say are headers, and for cells over several columns, by row and column, the last column."""

    headers: Collection[int]
    wide: Mapping[tuple[int, int], int]


@dataclass(slots=True)
class Block:
    """Rows that belong together. `columns` are those with text; `header` names them, None if no row does.

    `is_sparse`: its rows have so few cells that they aren't aligned.
    """

    columns: list[int]
    rows: list[Line] = field(default_factory=list)
    header: Line | None = None
    is_sparse: bool = False

    @property
    def lines(self) -> list[Line]:
        """The header, if any, and the rows."""
        return [self.header, *self.rows] if self.header else self.rows


def find_blocks(sheet: Sheet) -> list[Block]:
    """Return the blocks of a sheet from top to bottom, tables side by side from left to right."""
    wide = {(merge.first_row, merge.first_column): merge.last_column for merge in sheet.merges}
    hints = _Hints(sheet.headers, wide)
    blocks: list[Block] = []
    for run in _runs(sheet.rows):
        for rows in _side_by_side(run, hints):
            for block in _blocks(rows, hints):
                if blocks and _continues(block, blocks[-1]):
                    blocks[-1].rows += block.rows
                else:
                    blocks.append(block)
    return blocks


def _runs(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield rows that follow each other without an empty one between them."""
    run: list[Row] = []
    for row in rows:
        if run and row.number > run[-1].number + 1:
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def _side_by_side(run: Sequence[Row], hints: _Hints) -> list[list[Row]]:
    """Divide a run at the empty columns that stand between two tables with a header each."""
    used = sorted({column for row in run for column in row.cells})
    groups: dict[int, int] = {}
    for before, column in pairwise([used[0], *used]):
        groups[column] = groups.get(before, 0) + (column > before + 1)
    apart = _divided(run, groups)
    if len(apart) == 1:
        return apart
    tables = [_find_header(rows, hints) is not None for rows in apart]
    joined = [0]
    left_is_table = tables[0]
    for is_table in tables[1:]:
        starts_anew = left_is_table and is_table
        joined.append(joined[-1] + starts_anew)
        left_is_table = is_table if starts_anew else left_is_table or is_table
    return _divided(run, {column: joined[group] for column, group in groups.items()})


def _divided(run: Sequence[Row], groups: Mapping[int, int]) -> list[list[Row]]:
    """Divide the rows of a run by the group of each column."""
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
    """Yield what stands above the header of a run, row by row if it is a title, and the table."""
    header = _find_header(rows, hints)
    if header is None:
        yield from _plain(rows)
        return
    yield from _plain([row for row in rows if row.number < header.first])
    yield _block([_line(row) for row in rows if row.number > header.last], header)


def _plain(rows: Sequence[Row]) -> Iterator[Block]:
    """Yield blocks without header: single cells are titles or notes, other rows stay together."""
    together: list[Line] = []
    for row in rows:
        if len(row.cells) == 1 and len(together) < 2:
            if together:
                yield _block(together)
                together = []
            yield _block([_line(row)])
        else:
            together.append(_line(row))
    if together:
        yield _block(together)


def _block(rows: list[Line], header: Line | None = None) -> Block:
    lines = [header, *rows] if header else rows
    columns = sorted({column for line in lines for column in line.cells})
    filled = sum(len(line.cells) for line in lines)
    is_sparse = len(columns) * len(lines) > _WIDEST_SPARSE * filled + _SMALL_SPARSE
    return Block(columns, lines if is_sparse else rows, None if is_sparse else header, is_sparse)


def _line(row: Row) -> Line:
    return Line(row.number, row.number, row.cells, row.is_hidden)


def _find_header(rows: Sequence[Row], hints: _Hints) -> Line | None:
    """Return the row, or the two rows, that name the columns of those below; None if none does."""
    for place, row in enumerate(rows[:_HEADER_WITHIN]):
        below = rows[place + 1 : place + 1 + _SAMPLE]
        if not below:
            return None
        names = _two_rows(row, below[0], hints.wide) if len(below) > 1 else None
        if names and _names_columns(names, below[1:], is_bold=True):
            return Line(row.number, below[0].number, names, row.is_hidden)
        if (row.number in hints.headers and len(row.cells) > 1) or _names_columns(row.cells, below, row.is_bold):
            return _line(row)
    return None


def _names_columns(names: Mapping[int, str], below: Sequence[Row], is_bold: bool) -> bool:
    used = sorted({*names, *(column for row in below for column in row.cells)})
    if len(names) < 2 or len(names) * 2 < len(used):
        return False
    texts = [names.get(column, "") for column in used]
    others = [[row.cells.get(column, "") for column in used] for row in below]
    times = [place for place, text in enumerate(texts) if _TIME.fullmatch(text)]
    if len(times) > 1 and all(texts[one] < texts[other] for one, other in pairwise(times)):
        # Years or months name the columns of their figures.
        texts = [f"column {place}" if place in times else text for place, text in enumerate(texts)]
    if not is_header(texts, others):
        return False
    # A list of names and values in two columns looks as if its first row were a header.
    return len(used) > 2 or is_bold or any(_is_typed(place, others) for place in range(len(used)))


def _is_typed(place: int, rows: Sequence[Sequence[str]]) -> bool:
    """Whether most cells of a column are numbers or dates."""
    filled = [row[place] for row in rows if row[place]]
    return bool(filled) and sum(bool(_NUMBER.fullmatch(text)) for text in filled) * 10 >= len(filled) * 7


def _two_rows(row: Row, below: Row, wide: Mapping[tuple[int, int], int]) -> dict[int, str] | None:
    """Return the names of a header of two rows, "2023" over "Budget" and "Spent"; None if it has only one."""
    last = max(below.cells)
    groups = {
        column: text
        for start, text in row.cells.items()
        for column in range(start, max(start, min(wide.get((row.number, start), start), last)) + 1)
    }
    is_title = len(row.cells) == 1 and groups.keys() >= below.cells.keys()
    if len(groups) == len(row.cells) or is_title:
        return None
    if any(_NUMBER.fullmatch(text) and not _TIME.fullmatch(text) for text in below.cells.values()):
        return None
    both = {
        column: [text for text in (groups.get(column), below.cells.get(column)) if text]
        for column in sorted(groups.keys() | below.cells.keys())
    }
    return {column: " ".join(dict.fromkeys(texts)) for column, texts in both.items()}


def _continues(block: Block, before: Block) -> bool:
    """Whether a block is more rows of the table above it, after an empty row."""
    if block.header or not before.header or block.is_sparse or not set(block.columns) <= set(before.columns):
        return False
    named = [column for column in before.columns if column in before.header.cells]
    return len(block.columns) > 1 and max(len(line.cells) for line in islice(block.rows, 20)) * 2 >= len(named)
