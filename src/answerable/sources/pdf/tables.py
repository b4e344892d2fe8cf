"""Where the characters and cells of a page are, in points from its lower left corner, and which lines are table rows.

Two consecutive lines with the same number of cells, wide gaps between them and aligned edges make columns. The lines
above and below are rows too if each of their cells is in one column; a row may lack cells. Rows without figures need
three columns. The thresholds were not measured one by one. Runs in the reading process.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

FEWEST_ROWS = 3  # rows of a table at least
EDGE = 3  # lines between a table and the end of its page, or its start, if it goes on over two pages
LONGEST = 200  # characters of a table row at most
PROSE = 45  # characters; a longer line that begins in lower case, without figures, is part of a paragraph
GAPS = range(1, 16)
LOOSE = 0.56  # type sizes per character; a table that is wider than that on average has gaps, and prose is narrower
NARROW = 0.4  # type sizes of a gap that divides a column at least; a space between words is narrower
WIDER = 1.2  # width of a gap between cells at least, in widths of a gap between words
MARK = 3  # characters of a bullet or list number at most
ALIGNED = 3.0  # points by which edges of cells in one column may differ
LINE = re.compile("[^\r\n\ufffe]+")
_FIGURE = re.compile(r"\d")

Cell = tuple[int, float, float]
Word = tuple[int, int, float, float]
Line = tuple[int, str]


class Row(NamedTuple):
    """A line: its offset in the text, its cells, its number of characters, its words and the size of its type."""

    start: int
    cells: list[Cell]
    length: int
    words: Sequence[Word] = ()
    size: float = 0.0


def table_rows(
    geometry: Geometry, raw: str, index_of: Callable[[int], int], before: Sequence[Cell] = ()
) -> tuple[list[tuple[int, list[int]]], list[Cell]]:
    """Return the offset of each line that is a table row, and the offsets in the line at which its cells begin.

    `index_of` maps an offset in the raw text to PDFium's index of the character. `before` are the columns of a table
    that may go on from the page before; those of a table that may go on after this page are returned, or [].
    """
    found: list[tuple[int, list[int]]] = []
    columns: Sequence[Cell] = []
    top = next(islice((match.start() for match in LINE.finditer(raw)), EDGE, None), len(raw))
    for run in _candidates(raw):
        if not before and len(run) < FEWEST_ROWS:
            continue
        firsts = [(start, text, index_of(start)) for start, text in run]
        rows = [
            Row(start, geometry.cells(at, text), len(text), geometry.words(at, text), geometry.size(at))
            for start, text, at in firsts
        ]
        for table, its_columns in _tables(rows, before if run and run[0][0] <= top else ()):
            if len(table) < FEWEST_ROWS or (_is_loose(table) and _is_clear(table, raw)):
                _divide(table)
                found += [(row.start, [place for place, _, _ in row.cells]) for row in table]
                columns = its_columns
    goes_on = len(found) > 0 and raw.count("\n", found[-1][0]) <= EDGE
    return found, list(columns) if goes_on else []


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


def _is_loose(table: Sequence[Row]) -> bool:
    """Whether lines are wider than their characters would be without gaps between them."""
    width = sum(row.cells[-1][2] - row.cells[0][1] for row in table)
    return width > LOOSE * sum(row.size * row.length for row in table)


def _tables(rows: Sequence[Row], before: Sequence[Cell]) -> Iterator[tuple[list[Row], list[Cell]]]:
    """Yield runs of rows with cells in the same columns, and these columns, each as wide as its widest cell.

    Two rows with aligned cells make columns, if those of the page before don't go on. The row above may be the header.
    """
    place = reached = 0
    while place < len(rows):
        rest = _fitted(rows[place], before)
        goes_on = len(rest) > 0 and len({start for start, _, _ in rest}) == len(before)
        columns = list(before) if goes_on else _columns(rows[place : place + 2])
        table: list[Row] = []
        first = place
        while columns and place < len(rows) and (cells := _fitted(rows[place], columns)):
            table.append(rows[place]._replace(cells=cells))
            columns = [
                (0, min(one[1], other[1]), max(one[2], other[2])) for one, other in zip(columns, cells, strict=True)
            ]
            place += 1
        if table and first > reached and not goes_on and (names := _fitted(rows[first - 1], columns, is_header=True)):
            table.insert(0, rows[first - 1]._replace(cells=names))
        if len(table) >= FEWEST_ROWS or goes_on:
            yield table, columns
            before, reached = (), place
        place += not table


def _columns(rows: Sequence[Row]) -> list[Cell]:
    """Return the columns of two rows whose cells align at the left, at the right or centred; [] for others."""
    one, other = rows[0].cells, rows[-1].cells
    return one if len(rows) > 1 and 1 < len(one) == len(other) and all(map(_align, one, other)) else []


def _fitted(row: Row, columns: Sequence[Cell], is_header: bool = False) -> list[Cell]:
    """Return a cell for each column, empty where the row has none; [] if the row's cells don't fit the columns.

    Where a cell fills its column, the gap after it may be too narrow for two cells, but is wider than between words.
    """
    return _placed(row.cells, row.length, columns, is_header) or _placed(
        _cut(row, len(columns)), row.length, columns, is_header
    )


def _cut(row: Row, count: int) -> list[Cell]:
    """Return the words as `count` cells, divided at the widest gaps; [] if those are hardly wider than the others."""
    words = row.words
    gaps = sorted(((other[2] - one[3], place) for place, (one, other) in enumerate(pairwise(words), 1)), reverse=True)
    widths = [NARROW * row.size, *(WIDER * gap for gap, _ in gaps[count - 1 : count])]
    if count < 2 or len(gaps) < count - 1 or gaps[count - 2][0] < max(widths):
        return []
    starts = [0, *sorted(place for _, place in gaps[: count - 1]), len(words)]
    return [(words[start][0], words[start][2], words[end - 1][3]) for start, end in pairwise(starts)]


def _placed(cells: Sequence[Cell], length: int, columns: Sequence[Cell], is_header: bool) -> list[Cell]:
    """Return a cell for each column, or [].

    Each cell must be in one column, and the first in the first; as many names as columns need only be in none other.
    """
    if not 1 < len(cells) <= len(columns):
        return []
    placed: list[Cell] = []
    for number, cell in enumerate(cells):
        touched = [place for place, (_, left, right) in enumerate(columns) if left < cell[2] and cell[1] < right]
        if is_header and not touched and len(cells) == len(columns):
            touched = [number]
        if len(touched) != 1 or touched[0] < len(placed) or (number == 0 < touched[0] and not is_header):
            return []
        placed += [(cell[0], left, right) for _, left, right in columns[len(placed) : touched[0]]]
        placed.append(cell)
    return placed + [(length, left, right) for _, left, right in columns[len(placed) :]]


def _divide(table: list[Row]) -> None:
    """Divide each column in which all rows with several words have a gap at one place, wider than between words."""
    for place in range(len(table[0].cells) - 1, -1, -1):
        ends = [[*(start for start, _, _ in row.cells), row.length][place + 1] for row in table]
        words = [
            [word for word in row.words if row.cells[place][0] <= word[0] < end]
            for row, end in zip(table, ends, strict=True)
        ]
        pairs = [pair for each in words for pair in pairwise(each)]
        depth, gutter = deepest(
            (one[3], other[2]) for one, other in pairs if other[2] - one[3] > NARROW * table[0].size
        )
        is_crossed = any(left < gutter < right for each in words for *_, left, right in each)
        if depth < FEWEST_ROWS or depth < sum(len(each) > 1 for each in words) or is_crossed:
            continue
        for row, each, end in zip(table, words, ends, strict=True):
            after = [word for word in each if word[2] > gutter]
            start, left, right = row.cells[place]
            second = (after[0][0] if after else end, gutter, max(right, gutter))
            row.cells[place : place + 1] = [(start, min(left, gutter), gutter), second]


def _is_clear(table: Sequence[Row], raw: str) -> bool:
    """Whether the rows contain numbers or have at least three columns, and aren't a numbered or bulleted list."""
    start, cells = table[0].start, table[0].cells
    if len(cells) > 2:
        return True
    is_list = len(raw[start : start + cells[1][0]].strip()) <= MARK
    return not is_list and any(_FIGURE.search(raw, row.start, row.start + row.length) for row in table)


