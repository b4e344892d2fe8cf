"""Pictures → Document: the text that OCR finds in photographs, screenshots and scans.

The content is the pages' texts joined by form feeds. Each line is a part with its page and its box on it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.util import find_spec

from answerable.datatypes import Document, DocumentType, Part, PartKind, Span, document_id
from answerable.errors import DamagedSource, EmptySource, SourceTooLarge, UnsupportedSource
from answerable.sources.context import Ocr, ReadContext
from answerable.sources.ocr.choice import install_ocr, recogniser
from answerable.sources.ocr.lines import Box, Page, PictureRefused
from answerable.sources.ocr.sizes import MOST_PAGES, MOST_PIXELS, declared_sizes, heif_name
from answerable.sources.text import stem

Rectangle = tuple[int, float, float, float, float]
# No text is legible in pictures that are lower or narrower.
LEAST_SIDE = 8
# The container names its brands, a few of four letters, at its beginning.
_BRANDS = 64


def read_picture(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return the document in a picture's bytes; record pages that OCR fails to read in `context.skipped`.

    Raise UnsupportedSource without OCR, EmptySource if the picture shows no text, DamagedSource and SourceTooLarge.
    """
    context = context or ReadContext()
    if reason := undecoded(data[:_BRANDS], context.ocr):
        raise UnsupportedSource(f"{source} is a {reason}")
    if context.ocr is None:
        raise UnsupportedSource(
            f"{source} is a picture: to read its text run {install_ocr()}, or install tesseract; or leave it out"
        )
    if not _is_legible(data, source):
        raise EmptySource(f"{source} is too small to show text: leave it out")
    found = _pages(data, source, context, context.ocr)
    unread = [number for number, page in enumerate(found, 1) if page is None]
    pages = [page or Page() for page in found]
    if unread:
        which = f"page {unread[0]}" if len(found) > 1 else "it"
        reason = f"{source}: OCR failed or took too long at {which}: split it, or make it smaller, then add it again"
        if len(unread) == len(found):
            raise EmptySource(reason)
        context.skipped.errors.append(EmptySource(reason))
    if not any(page.text.strip() for page in pages):
        raise EmptySource(f"{source} shows no text that OCR can read: leave it out, or scan it at 200 dpi or more")
    return _document(data, source, pages)


def undecoded(head: bytes, ocr: Ocr | None) -> str:
    """Return the name of a format that can't be decoded here, and what to do; "" for one that can."""
    name = heif_name(head)
    # Pillow, which RapidOCR uses, reads AVIF itself; tesseract reads neither.
    if not name or (ocr and not ocr.command and (name == "AVIF" or find_spec("pillow_heif"))):
        return ""
    more = " and `pip install pillow-heif`" if name == "HEIC" else ""
    return f"{name} picture, which isn't read here: save it as JPEG and add that, or run {install_ocr()}{more}"


def rectangles(document: Document, spans: Sequence[Span]) -> list[Rectangle]:
    """Return page (from 1), left, bottom, right and top of each line of spans, as fractions of the picture's size.

    The origin is the lower left corner. Within a line, the letters are taken to be equally wide.
    """
    found: list[Rectangle] = []
    for part in document.parts:
        for start, end in spans:
            length = len(document.content[part.start : part.end].rstrip())
            first, last = max(start - part.start, 0), min(end - part.start, length)
            if part.box and first < last:
                found.append((part.page or 1, *_share(part.box, first / length, last / length)))
    return found


def _share(box: Box, first: float, last: float) -> tuple[float, float, float, float]:
    """Return left, bottom, right and top of a share of a line; all of it if the line runs up or down the page."""
    left, top, right, bottom = box
    if right - left > bottom - top:
        left, right = left + (right - left) * first, left + (right - left) * last
    return left, 1 - bottom, right, 1 - top


def _is_legible(data: bytes, source: str) -> bool:
    """Whether a page is large enough to show text. Raise SourceTooLarge before anything is decoded."""
    sizes = declared_sizes(data)
    if len(sizes) >= MOST_PAGES:
        raise SourceTooLarge(f"{source} has over {MOST_PAGES:,} pages: split it into several files")
    if any(width * height > MOST_PIXELS for width, height in sizes):
        raise SourceTooLarge(
            f"{source} has over {MOST_PIXELS:,} pixels: save it smaller, or cut it into several pictures"
        )
    # A size of zero is damage, which decoding reports.
    return not sizes or any(min(size) >= LEAST_SIDE or not min(size) for size in sizes)


def _pages(data: bytes, source: str, context: ReadContext, ocr: Ocr) -> list[Page | None]:
    """Return the pages; the last is None if it fails, or if the time for the file is used up."""
    ends = time.monotonic() + ocr.file_seconds
    pages: list[Page | None] = []
    context.working()
    if min(ocr.page_seconds, ocr.file_seconds) <= 0:
        return [None]
    try:
        for page in recogniser(ocr).pages(data, ocr.page_seconds):
            pages.append(page)
            context.working()
            if time.monotonic() > ends:
                return [*pages, None]
    except PictureRefused as error:
        raise DamagedSource(
            f"{source} is not a readable picture ({error}): download it again, or open it and save it as PNG"
        ) from error
    return pages


def _document(data: bytes, source: str, pages: Sequence[Page]) -> Document:
    content = "\f".join(page.text for page in pages)
    # Tells that the file is unchanged without reading it again.
    metadata = {"sha256": sha256(data).hexdigest()}
    parts = tuple(_parts(pages))
    return Document(
        document_id(source, content),
        content,
        source,
        stem(source),
        DocumentType.PICTURE,
        metadata=metadata,
        parts=parts,
    )


def _parts(pages: Sequence[Page]) -> Iterator[Part]:
    start = 0
    for number, page in enumerate(pages, 1):
        for place, line in enumerate(page.lines):
            after = page.lines[place + 1].before if place + 1 < len(page.lines) else ""
            left, top, right, bottom = (round(edge, 4) for edge in line.box)
            end = start + len(line.text) + len(after)
            yield Part(start, end, PartKind.PAGE, page=number, box=(left, top, right, bottom))
            start = end
        start += 1
