"""Find the rows of tables on a page, and where their cells begin; runs in the reading process.

Only consecutive lines that contain numbers are examined. They are rows if they have the same number of cells, wide gaps
between cells, and aligned columns.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from answerable.sources.pdf.geometry import Cell, Geometry
from answerable.sources.pdf.page_text import line_starts

FEWEST_ROWS = 3
LONGEST = 200
GAPS = range(1, 16)
LOOSE = 0.56
MARK = 3
ALIGNED = 3.0
_LINE_WITH_FIGURE = re.compile("(?m)^[^\r\n\ufffe\\d]*\\d[^\r\n\ufffe]*")

Row = tuple[int, list[Cell]]
Line = tuple[int, str]


def table_rows(geometry: Geometry, raw: str, index_of: Callable[[int], int]) -> list[tuple[int, list[int]]]:
    """Return the number of each line that is a row, and where its cells begin in it, in order.

    `index_of` maps an offset in the raw text to PDFium's index of the character.
    """
    found: list[tuple[int, list[int]]] = []
    for run in _candidates(raw):
        for lines in _stretches(run, lambda line: _is_loose(geometry, line[1], index_of(line[0]))):
            rows = [(start, geometry.cells(index_of(start), text)) for start, text in lines]
            for table in _tables(rows):
                if not _is_list(table, raw):
                    found += [(start, [place for place, _, _ in cells]) for start, cells in table]
    if not found:
        return []
    starts = line_starts(raw)
    return [(bisect_left(starts, start), cells) for start, cells in found]


def _candidates(raw: str) -> Iterator[list[Line]]:
    """Yield runs of lines with figures and gaps, each with the line before it, which may be the header."""
    run: list[Line] = []
    reached = -1
    for match in _LINE_WITH_FIGURE.finditer(raw):
        start, text = match.start(), match[0].rstrip()
        if len(text) > LONGEST or text.count(" ") not in GAPS or " . ." in text:
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
    for row in [*rows, (-1, [])]:
        if table and len(row[1]) == len(table[0][1]) and all(map(_align, table[-1][1], row[1])):
            table.append(row)
            continue
        if len(table) >= FEWEST_ROWS:
            yield table
        table = [row] if len(row[1]) > 1 else []


def _is_list(table: Sequence[Row], raw: str) -> bool:
    """Whether the rows are list items after numbers or bullets."""
    start, cells = table[0]
    return len(cells) == 2 and len(raw[start : start + cells[1][0]].strip()) <= MARK


def _align(one: Cell, other: Cell) -> bool:
    left, right = one[1] - other[1], one[2] - other[2]
    return min(abs(left), abs(right), abs(left + right) / 2) <= ALIGNED
