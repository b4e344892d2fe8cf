"""Read PDFs: the content is the pages' texts joined by form feeds.

Parts are the pages' texts, cut where sections begin. No part covers running heads, footers and page numbers: they are
in the content but not indexed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from answerable.datatypes import Document, DocumentType, Part, PartKind, Span, document_id
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceError, SourceTooLarge, UnreadPages
from answerable.sources.context import Ocr, ReadContext
from answerable.sources.ocr.choice import install_ocr
from answerable.sources.pdf.furniture import furniture
from answerable.sources.pdf.hyphens import whole_words
from answerable.sources.pdf.page_text import clean, ink
from answerable.sources.pdf.sections import outline_sections, size_sections
from answerable.sources.text import stem

Rectangle = tuple[int, float, float, float, float]
PageSpan = tuple[int, int, int]
_NAMED = 5
_FILE_NAME = re.compile(r"\.[a-z][a-z0-9]{1,4}$", re.IGNORECASE)
_DATE = re.compile(r"(?:D:)?(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")


def read_pdf(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return the document in a PDF's bytes, with parts by page and section.

    Pages without a text layer are read by OCR, or added to `context.skipped`. Raise EncryptedSource, DamagedSource,
    SourceTooLarge, or EmptySource when no page has text.
    """
    from answerable.sources.pdf.extraction import extract

    context = context or ReadContext()
    if not data:
        raise EmptySource(f"{source} is empty (0 bytes): download or save it again")
    answer = extract(data, context)
    if answer["outcome"] != "text":
        raise _refusal(answer, source, context.password)
    if not answer["pages"] or all(page is None for page in answer["pages"]):
        raise DamagedSource(
            f"{source} is a PDF without a readable page: download it again, or open it and print it to a new PDF"
        )
    answer["pages"] = [page or "" for page in answer["pages"]]
    _join_words(answer)
    unread = _unread(answer, context.ocr)
    if not "".join(answer["pages"]).strip():
        raise EmptySource(
            f"{source} is a scan without a text layer: {unread or 'its pages are blank'}, "
            "or add one with `ocrmypdf in.pdf out.pdf`, then add out.pdf"
        )
    if unread:
        # OCR may do better next time; without it, reading again finds the same.
        kind = EmptySource if context.ocr else UnreadPages
        context.skipped.errors.append(kind(f"{source}: {unread}"))
    return _document(answer, source)


def rectangles(data: bytes, source: str, spans: Sequence[PageSpan], password: str | None = None) -> list[Rectangle]:
    """Return page (from 1), left, bottom, right and top of each line of page spans, in points.

    The origin is the page's lower left corner. Text recognised by OCR has no rectangles. Raise DamagedSource.
    """
    from answerable.sources.pdf.rectangles import span_rectangles

    answer = span_rectangles(data, password, spans)
    if answer["outcome"] != "text":
        raise _refusal(answer, source, password)
    return [(number + 1, left, bottom, right, top) for number, left, bottom, right, top in answer["rectangles"]]


def page_sizes(data: bytes, source: str, password: str | None = None) -> list[tuple[float, float]]:
    """Return the width and height in points of each page as it is shown, turned if it says so. Raise DamagedSource."""
    from answerable.sources.pdf.rectangles import sizes

    answer = sizes(data, password)
    if answer["outcome"] != "text":
        raise _refusal(answer, source, password)
    return [(width, height) for width, height in answer["sizes"]]


def page_spans(content: str, spans: Sequence[Span]) -> list[PageSpan]:
    """Return spans of a PDF's content as spans (page from 0, start, end) that count the `ink` of its pages.

    So they fit the page's own text, whose white space and hyphens at line ends differ.
    """
    return [span for start, end in spans for span in _page_spans(content, start, end)]


def _page_spans(content: str, start: int, end: int) -> Iterator[PageSpan]:
    number = content.count("\f", 0, start)
    page_start = content.rfind("\f", 0, start) + 1
    before = len(ink(content[page_start:start]))
    for text in content[start:end].split("\f"):
        after = before + len(ink(text))
        yield number, before, after
        number, before = number + 1, 0


def _unread(answer: dict[str, Any], ocr: Ocr | None) -> str:
    """Return a note on the pages that have content but no text, or ""."""
    numbers = [number + 1 for number in answer["scanned"] if number not in answer["recognised"]]
    if not numbers:
        return ""
    listed = ", ".join(map(str, numbers[:_NAMED])) + (", …" if len(numbers) > _NAMED else "")
    pages = f"page {listed} has" if len(numbers) == 1 else f"pages {listed} have"
    if ocr is not None:
        return f"{pages} no text layer, and OCR failed or took too long"
    return f"{pages} no text layer: {install_ocr()} or tesseract reads {'it' if len(numbers) == 1 else 'them'}"