def _align(one: Cell, other: Cell) -> bool:
    left, right = one[1] - other[1], one[2] - other[2]
    return min(abs(left), abs(right), abs(left + right) / 2) <= ALIGNED


CELL_GAP = 0.8  # type sizes of a gap between cells at least: tables leave one or more, justified prose less
NARROWEST = 5.0  # points of a gap between cells at least
_WORD = re.compile(r"\S+")
# Blanks to write on end a word.
_BLANK = re.compile(r"__|\.{4}|…")
_WORD_OR_BLANK = re.compile(rf"__+|\.{{4,}}|…+|(?:(?!{_BLANK.pattern})\S)+")

Box = tuple[float, float, float, float]


class Glyph(NamedTuple):
    """The left and right edge of a character, the y-coordinate of its baseline, and its size, in points."""

    left: float
    right: float
    foot: float
    size: float


class Geometry:
    """Measures the text of one page. The arguments `first` and `place` are PDFium's indices of characters."""

    def __init__(self, textpage: Any) -> None:
        # PDFium's own handle: looking it up at each call would take as long as the call itself.
        self._textpage = textpage.raw
        self._boxes: dict[int, Box | None] = {}
        self._sizes: dict[int, float] = {}
        self._words: dict[tuple[int, int], list[Word]] = {}
        self._box = pdfium.FS_RECTF()
        self._matrix = pdfium.FS_MATRIX()
        self._origin = (ctypes.c_double(), ctypes.c_double())

    def box(self, place: int) -> Box | None:
        """Return the left, bottom, right and top of a character."""
        if place not in self._boxes:
            box = self._box
            is_known = pdfium.FPDFText_GetLooseCharBox(self._textpage, place, box)
            self._boxes[place] = (box.left, box.bottom, box.right, box.top) if is_known else None
        return self._boxes[place]

    def box_of(self, place: int) -> Box:
        """Return the box of a character; for one without a box, a box without width and height."""
        return self.box(place) or (0.0, 0.0, 0.0, 0.0)

    def glyph(self, place: int) -> Glyph:
        """Return a character's place and size."""
        box, x, y = self.box_of(place), *self._origin
        is_known = pdfium.FPDFText_GetCharOrigin(self._textpage, place, x, y)
        return Glyph(box[0], box[2], y.value if is_known else box[1], self.size(place))

    def size(self, place: int) -> float:
        """Return the type size of a character in points, as it is shown."""
        if place not in self._sizes:
            size, matrix = float(pdfium.FPDFText_GetFontSize(self._textpage, place)), self._matrix
            if pdfium.FPDFText_GetMatrix(self._textpage, place, matrix):
                size *= abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
            self._sizes[place] = size
        return self._sizes[place]

    def style(self, place: int) -> tuple[float, int]:
        """Return the type size and weight of a character."""
        return self.size(place), pdfium.FPDFText_GetFontWeight(self._textpage, place)

    def line_box(self, first: int, length: int) -> Box | None:
        """Return the box of a line; None for a line that isn't horizontal."""
        start, end = self.box(first), self.box(first + length - 1)
        if start is None or end is None or start[1] >= end[3] or end[1] >= start[3] or start[0] >= end[2]:
            return None
        return start[0], min(start[1], end[1]), end[2], max(start[3], end[3])

    def cells(self, first: int, text: str) -> list[Cell]:
        """Return for each cell of a line its offset in the line, and its left and right edge.

        A gap nearly as wide as the type is high separates cells.
        """
        cells: list[Cell] = []
        gap = max(CELL_GAP * self.size(first), NARROWEST)
        for start, _, left, right in self.words(first, text):
            if cells and left - cells[-1][2] < gap:
                cells[-1] = (cells[-1][0], cells[-1][1], right)
            else:
                cells.append((start, left, right))
        return cells

    def words(self, first: int, text: str) -> list[Word]:
        """Return for each word of a line its span in the line, and its left and right edge; [] if one isn't known."""
        key = first, len(text)
        if key not in self._words:
            spans = [word.span() for word in (_WORD_OR_BLANK if _BLANK.search(text) else _WORD).finditer(text)]
            boxes = [(self.box(first + start), self.box(first + end - 1)) for start, end in spans]
            found = [
                (*span, one[0], other[2]) for span, (one, other) in zip(spans, boxes, strict=True) if one and other
            ]
            self._words[key] = found if len(found) == len(spans) else []
        return self._words[key]


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
