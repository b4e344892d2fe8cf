"""In the reading process: extract a PDF's text, outline, metadata and type sizes; find the rectangles of quotes."""

from __future__ import annotations

import re
import time
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby, islice
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from answerable.errors import DamagedSource, EncryptedSource, SourceTooLarge
from answerable.sources.context import Ocr, ReadContext
from answerable.sources.ocr.lines import PictureRefused
from answerable.sources.ocr.pictures import RESOLUTION, recogniser
from answerable.sources.pdf.besides import attached, figures, notes
from answerable.sources.pdf.columns import RIGHT_TO_LEFT, reading_order
from answerable.sources.pdf.fields import Field, beside_labels, take_fields
from answerable.sources.pdf.marks import Drawn, noted_lines, raised, struck
from answerable.sources.pdf.page_text import (
    NOWHERE,
    Edit,
    PageSpan,
    Rectangle,
    clean,
    edited,
    in_order,
    ink,
    line_starts,
)
from answerable.sources.pdf.seen import on_page, remove_hidden_layers
from answerable.sources.pdf.tables import Box, Cell, Geometry, table_rows

MAX_PIXELS = 40_000_000  # pixels of a rendered page at most: 40 MB in grey; A3 at 300 dpi has 17 million
MAX_CHARACTERS = 200_000_000  # characters of a PDF at most; as large as the largest file
MAX_BOOKMARKS = 20_000  # bookmarks of an outline that are read at most
LONGEST_TITLE = 1_000  # characters to which a bookmark is cut; each passage carries it
SHORT_PIECE = 40  # characters, at most, of a piece of a line that isn't a line of a column
_BROKEN = re.compile(r"(?<=\S)\r\n(?=\S)")


@contextmanager
def _opened(data: bytes, source: str, password: str | None) -> Iterator[Any]:
    """Open a PDF as PDFium's document. Raise EncryptedSource and DamagedSource."""
    try:
        document = pypdfium2.PdfDocument(data, password=password)
        if document.get_formtype() != pdfium.FORMTYPE_NONE:
            # As `document.init_forms` does, which also warns of forms in XFA that can't be read.
            settings = pdfium.FPDF_FORMFILLINFO(version=2)
            handle = pdfium.FPDFDOC_InitFormFillEnvironment(document, settings)
            document.formenv = pypdfium2.PdfFormEnv(handle, settings) if handle else None
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            given = "and the password is wrong: check it, then try again"
            advice = ": give its password, or save a copy without one" if password is None else f" {given}"
            raise EncryptedSource(f"{source} is encrypted{advice}") from error
        raise DamagedSource(
            f"{source} is not a readable PDF ({error}): download it again, or open it and print it to a new PDF"
        ) from error
    try:
        yield document
    finally:
        document.close()


def extract(data: bytes, source: str, context: ReadContext) -> dict[str, Any]:
    """Return every page's text with the PDF's outline and metadata. Raise SourceTooLarge, and the errors of `_opened`.

    `outline` lists [level, title, page] (pages from 0); if it is empty, `sizes` holds the type size in points of each
    line of each page. `rows` lists the table rows of each page: the line's number, and the offsets of its cells.
    `scanned` are the pages (from 0) with content but no text layer; `recognised` are the scanned pages read by OCR.
    `figures` and `notes` count the large pictures in pages of text, and readers' comments; `attached` names files.
    """
    with _opened(data, source, context.password) as document:
        outline = _outline(document)
        answer: dict[str, Any] = {
            "outline": outline,
            **{name: [] for name in ("pages", "sizes", "rows", "scanned", "recognised")},
        }
        answer |= {"figures": 0, "notes": 0, "attached": attached(document)}
        total, columns = 0, list[Cell]()
        for number in range(len(document)):
            columns = _add_page(document, number, columns, answer)
            total += len(answer["pages"][-1] or "")
            if total > MAX_CHARACTERS:
                raise SourceTooLarge(
                    f"{source} is too large, its text is over {MAX_CHARACTERS:,} characters: split it into several PDFs"
                )
        answer["metadata"] = document.get_metadata_dict()
        if context.ocr and answer["scanned"]:
            recognise(document, answer, context.ocr, context.working)
        return answer