def _refusal(answer: dict[str, Any], source: str, password: str | None) -> SourceError:
    match answer["outcome"]:
        case "password" if password is None:
            return EncryptedSource(f"{source} is encrypted: give its password, or save a copy without one")
        case "password":
            return EncryptedSource(f"{source} is encrypted and the password is wrong: check it, then try again")
        case "large":
            return SourceTooLarge(f"{source} is too large, {answer['reason']}: split it into several PDFs")
    return DamagedSource(
        f"{source} is not a readable PDF ({answer['reason']}): download it again, or open it and print it to a new PDF"
    )


def _join_words(answer: dict[str, Any]) -> None:
    """Put broken words together in the pages, and follow with the sizes and the rows of their lines."""
    joined = whole_words(answer["pages"], [{line for line, _ in rows} for rows in answer["rows"]])
    for number, (text, kept) in enumerate(joined):
        if text == answer["pages"][number]:
            continue
        sizes, rows = answer["sizes"][number], answer["rows"][number]
        answer["pages"][number] = text
        answer["sizes"][number] = [sizes[line] for line in kept if line < len(sizes)]
        answer["rows"][number] = [(bisect_left(kept, line), cells) for line, cells in rows]


def _document(answer: dict[str, Any], source: str) -> Document:
    pages: list[str] = answer["pages"]
    content = "\f".join(pages)
    information = {key: " ".join(clean(value).split()) for key, value in answer["metadata"].items()}
    metadata = {"author": information.get("Author", "")}
    if date := _DATE.match(information.get("CreationDate", "") or information.get("ModDate", "")):
        metadata["date"] = "-".join(date.groups())
    return Document(
        document_id(source, content),
        content,
        source,
        _sensible(information.get("Title", "")) or stem(source),
        DocumentType.PDF,
        metadata={key: value for key, value in metadata.items() if value},
        parts=tuple(_with_rows(_parts(pages, answer), pages, answer["rows"])),
    )


def _parts(pages: Sequence[str], answer: dict[str, Any]) -> Iterator[Part]:
    """Yield each page's parts: its text without headers and footers, cut where sections begin, or one empty part."""
    # The form feed between two pages belongs to neither.
    starts = list(accumulate((len(page) + 1 for page in pages), initial=0))
    skipped = furniture(pages)
    if answer["outline"]:
        sections = outline_sections(answer["outline"], pages, starts, skipped)
    else:
        sections = size_sections(pages, starts, answer["sizes"], skipped)
    headings: tuple[str, ...] = ()
    reached = 0
    for number, page in enumerate(pages):
        # An empty page has one empty span.
        for start, end in list(_between(skipped[number], len(page))) or [(0, 0)]:
            first, last = starts[number] + start, starts[number] + end
            while reached < len(sections) and sections[reached][0] < last:
                cut = max(sections[reached][0], first)
                if first < cut:
                    yield Part(first, cut, PartKind.PAGE, page=number + 1, headings=headings)
                first, headings, reached = cut, sections[reached][1], reached + 1
            yield Part(first, last, PartKind.PAGE, page=number + 1, headings=headings)


def _with_rows(
    parts: Iterator[Part], pages: Sequence[str], rows: Sequence[Sequence[tuple[int, list[int]]]]
) -> Iterator[Part]:
    """Split the parts so that each table row is a part of its own; a row that crosses two parts stays text."""
    found: list[tuple[int, int, tuple[int, ...]]] = []
    page_start = 0
    for page, page_rows in zip(pages, rows, strict=True):
        lines = page.split("\n") if page_rows else []
        line_starts = list(accumulate((len(line) + 1 for line in lines), initial=page_start))
        for number, offsets in page_rows:
            start, end = line_starts[number], min(line_starts[number + 1], page_start + len(page))
            found.append((start, end, tuple(start + offset for offset in offsets)))
        page_start += len(page) + 1
    starts = [start for start, _, _ in found]
    for part in parts:
        reached = part.start
        for start, end, cells in found[bisect_left(starts, part.start) : bisect_left(starts, part.end)]:
            if end <= part.end:
                if reached < start:
                    yield replace(part, start=reached, end=start)
                yield replace(part, start=start, end=end, cells=cells)
                reached = end
        if reached == part.start:
            yield part
        elif reached < part.end:
            yield replace(part, start=reached)


def _between(spans: Sequence[Span], end: int) -> Iterator[Span]:
    """Yield the gaps between spans in order."""
    start = 0
    for first, last in [*spans, (end, end)]:
        if start < first:
            yield start, first
        start = last


def _sensible(title: str) -> str:
    """Return the title, or "" for a useless one, such as the name of a program or a file."""
    title = re.sub(r"^Microsoft (Word|PowerPoint|Excel) - ", "", title)
    useless = (
        _FILE_NAME.search(title)
        or re.fullmatch(r"(untitled|sin t[ií]tulo|sem t[ií]tulo|document|title)[\s\d]*", title, re.IGNORECASE)
        or sum(map(str.isalpha, title)) < 3
        or len(title) > 300
        or "\ufffd" in title
    )
    return "" if useless else title
