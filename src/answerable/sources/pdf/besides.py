"""What a PDF has besides its text: large pictures, comments of readers, attached files."""

from __future__ import annotations

import ctypes
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from answerable.sources.pdf.marks import MOST_NOTES

# The share of the page that a picture covers at least: smaller ones are logos and ornaments. A guess, not measured.
_LARGE = 0.05
_MOST_OBJECTS = 10_000  # objects of a page that are looked at, in some milliseconds: drawings have millions
# Kinds of annotations in which readers write; text boxes are drawn, and so they are read with the page.
_WRITTEN = frozenset(
    {pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE, pdfium.FPDF_ANNOT_SQUIGGLY}
    | {pdfium.FPDF_ANNOT_STRIKEOUT, pdfium.FPDF_ANNOT_CARET}
)
_EMPTY = 2  # bytes of an empty text in UTF-16: its end


def figures(page: Any, textpage: Any) -> int:
    """Return the number of large pictures that no text is in; where there is text, it is a scan or a background."""
    width, height = page.get_size()
    sides = [ctypes.c_float() for _ in range(4)]
    found = 0
    for number in range(min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(drawn) == pdfium.FPDF_PAGEOBJ_IMAGE:
            pdfium.FPDFPageObj_GetBounds(drawn, *sides)
            left, bottom, right, top = (side.value for side in sides)
            is_large = (right - left) * (top - bottom) >= _LARGE * width * height
            found += is_large and not textpage.get_text_bounded(left, bottom, right, top).strip()
    return found


def notes(page: Any) -> int:
    """Return the number of annotations with a reader's words."""
    found = 0
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MOST_NOTES)):
        note = pdfium.FPDFPage_GetAnnot(page, number)
        is_written = pdfium.FPDFAnnot_GetSubtype(note) in _WRITTEN
        found += is_written and pdfium.FPDFAnnot_GetStringValue(note, b"Contents", None, 0) > _EMPTY
        pdfium.FPDFPage_CloseAnnot(note)
    return found


def attached(document: Any) -> list[str]:
    """Return the names of the attached files, of the first `MOST_NOTES`."""
    try:
        numbers = range(min(document.count_attachments(), MOST_NOTES))
        return [document.get_attachment(number).get_name() for number in numbers]
    except pypdfium2.PdfiumError:
        return []
