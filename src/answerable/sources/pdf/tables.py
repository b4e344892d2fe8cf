"""Where the characters and cells of a page are, in points from its lower left corner, and which lines are table rows.

Consecutive lines are table rows if they have the same number of cells, wide gaps between cells, and aligned columns.
Rows without figures need three columns. A row may lack cells if its other cells align. The thresholds were not measured
one by one. Runs in the reading process.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

FEWEST_ROWS = 3  # rows of a table at least
LONGEST = 200  # characters of a table row at most
PROSE = 45  # characters; a longer line that begins in lower case, without figures, is part of a paragraph
GAPS = range(1, 16)
LOOSE = 0.56  # type sizes per character; a line that is wider than that on average has gaps, and prose is narrower
MARK = 3  # characters of a bullet or list number at most
ALIGNED = 3.0  # points by which edges of cells in one column may differ
LINE = re.compile("[^\r\n\ufffe]+")
_FIGURE = re.compile(r"\d")

Cell = tuple[int, float, float]
Row = tuple[int, list[Cell], int]
Line = tuple[int, str]


def table_rows(geometry: Geometry, raw: str, index_of: Callable[[int], int]) -> list[tuple[int, list[int]]]:
    """Return the offset of each line that is a table row, and the offsets in the line at which its cells begin.

    `index_of` maps an offset in the raw text to PDFium's index of the character.
    """
    found: list[tuple[int, list[int]]] = []
    for run in _candidates(raw):
        for lines in _stretches(run, lambda line: _is_loose(geometry, line[1], index_of(line[0]))):
            rows = [(start, geometry.cells(index_of(start), text), len(text)) for start, text in lines]
            for table in _tables(rows):
                if _is_clear(table, raw):
                    found += [(start, [place for place, _, _ in cells]) for start, cells, _ in table]
    return found


def _candidates(raw: str) -> Iterator[list[Line]]:
    """Yield runs of lines with gaps, each run with the line before it, which may be the table's header."""
    run: list[Line] = []
    reached = -1
    for match in LINE.finditer(raw):
        start, text = match.start(), match[0].rstrip()
        if len(text) > LONGEST or text.count(" ") not in GAPS or " . ." in text:
            continue
        # Most lines of prose are like this, and need no measuring.
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
    """Yield runs of at least three loose lines. Checks the last of three lines first, to measure few lines."""
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
    """Whether a line is wider than its characters would be without gaps between them."""
    start, end = geometry.box(first), geometry.box(first + len(text) - 1)
    return start is not None and end is not None and end[2] - start[0] > LOOSE * len(text) * geometry.size(first)


