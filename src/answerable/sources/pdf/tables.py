"""Find the rows of tables on a page, and where their cells begin; runs in the reading process.

Consecutive lines are rows if they have the same number of cells, wide gaps between cells, and aligned columns. Rows
without figures need three columns. A row may lack cells if those that it has align.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from answerable.sources.pdf.geometry import Cell, Geometry
from answerable.sources.pdf.page_text import line_starts

FEWEST_ROWS = 3
LONGEST = 200
PROSE = 45
GAPS = range(1, 16)
LOOSE = 0.56
MARK = 3
ALIGNED = 3.0
_LINE = re.compile("[^\r\n\ufffe]+")
_FIGURE = re.compile(r"\d")

Row = tuple[int, list[Cell], int]
Line = tuple[int, str]


def table_rows(geometry: Geometry, raw: str, index_of: Callable[[int], int]) -> list[tuple[int, list[int]]]:
    """Return the number of each line that is a row, and where its cells begin in it, in order.

    `index_of` maps an offset in the raw text to PDFium's index of the character.
    """
    found: list[tuple[int, list[int]]] = []
    for run in _candidates(raw):
        for lines in _stretches(run, lambda line: _is_loose(geometry, line[1], index_of(line[0]))):
            rows = [(start, geometry.cells(index_of(start), text), len(text)) for start, text in lines]
            for table in _tables(rows):
                if _is_clear(table, raw):
                    found += [(start, [place for place, _, _ in cells]) for start, cells, _ in table]
    if not found:
        return []
    starts = line_starts(raw)
    return [(bisect_left(starts, start), cells) for start, cells in found]


def _candidates(raw: str) -> Iterator[list[Line]]:
    """Yield runs of lines with gaps, each with the line before it, which may be the header."""
    run: list[Line] = []
    reached = -1
    for match in _LINE.finditer(raw):
        start, text = match.start(), match[0].rstrip()
        if len(text) > LONGEST or text.count(" ") not in GAPS or " . ." in text:
            continue
        # Most lines of prose are such ones, and need no measuring.
        if len(text) > PROSE and text[0].islower() and not _FIGURE.search(text):
            continue
        if start > reached:
            yield run
            before = raw.rfind("\n", 0, max(start - 2, 0)) + 1
            header = raw[before:start].rstrip()
            run = [(before, header)] if header and len(header) <= LONGEST and "\ufffe" not in header else []
        run.append((start, text))
        reached = match.end() + 2
    yield run


def _stretches(lines: Sequence[Line], is_loose: Callable[[Line], bool]) -> Iterator[Sequence[Line]]:
    """Yield runs of at least three loose lines. Checks the third line first, so that few lines are measured."""
    start = 0
    while start + FEWEST_ROWS <= len(lines):
        tight = next((place for place in range(FEWEST_ROWS - 1, -1, -1) if not is_loose(lines[start + place])), None)
        if tight is not None:
            start += tight + 1
            continue
        end = start + FEWEST_ROWS
        while end < len(lines) and is_loose(lines[end]):
            end += 1
        yield lines[start:end]
        start = end


def _is_loose(geometry: Geometry, text: str, first: int) -> bool:
    """Whether a line is wider than its characters would be without gaps."""
    start, end = geometry.box(first), geometry.box(first + len(text) - 1)
    return start is not None and end is not None and end[2] - start[0] > LOOSE * len(text) * geometry.size(first)


def _tables(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield runs of rows with the same number of cells whose columns align at the left, at the right or centred."""
    table: list[Row] = []
    full: list[list[Cell]] = []
    for start, cells, length in [*rows, (-1, [], 0)]:
        if table and len(cells) == len(full[-1]) and all(map(_align, full[-1], cells)):
            table.append((start, cells, length))
            full.append(cells)
            continue
        if len(full) >= FEWEST_ROWS - 1 and (padded := _padded(cells, full[-1], length)):
            table.append((start, padded, length))
            continue
        if len(full) >= FEWEST_ROWS:
            yield table
        table, full = ([(start, cells, length)], [cells]) if len(cells) > 1 else ([], [])


def _padded(cells: Sequence[Cell], columns: Sequence[Cell], length: int) -> list[Cell]:
    """Return a cell for each column, empty where the row has none; none if the row's cells fit no columns."""
    if not 1 < len(cells) < len(columns) or not _align(columns[0], cells[0]):
        return []
    padded: list[Cell] = []
    rest = list(cells)
    for column in columns:
        if rest and _align(column, rest[0]):
            padded.append(rest.pop(0))
        else:
            padded.append((rest[0][0] if rest else length, column[1], column[2]))
    return [] if rest else padded


def _is_clear(table: Sequence[Row], raw: str) -> bool:
    """Whether the rows are no list items after numbers or bullets, and have figures or three columns."""
    start, cells, _ = table[0]
    if len(cells) > 2:
        return True
    is_list = len(raw[start : start + cells[1][0]].strip()) <= MARK
    return not is_list and any(_FIGURE.search(raw, start, start + length) for start, _, length in table)


def _align(one: Cell, other: Cell) -> bool:
    left, right = one[1] - other[1], one[2] - other[2]
    return min(abs(left), abs(right), abs(left + right) / 2) <= ALIGNED
