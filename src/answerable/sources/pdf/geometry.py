"""Where the characters and cells of a page stand, in points from its lower left corner; runs in the reading process."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

NARROWEST = 5.0
_WORD = re.compile(r"\S+")

Box = tuple[float, float, float, float]
Cell = tuple[int, float, float]


class Geometry:
    """Measures the text of one page. `first` is PDFium's index of a line's first character."""

    def __init__(self, textpage: Any) -> None:
        # PDFium's own handle: looking it up at each call would take as long as the call.
        self._textpage = textpage.raw
        self._cells: dict[tuple[int, int], list[Cell]] = {}
        self._gaps: dict[tuple[int, int], Gap | None] = {}
        self._box = pdfium.FS_RECTF()
        self._sides = tuple(ctypes.c_double() for _ in range(4))

    def box(self, place: int) -> Box | None:
        """Return left, bottom, right and top of a character."""
        box = self._box
        if not pdfium.FPDFText_GetLooseCharBox(self._textpage, place, box):
            return None
        return box.left, box.bottom, box.right, box.top

    def size(self, place: int) -> float:
        """Return the type size of a character as it was set, before scaling."""
        return float(pdfium.FPDFText_GetFontSize(self._textpage, place))

    def style(self, place: int) -> tuple[float, int]:
        """Return the size and weight of a character."""
        return self.size(place), pdfium.FPDFText_GetFontWeight(self._textpage, place)

    def line_box(self, first: int, length: int) -> Box | None:
        """Return the box of a line; None for one that isn't level."""
        start, end = self.box(first), self.box(first + length - 1)
        if start is None or end is None or start[1] >= end[3] or end[1] >= start[3] or start[0] >= end[2]:
            return None
        return start[0], min(start[1], end[1]), end[2], max(start[3], end[3])

    def starts(self, firsts: Sequence[int]) -> list[tuple[float, float, float]]:
        """Return left, bottom and top of the character that each line begins with."""
        measure, textpage, box = pdfium.FPDFText_GetLooseCharBox, self._textpage, self._box
        return [
            (box.left, box.bottom, box.top) if measure(textpage, first, box) else (0.0, 0.0, 0.0) for first in firsts
        ]

    def cells(self, first: int, text: str) -> list[Cell]:
        """Return for each cell of a line where it begins in the line, and its left and right edge.

        A gap as wide as the type is high separates cells.
        """
        key = first, len(text)
        if key not in self._cells:
            self._cells[key] = self._measured(first, text)
        return self._cells[key]

    def _measured(self, first: int, text: str) -> list[Cell]:
        cells: list[Cell] = []
        gap = max(self.size(first), NARROWEST)
        for word in _WORD.finditer(text):
            start, end = self.box(first + word.start()), self.box(first + word.end() - 1)
            if start is None or end is None:
                return []
            if cells and start[0] - cells[-1][2] < gap:
                cells[-1] = (cells[-1][0], cells[-1][1], end[2])
            else:
                cells.append((word.start(), start[0], end[2]))
        return cells

    def gap(self, first: int, length: int) -> Gap | None:
        """Return the first gap of a line that is as wide as between cells, and between pieces that were drawn apart."""
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
    """A gap in a line: its left and right edge, and the lesser width of the text beside it, in sizes of the type."""

    left: float
    right: float
    beside: float


def deepest(gaps: Iterable[tuple[float, float]]) -> tuple[int, float]:
    """Return how many of the gaps, at most, have an x in common, and the middle of what they have in common."""
    edges = sorted(edge for left, right in gaps for edge in ((left, 1), (right, -1)))
    best = depth = 0
    place = 0.0
    for (x, step), (following, _) in pairwise(edges):
        depth += step
        if depth > best:
            best, place = depth, (x + following) / 2
    return best, place