def _tables(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield runs of rows with the same number of cells, whose columns align at the left, at the right or centred."""
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
    """Return a cell for each column, empty where the row has none; [] if the row's cells don't fit the columns."""
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
    """Whether the rows contain numbers or have at least three columns, and aren't a numbered or bulleted list."""
    start, cells, _ = table[0]
    if len(cells) > 2:
        return True
    is_list = len(raw[start : start + cells[1][0]].strip()) <= MARK
    return not is_list and any(_FIGURE.search(raw, start, start + length) for start, _, length in table)


def _align(one: Cell, other: Cell) -> bool:
    left, right = one[1] - other[1], one[2] - other[2]
    return min(abs(left), abs(right), abs(left + right) / 2) <= ALIGNED


NARROWEST = 5.0  # points of a gap between cells at least
_WORD = re.compile(r"\S+")

Box = tuple[float, float, float, float]


class Geometry:
    """Measures the text of one page. The arguments `first` and `place` are PDFium's indices of characters."""

    def __init__(self, textpage: Any) -> None:
        # PDFium's own handle: looking it up at each call would take as long as the call itself.
        self._textpage = textpage.raw
        self._cells: dict[tuple[int, int], list[Cell]] = {}
        self._gaps: dict[tuple[int, int], Gap | None] = {}
        self._box = pdfium.FS_RECTF()
        self._sides = tuple(ctypes.c_double() for _ in range(4))

    def box(self, place: int) -> Box | None:
        """Return the left, bottom, right and top of a character."""
        box = self._box
        if not pdfium.FPDFText_GetLooseCharBox(self._textpage, place, box):
            return None
        return box.left, box.bottom, box.right, box.top

    def box_of(self, place: int) -> Box:
        """Return the box of a character; for one without a box, a box without width and height."""
        return self.box(place) or (0.0, 0.0, 0.0, 0.0)

    def height(self, place: int) -> float:
        """Return the height of a character's box."""
        box = self.box_of(place)
        return box[3] - box[1]

    def baseline(self, place: int) -> float:
        """Return the y-coordinate of the line on which a character stands."""
        x, y = self._sides[:2]
        return float(y.value) if pdfium.FPDFText_GetCharOrigin(self._textpage, place, x, y) else 0.0

    def size(self, place: int) -> float:
        """Return the type size of a character as the PDF sets it, before scaling."""
        return float(pdfium.FPDFText_GetFontSize(self._textpage, place))

    def style(self, place: int) -> tuple[float, int]:
        """Return the type size and weight of a character."""
        return self.size(place), pdfium.FPDFText_GetFontWeight(self._textpage, place)

    def line_box(self, first: int, length: int) -> Box | None:
        """Return the box of a line; None for a line that isn't horizontal."""
        start, end = self.box(first), self.box(first + length - 1)
        if start is None or end is None or start[1] >= end[3] or end[1] >= start[3] or start[0] >= end[2]:
            return None
        return start[0], min(start[1], end[1]), end[2], max(start[3], end[3])

    def starts(self, firsts: Sequence[int]) -> list[tuple[float, float, float]]:
        """Return the left, bottom and top of the first character of each line."""
        measure, textpage, box = pdfium.FPDFText_GetLooseCharBox, self._textpage, self._box
        return [
            (box.left, box.bottom, box.top) if measure(textpage, first, box) else (0.0, 0.0, 0.0) for first in firsts
        ]

    def cells(self, first: int, text: str) -> list[Cell]:
        """Return for each cell of a line its offset in the line, and its left and right edge.

        A gap as wide as the type is high separates cells.
        """
        key = first, len(text)
        if key not in self._cells:
            self._cells[key] = self._measured(first, text)
        return self._cells[key]

    def _measured(self, first: int, text: str) -> list[Cell]:
        cells: list[Cell] = []
        gap = max(self.size(first), NARROWEST)
        for start, _, left, right in self.words(first, text):
            if cells and left - cells[-1][2] < gap:
                cells[-1] = (cells[-1][0], cells[-1][1], right)
            else:
                cells.append((start, left, right))
        return cells

    def words(self, first: int, text: str, pattern: re.Pattern[str] = _WORD) -> list[tuple[int, int, float, float]]:
        """Return for each word of a line its span in the line, and its left and right edge."""
        found = []
        for word in pattern.finditer(text):
            start, end = self.box(first + word.start()), self.box(first + word.end() - 1)
            if start is None or end is None:
                return []
            found.append((word.start(), word.end(), start[0], end[2]))
        return found

    def gap(self, first: int, length: int) -> Gap | None:
        """Return a line's first gap that is as wide as between cells, between pieces that were drawn separately."""
        key = first, length
        if key not in self._gaps:
            self._gaps[key] = self._found_gap(first, length)
        return self._gaps[key]

    def _found_gap(self, first: int, length: int) -> Gap | None:
        count = pdfium.FPDFText_CountRects(self._textpage, first, length)
        if count < 2:
            return None
        size = max(self.size(first), NARROWEST)
        get, textpage, (left, top, right, bottom) = pdfium.FPDFText_GetRect, self._textpage, self._sides
        get(textpage, 0, left, top, right, bottom)
        start, reached = left.value, right.value
        for number in range(1, count):
            get(textpage, number, left, top, right, bottom)
            if left.value - reached >= size:
                after = left.value
                get(textpage, count - 1, left, top, right, bottom)
                return Gap(reached, after, min(reached - start, right.value - after) / size)
            reached = right.value
        return None


class Gap(NamedTuple):
    """A gap in a line: its left and right edge, and the lesser width of the text on its two sides, in type sizes."""

    left: float
    right: float
    beside: float


def deepest(gaps: Iterable[tuple[float, float]]) -> tuple[int, float]:
    """Return the most gaps that have an x-coordinate in common, and the middle of their common part."""
    edges = sorted(edge for left, right in gaps for edge in ((left, 1), (right, -1)))
    best = depth = 0
    place = 0.0
    for (x, step), (following, _) in pairwise(edges):
        depth += step
        if depth > best:
            best, place = depth, (x + following) / 2
    return best, place
