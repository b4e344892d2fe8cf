"""Find what a page doesn't show, though PDFium reads it: objects in layers that are off, and text beyond its edges.

Runs in the reading process.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from answerable.sources.pdf.marks import MOST_OBJECTS
from answerable.sources.pdf.tables import Box, Geometry

MOST_LAYERS = 50  # layers of a page that are looked at, as each is drawn; a round number, not measured
DRAWN = 400  # pixels of the longer side of a page that is drawn to see whether anything is on it; not measured
GAP = 1.5  # type sizes between two runs of text on a line; spaces of justified text are smaller
LONGEST_NAME = 200  # bytes of a layer's name by which it is told from others
_LINE = re.compile(r"[^\r\n]*[\r\n]*")
_WITH_TEXT = (pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_FORM)


def remove_hidden_layers(page: Any) -> None:
    """Remove the objects in layers that are off.

    PDFium doesn't tell which these are, but draws them only without their mark. Text without ink, as below a scan, is
    drawn in no case and stays.
    """
    count = pdfium.FPDFPage_CountObjects(page)
    objects = [pdfium.FPDFPage_GetObject(page, number) for number in range(min(count, MOST_OBJECTS))]
    layers: dict[str, list[Any]] = {}
    for each in objects:
        names = (_said(pdfium.FPDFPageObjMark_GetParamStringValue, mark, b"Name") for mark in _marks(each))
        if name := "\n".join(f"layer {said}" for said in names):
            layers.setdefault(name, []).append(each)
    if not 0 < len(layers) <= MOST_LAYERS:
        return
    hidden = []
    _set_active(objects, False)
    for layer in layers.values():
        if any(pdfium.FPDFPageObj_GetType(each) in _WITH_TEXT for each in layer):
            _set_active(layer, True)
            if not _has_ink(page):
                for each in layer:
                    for mark in _marks(each):
                        pdfium.FPDFPageObj_RemoveMark(each, mark)
                hidden += layer if _has_ink(page) else []
            _set_active(layer, False)
    _set_active(objects, True)
    for each in hidden:
        if pdfium.FPDFPage_RemoveObject(page, each):
            pdfium.FPDFPageObj_Destroy(each)


def _marks(drawn: Any) -> list[Any]:
    """Return the marks that put an object in a layer."""
    found = [pdfium.FPDFPageObj_GetMark(drawn, number) for number in range(pdfium.FPDFPageObj_CountMarks(drawn))]
    return [mark for mark in found if _said(pdfium.FPDFPageObjMark_GetName, mark) == "OC"]


def _said(ask: Callable[..., int], *about: Any) -> str:
    buffer, length = (pdfium.FPDF_WCHAR * LONGEST_NAME)(), ctypes.c_ulong()
    is_said = ask(*about, buffer, ctypes.sizeof(buffer), length)
    return bytes(buffer)[: length.value].decode("utf-16-le", "replace").rstrip("\0") if is_said else ""


def _set_active(objects: Sequence[Any], is_active: bool) -> None:
    for each in objects:
        pdfium.FPDFPageObj_SetIsActive(each, is_active)


def _has_ink(page: Any) -> bool:
    """Whether a page shows anything, also white on white."""
    scale = DRAWN / max(1, *page.get_size())
    width, height = (max(1, round(side * scale)) for side in page.get_size())
    bitmap = pypdfium2.PdfBitmap.new_native(width, height, pdfium.FPDFBitmap_BGRA)
    bitmap.fill_rect((0, 0, 0, 0), 0, 0, width, height)
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, 0)
    return any(bytes(bitmap.buffer))


def on_page(
    page: Any, textpage: Any, raw: str, geometry: Geometry, index_of: Callable[[int], int]
) -> Sequence[int] | None:
    """Return the offsets of the characters within the page's edges; None if all are. No line of others remains.

    A line that begins on the page and runs over its edge is kept whole, as many manuals have such lines, and so is all
    text of a page that nobody cropped: programs that write too much on a page lose its end. Labels alone aren't text.
    """
    if len("".join(textpage.get_text_bounded(errors="surrogatepass").split())) >= len("".join(raw.split())):
        return None
    if page.get_cropbox() == page.get_mediabox() and textpage.get_text_bounded().strip():
        return None
    kept: list[int] = []
    for line in _LINE.finditer(raw):
        text = line[0].rstrip("\r\n")
        shown = [place for run in _runs(text, line.start(), geometry, index_of, page.get_bbox()) for place in run]
        if shown or not text.strip():
            kept += (*shown, *range(line.start() + len(text), line.end()))
    while kept and raw[kept[-1]] in "\r\n":
        kept.pop()
    return kept


def _runs(
    text: str, start: int, geometry: Geometry, index_of: Callable[[int], int], edges: Box
) -> Iterator[Sequence[int]]:
    """Yield the offsets of the runs of a line of which some of the ink is within the edges; gaps are between runs."""
    first, right, is_seen = start, -1.0, False
    for offset, character in enumerate(text, start):
        box = None if character.isspace() else geometry.box(index_of(offset))
        if box is None:
            continue
        if right >= 0 and box[0] - right > GAP * geometry.size(index_of(offset)):
            if is_seen:
                yield range(first, offset)
            first, is_seen = offset, False
        right, is_seen = box[2], is_seen or _meet(box, edges)
    if is_seen or not text.strip():
        yield range(first, start + len(text))


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