def _outline(document: Any) -> list[tuple[int, str, int]]:
    entries = []
    for bookmark in islice(document.get_toc(), MAX_BOOKMARKS):
        destination = bookmark.get_dest()
        page = destination.get_index() if destination else None
        title = " ".join(clean(bookmark.get_title()).split())[:LONGEST_TITLE]
        if title:
            # A heading without a page still belongs to the path of the headings below it.
            entries.append((bookmark.level, title, -1 if page is None else page))
    return entries


class PageText:
    """PDFium's page and text page, which the caller closes, and the page's text: in reading order, with marks.

    `rows` are the offsets in the text of each table row and of its cells; `columns` are those of a table at the end, if
    it may go on, as on the page before it. `notes` is the number of readers' comments.
    """

    def __init__(
        self,
        page: Any,
        textpage: Any,
        raw: str,
        fields: Sequence[Field] = (),
        noted: Sequence[Drawn] = (),
        before: Sequence[Cell] | None = None,
        notes: int = 0,
    ) -> None:
        self.notes = notes
        self.page = page
        self.textpage = textpage
        self.geometry = Geometry(textpage)
        same = len(raw) == textpage.count_chars() and max(raw, default="") <= "\uffff"
        self._raw_index = (lambda offset: offset) if same else char_index_of(textpage, raw)
        if (seen := on_page(page, textpage, raw, self.geometry, self._raw_index)) is not None:
            raw, of_all = "".join(raw[offset] for offset in seen), self._raw_index
            self._raw_index = lambda offset: of_all(seen[offset])
        if "\xad" in raw:
            raw = _with_hyphens(raw, self.geometry, self._raw_index)
        if not raw.isascii() and RIGHT_TO_LEFT.search(raw):
            raw = _with_ligatures(raw, self.geometry, self._raw_index)
        self.text, self._places = in_order(raw, reading_order(self.geometry, raw, self._raw_index))
        self._drawn = _drawn(self._places)
        edits = [*self._breaks_in_lines(), *raised(self.geometry, self.text, self.index_of)]
        letters = list(self.text)
        for edit in edits:
            if not edit.text.strip():
                # Spaces are as long as the line end, so that the places of the line's characters stay.
                letters[edit.start : edit.end] = " " * (edit.end - edit.start)
        self.text = "".join(letters)
        measured = table_rows(self.geometry, self.text, self.index_of, before) if before is not None else ([], [])
        rows, self.columns = measured
        edits += beside_labels(fields, self.geometry, self.text, self.index_of)
        edits += struck(page, noted, self.geometry, self.text, self.index_of)
        found = edited(self.text, self._places, edits)
        self.text, self._places, self._edits = found.text, found.places, found.edits
        self._drawn = _drawn(self._places)
        self.rows = [(found.moved(start), [found.moved(start + cell) for cell in cells]) for start, cells in rows]

    def _breaks_in_lines(self) -> Iterator[Edit]:
        """Yield a space for each line end between short pieces that PDFium doesn't join, though they are level."""
        for match in _BROKEN.finditer(self.text):
            start, end = match.span()
            if start > SHORT_PIECE and self.text.rfind("\n", start - SHORT_PIECE, start) < 0:
                continue
            one, other = (self.geometry.box(self.index_of(place)) for place in (start - 1, end))
            if one and other and abs(one[1] - other[1]) + abs(one[3] - other[3]) < 1 and one[2] < other[0]:
                yield Edit(start, end, " ")

    def index_of(self, offset: int) -> int:
        """Return PDFium's index of the character at an offset in the text; for a mark, that of what follows it."""
        return self._raw_index(self._drawn[offset]) if offset < len(self._drawn) else 0

    def char_spans(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield, in order, the spans of PDFium's character indices for a span of the text."""
        steps = enumerate(self._places[start:end])
        for key, found in groupby(steps, lambda each: None if each[1] == NOWHERE else each[1] - each[0]):
            run = [place for _, place in found]
            if key is not None and (index := self._raw_index(run[0])) >= 0:
                yield index, self._raw_index(run[-1]) + 1

    def marked(self, start: int, end: int) -> Iterator[Box]:
        """Yield the boxes of what a span of the text shows that isn't drawn as text, such as ticks."""
        for edit in self._edits:
            if edit.box and edit.start < end and edit.end > start:
                yield edit.box

    def close(self) -> None:
        """Close PDFium's objects."""
        self.textpage.close()
        self.page.close()


def _drawn(places: Sequence[int]) -> Sequence[int]:
    """Return for each character its place in the raw text; for one that isn't in it, the place of what follows."""
    if NOWHERE not in places:
        return places
    found, following = [], 0
    for place in reversed(places):
        following = following if place == NOWHERE else place
        found.append(following)
    return found[::-1]


def _with_hyphens(raw: str, geometry: Geometry, index_of: Callable[[int], int]) -> str:
    """Return the text with a hyphen for each soft hyphen that is drawn: some fonts have one code for both."""
    letters = list(raw)
    for offset, character in enumerate(raw):
        if character == "\xad" and (box := geometry.box(index_of(offset))) and box[2] - box[0] > 1:
            letters[offset] = "-"
    return "".join(letters)


def _with_ligatures(raw: str, geometry: Geometry, index_of: Callable[[int], int]) -> str:
    """Return the text with the letters of right-to-left ligatures in reading order.

    PDFium reverses text character by character, also within a glyph of several letters that are already in order
    (lam-alef, or a whole word). Letters of one glyph share its box.
    """

    def box(offset: int) -> object:
        is_right_to_left = unicodedata.bidirectional(raw[offset]) in ("R", "AL", "NSM")
        return (geometry.box(index_of(offset)) if is_right_to_left else None) or offset

    glyphs = ("".join(raw[offset] for offset in run) for _, run in groupby(range(len(raw)), box))
    # A combining mark above a letter may share its box; the text of a glyph never begins with such a mark.
    return "".join(glyph if unicodedata.combining(glyph[-1]) else glyph[::-1] for glyph in glyphs)


def page_text(document: Any, number: int, before: Sequence[Cell] | None = None) -> PageText | None:
    """Return the page's text, which the caller closes; None for a broken page. `before`: see `table_rows`."""
    fields: list[Field] = []
    try:
        page = document[number]
        noted, written = noted_lines(page), notes(page)
        if document.formenv:
            fields = take_fields(page, document.formenv)
            if pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS:
                # What else is drawn over the page, such as signatures, is part of it only after loading it again.
                page.close()
                page = document[number]
        remove_hidden_layers(page)
        textpage = page.get_textpage()
    except pypdfium2.PdfiumError:
        return None
    text: str = textpage.get_text_range(errors="surrogatepass")
    return PageText(page, textpage, text, fields, noted, before, written)


def _add_page(document: Any, number: int, before: Sequence[Cell], answer: dict[str, Any]) -> list[Cell]:
    """Add a page to the answer; return the columns of a table that may go on on the next page."""
    page: str | None = None
    sizes: list[float] = []
    rows: list[tuple[int, list[int]]] = []
    columns: list[Cell] = []
    if found := page_text(document, number, before):
        page, columns, starts = clean(found.text), found.columns, line_starts(found.text)
        if found.text and not answer["outline"]:
            # The size of a line is that of its first character, rounded to half a point.
            sizes = [round(found.geometry.size(found.index_of(start)) * 2) / 2 for start in starts]
        for start, cells in found.rows:
            line = bisect_right(starts, start) - 1
            rows.append((line, [cell - starts[line] for cell in cells]))
        if page.strip():
            answer["figures"] += figures(found.page, found.textpage)
        elif pdfium.FPDFPage_CountObjects(found.page) > 0:
            answer["scanned"].append(number)
        answer["notes"] += found.notes
        found.close()
    for name, value in (("pages", page), ("sizes", sizes), ("rows", rows)):
        answer[name].append(value)
    return columns


def char_index_of(textpage: Any, raw: str) -> Callable[[int], int]:
    """Return a function from an offset in the raw text to PDFium's character index, which counts UTF-16 units."""
    pairs = [offset for offset, character in enumerate(raw) if character > "\uffff"]
    handle = textpage.raw

    def char_index(offset: int) -> int:
        place: int = pdfium.FPDFText_GetCharIndexFromTextIndex(handle, offset + bisect_left(pairs, offset))
        return place

    return char_index


def rectangles(data: bytes, source: str, spans: Sequence[PageSpan], password: str | None = None) -> list[Rectangle]:
    """Return page (from 1), left, bottom, right and top of each line of the spans, whose offsets count `ink`.

    In points from the page's lower left corner. Text recognised by OCR has none. Raise as for any PDF.
    """
    found: list[Rectangle] = []
    with _opened(data, source, password) as document:
        for number, start, end in spans:
            if 0 <= number < len(document) and (loaded := page_text(document, number)) is not None:
                found += [(number + 1, *box) for box in _boxes(loaded, start, end)]
                loaded.close()
    return found


def page_sizes(data: bytes, source: str, password: str | None = None) -> list[tuple[float, float]]:
    """Return the width and height in points of each page as it is shown, so after its rotation; 0 for a broken page.

    No page is loaded. Raise as for any PDF.
    """
    found, size = [], pdfium.FS_SIZEF()
    with _opened(data, source, password) as document:
        for number in range(len(document)):
            is_known = pdfium.FPDF_GetPageSizeByIndexF(document.raw, number, size)
            found.append((round(size.width, 2), round(size.height, 2)) if is_known else (0.0, 0.0))
    return found


def _boxes(page: PageText, start: int, end: int) -> list[Box]:
    """Return the rectangles of the characters, merged where they are adjacent on a line."""
    places = ink(page.text)[start:end]
    if not places:
        return []
    drawn = page.char_spans(places[0], places[-1] + 1)
    counts = (page.textpage.count_rects(first, last - first) for first, last in drawn)
    found = (page.textpage.get_rect(number) for count in counts for number in range(count))
    boxes: list[Box] = []
    for box in (*found, *page.marked(places[0], places[-1] + 1)):
        if boxes and _same_line(boxes[-1], box):
            left, bottom, right, top = boxes.pop()
            box = (min(left, box[0]), min(bottom, box[1]), max(right, box[2]), max(top, box[3]))
        boxes.append(box)
    return boxes


def _same_line(one: Box, other: Box) -> bool:
    """Whether two rectangles overlap by half their height, and the second begins within two heights after the first."""
    shared = min(one[3], other[3]) - max(one[1], other[1])
    height = min(one[3] - one[1], other[3] - other[1])
    return shared * 2 > height and -height <= other[0] - one[2] <= 2 * max(one[3] - one[1], other[3] - other[1])


def recognise(document: Any, answer: dict[str, Any], ocr: Ocr, working: Callable[[], None]) -> None:
    """Add the text of scanned pages to the answer, until the time for the file is used up."""
    ends = time.monotonic() + ocr.file_seconds
    reads = recogniser(ocr)
    for number in answer["scanned"]:
        seconds = min(ocr.page_seconds, ends - time.monotonic())
        if seconds <= 0:
            return
        working()
        with suppress(PictureRefused):
            page, *_ = reads.pages(_rendered(document, number), seconds)
            if page is not None:
                # In a photograph, OCR finds marks without a letter.
                answer["pages"][number] = page.text if any(map(str.isalnum, page.text)) else ""
                answer["recognised"].append(number)


def _rendered(document: Any, number: int) -> bytes:
    """Return the page in shades of grey, as a picture in PGM format; at a lower resolution if the page is large."""
    page = document[number]
    width, height = page.get_size()
    scale = min(RESOLUTION / 72, (MAX_PIXELS / max(width * height, 1)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    rows = memoryview(bitmap.buffer)
    lines = (rows[row * bitmap.stride :][: bitmap.width] for row in range(bitmap.height))
    picture = b"".join((f"P5 {bitmap.width} {bitmap.height} 255\n".encode(), *lines))
    bitmap.close()
    page.close()
    return picture
