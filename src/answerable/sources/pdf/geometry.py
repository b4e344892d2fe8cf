"""Where the characters and cells of a page stand, in points from its lower left corner; runs in the reading process."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

NARROWEST = 5.0
_WORD = re.compile(r"\S+")

Box = tuple[float, float, float, float]
Cell = tuple[int, float, float]


class Geometry:
    """Measures the text of one page. `first` is PDFium's index of a line's first character."""

    def __init__(self, textpage: Any) -> None:
        self._textpage = textpage
        self._cells: dict[tuple[int, int], list[Cell]] = {}
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

    def line_boxes(self, firsts: Sequence[int], lengths: Sequence[int]) -> list[Box | None]:
        """Return the box of each line; None for one that isn't level."""
        measure, textpage, one, other = pdfium.FPDFText_GetLooseCharBox, self._textpage, self._box, pdfium.FS_RECTF()
        boxes: list[Box | None] = []
        for first, length in zip(firsts, lengths, strict=True):
            found = measure(textpage, first, one) and measure(textpage, first + length - 1, other)
            bottom, top = (other.bottom, other.top) if found else (0.0, 0.0)
            if found and one.bottom < top and bottom < one.top and one.left < other.right:
                boxes.append((one.left, min(one.bottom, bottom), other.right, max(one.top, top)))
            else:
                boxes.append(None)
        return boxes

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

    def has_gap(self, first: int, length: int, beside: float = 0.0) -> bool:
        """Whether pieces of a line that were drawn apart stand as far apart as cells.

        `beside` is how wide the text before and after the gap must be, in heights of the type; less is a list's number.
        """
        count = pdfium.FPDFText_CountRects(self._textpage, first, length)
        if count < 2:
            return False
        size = max(self.size(first), NARROWEST)
        get, textpage, (left, top, right, bottom) = pdfium.FPDFText_GetRect, self._textpage, self._sides
        get(textpage, 0, left, top, right, bottom)
        start, reached, gap = left.value, right.value, None
        for number in range(1, count):
            get(textpage, number, left, top, right, bottom)
            if gap is None and left.value - reached >= size and reached - start >= beside * size:
                gap = left.value
            reached = right.value
        return gap is not None and reached - gap >= beside * size
