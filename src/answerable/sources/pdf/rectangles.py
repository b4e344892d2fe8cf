"""In the worker: find the rectangles of spans of text on their pages, for highlighting a quote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from answerable.sources.pdf.extraction import PageText, opened, page_text
from answerable.sources.pdf.page_text import ink

Rectangle = tuple[float, float, float, float]


def span_rectangles(data: bytes, password: str | None, spans: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    """Return rectangles [page, left, bottom, right, top] of spans (page from 0, start, end), counted in `ink`.

    Each line has a rectangle, in points from the page's lower left corner.
    """
    document = opened(data, password)
    if isinstance(document, dict):
        return document
    try:
        has_form = document.get_formtype() != pdfium.FORMTYPE_NONE
        found = []
        for number, start, end in spans:
            if not 0 <= number < len(document) or (loaded := page_text(document, number, has_form)) is None:
                continue
            found += [(number, *box) for box in _boxes(loaded, start, end)]
            loaded.close()
        return {"outcome": "text", "rectangles": found}
    finally:
        document.close()


def sizes(data: bytes, password: str | None) -> dict[str, Any]:
    """Return `sizes`, the [width, height] of each page in points; 0 for a broken page. No page is loaded."""
    document = opened(data, password)
    if isinstance(document, dict):
        return document
    try:
        found, size = [], pdfium.FS_SIZEF()
        for number in range(len(document)):
            is_known = pdfium.FPDF_GetPageSizeByIndexF(document.raw, number, size)
            found.append((round(size.width, 2), round(size.height, 2)) if is_known else (0.0, 0.0))
        return {"outcome": "text", "sizes": found}
    finally:
        document.close()


def _boxes(page: PageText, start: int, end: int) -> list[Rectangle]:
    """Return PDFium's rectangles of the characters, joined where they are adjacent on a line."""
    places = ink(page.text)[start:end]
    boxes: list[Rectangle] = []
    for first, last in page.char_spans(places[0], places[-1] + 1) if places else ():
        for number in range(page.textpage.count_rects(first, last - first)):
            box = page.textpage.get_rect(number)
            if boxes and _same_line(boxes[-1], box):
                left, bottom, right, top = boxes.pop()
                box = (min(left, box[0]), min(bottom, box[1]), max(right, box[2]), max(top, box[3]))
            boxes.append(box)
    return boxes


def _same_line(one: Rectangle, other: Rectangle) -> bool:
    """Whether two rectangles overlap in height by half, and the second begins within two heights after the first."""
    shared = min(one[3], other[3]) - max(one[1], other[1])
    height = min(one[3] - one[1], other[3] - other[1])
    return shared * 2 > height and -height <= other[0] - one[2] <= 2 * max(one[3] - one[1], other[3] - other[1])
