"""In the worker: extract a PDF's texts, outline, metadata and type sizes. Imports little, to start fast."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from answerable.sources.context import ReadContext
from answerable.sources.pdf.columns import reading_order
from answerable.sources.pdf.geometry import Geometry
from answerable.sources.pdf.ocr import recognise
from answerable.sources.pdf.page_text import clean, in_order, line_starts
from answerable.sources.pdf.tables import table_rows

MAX_CHARACTERS = 200_000_000
MAX_BOOKMARKS = 20_000
LONGEST_TITLE = 1_000
SHORT = 500
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufefc]")


def opened(data: bytes, password: str | None) -> Any:
    """Return PDFium's document, or an answer that states why it can't be opened."""
    try:
        return pypdfium2.PdfDocument(data, password=password)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        return {"outcome": "password" if locked else "damaged", "reason": str(error)}


def extract(data: bytes, context: ReadContext) -> dict[str, Any]:
    """Return every page's text with the PDF's outline and metadata, or the reason why it can't be read.

    `outline` lists [level, title, page] (pages from 0); without one, `sizes` holds the type size in points of each line
    of each page. `rows` lists the table rows of each page: the number of the line, and the offsets of its cells.
    `scanned` are the pages (from 0) with content but no text layer; `recognised` are those of them read by OCR.
    """
    document = opened(data, context.password)
    if isinstance(document, dict):
        return document
    try:
        outline = _outline(document)
        answer: dict[str, Any] = {
            "outcome": "text",
            "outline": outline,
            **{name: [] for name in ("pages", "sizes", "rows", "scanned", "recognised")},
        }
        has_form = document.get_formtype() != pdfium.FORMTYPE_NONE
        total = 0
        for number in range(len(document)):
            text, sizes, rows, shows_something = _page(document, number, has_form, with_sizes=not outline)
            answer["pages"].append(text)
            answer["sizes"].append(sizes)
            answer["rows"].append(rows)
            if shows_something:
                answer["scanned"].append(number)
            total += len(text or "")
            if total > MAX_CHARACTERS:
                return {"outcome": "large", "reason": f"its text is over {MAX_CHARACTERS:,} characters"}
        answer["metadata"] = document.get_metadata_dict()
        if context.ocr and answer["scanned"]:
            recognise(document, answer, context.ocr, context.working)
        return answer
    finally:
        document.close()


def _outline(document: Any) -> list[tuple[int, str, int]]:
    entries = []
    for bookmark in islice(document.get_toc(), MAX_BOOKMARKS):
        destination = bookmark.get_dest()
        page = destination.get_index() if destination else None
        title = " ".join(clean(bookmark.get_title()).split())[:LONGEST_TITLE]
        if title:
            # A heading without a page still belongs to the path of those below it.
            entries.append((bookmark.level, title, -1 if page is None else page))
    return entries


class PageText:
    """PDFium's page and text page, which the caller closes, and the raw text in reading order.

    `index_of` maps an offset in the text to PDFium's index of the character.
    """

    def __init__(self, page: Any, textpage: Any, raw: str) -> None:
        self.page = page
        self.textpage = textpage
        self.geometry = Geometry(textpage)
        same = len(raw) == textpage.count_chars() and max(raw, default="") <= "\uffff"
        self._raw_index = (lambda offset: offset) if same else char_index_of(textpage, raw)
        if "\xad" in raw:
            raw = _with_hyphens(raw, self.geometry, self._raw_index)
        spans = reading_order(self.geometry, raw, self._raw_index)
        self.text, self.runs = (raw, [(0, 0, len(raw))]) if len(spans) == 1 else in_order(raw, spans)
        self._starts = [start for start, _, _ in self.runs]
        self.index_of = self._raw_index if len(spans) == 1 else self._ordered_index

    def _ordered_index(self, offset: int) -> int:
        start, first, _ = self.runs[bisect_right(self._starts, offset) - 1]
        return self._raw_index(first + offset - start)

    def char_spans(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the spans of PDFium's characters for a span of the text, in order."""
        for place, first, last in self.runs:
            begin, stop = first + max(start - place, 0), min(first + end - place, last)
            if begin < stop and (index := self._raw_index(begin)) >= 0:
                yield index, self._raw_index(stop - 1) + 1

    def close(self) -> None:
        """Close PDFium's objects."""
        self.textpage.close()
        self.page.close()


def _with_hyphens(raw: str, geometry: Geometry, index_of: Callable[[int], int]) -> str:
    """Return the text with a hyphen for each soft one that is drawn: fonts may have but one code for both."""
    letters = list(raw)
    for offset, character in enumerate(raw):
        if character == "\xad" and (box := geometry.box(index_of(offset))) and box[2] - box[0] > 1:
            letters[offset] = "-"
    return "".join(letters)


def page_text(document: Any, number: int, has_form: bool) -> PageText | None:
    """Return the page's text, which the caller closes; None for a broken page."""
    try:
        page = document[number]
        if has_form and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS:
            # Values filled into a form are visible only after flattening and loading the page again.
            page.close()
            page = document[number]
        textpage = page.get_textpage()
    except pypdfium2.PdfiumError:
        return None
    text: str = textpage.get_text_range(errors="surrogatepass")
    if len(text) < SHORT and not textpage.get_text_bounded().strip():
        # All text is outside the visible page: hidden labels, which would make a scan look like a page of text.
        text = ""
    if not text.isascii() and RIGHT_TO_LEFT.search(text):
        text = _unreverse_ligatures(text, textpage)
    return PageText(page, textpage, text)


def _page(
    document: Any, number: int, has_form: bool, with_sizes: bool
) -> tuple[str | None, list[float], list[tuple[int, list[int]]], bool]:
    """Return the page's text, the sizes of its lines, its table rows, and whether it has content but no text."""
    found = page_text(document, number, has_form)
    if found is None:
        return None, [], [], False
    raw = found.text
    sizes = _line_sizes(found) if with_sizes and raw else []
    rows = table_rows(found.geometry, raw, found.index_of)
    shows_something = not raw.strip() and pdfium.FPDFPage_CountObjects(found.page) > 0
    found.close()
    return clean(raw), sizes, rows, shows_something


def _line_sizes(page: PageText) -> list[float]:
    """Return the size in points of the first character of each line, rounded to half a point."""
    matrix = pdfium.FS_MATRIX()
    textpage = page.textpage.raw
    sizes = []
    for start in line_starts(page.text):
        place = page.index_of(start)
        size = pdfium.FPDFText_GetFontSize(textpage, place)
        if pdfium.FPDFText_GetMatrix(textpage, place, matrix):
            size *= abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
        sizes.append(round(size * 2) / 2)
    return sizes


def char_index_of(textpage: Any, raw: str) -> Callable[[int], int]:
    """Return a function from an offset in the raw text to PDFium's index, which counts UTF-16 units."""
    pairs = [offset for offset, character in enumerate(raw) if character > "\uffff"]
    handle = textpage.raw

    def char_index(offset: int) -> int:
        place: int = pdfium.FPDFText_GetCharIndexFromTextIndex(handle, offset + bisect_left(pairs, offset))
        return place

    return char_index


def _unreverse_ligatures(text: str, textpage: Any) -> str:
    """Put the letters of right-to-left ligatures into reading order.

    PDFium reverses text character by character, also within a glyph of several letters that are already in logical
    order (lam-alef, or a whole word). Letters of one glyph share its origin.
    """
    if max(text) > "\uffff":
        # PDFium counts UTF-16 units, so its indices would differ.
        return text
    x, y = ctypes.c_double(), ctypes.c_double()
    origins: list[tuple[float, float] | None] = []
    for index, character in enumerate(text):
        place = pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, index)
        known = _is_right_to_left(character) and pdfium.FPDFText_GetCharOrigin(textpage, place, x, y)
        origins.append((x.value, y.value) if known else None)
    pieces = []
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or origins[end] is None or origins[end] != origins[start]:
            glyph = text[start:end]
            # A mark above a letter may share its origin; the text of a glyph never begins with a mark.
            turn = len(glyph) > 1 and not unicodedata.combining(glyph[-1])
            pieces.append(glyph[::-1] if turn else glyph)
            start = end
    return "".join(pieces)


def _is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL") or unicodedata.combining(character) > 0
