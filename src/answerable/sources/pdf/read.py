"""Read PDFs: the content is the pages' texts joined by form feeds.

The parts are the pages' texts, cut where sections begin: at the entries of the PDF's outline, otherwise at lines in
larger type. Running heads, footers and page numbers are in no part: they are in the content but not indexed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from answerable.datatypes import Document, DocumentType, Part, PartKind, Span
from answerable.errors import DamagedSource, EmptySource
from answerable.left_out import LeftOut, LeftOutKind
from answerable.sources.context import Ocr, ReadContext
from answerable.sources.ocr.pictures import install_ocr
from answerable.sources.pdf.page_text import PageSpan, clean, headers_and_footers, ink, whole_words
from answerable.sources.text import make_document

_NAMED = 5  # page numbers that a note lists
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
    answer = extract(data, source, context)
    if not answer["pages"] or all(page is None for page in answer["pages"]):
        raise DamagedSource(
            f"{source} is a PDF without a readable page: download it again, or open it and print it to a new PDF"
        )
    broken = [number for number, page in enumerate(answer["pages"], 1) if page is None]
    answer["pages"] = [page or "" for page in answer["pages"]]
    _join_words(answer)
    unread = [number + 1 for number in answer["scanned"] if number not in answer["recognised"]]
    if not "".join(answer["pages"]).strip():
        raise EmptySource(
            f"{source} is a scan without a text layer: {_unread(unread, context.ocr) or 'its pages are blank'}, "
            "or add one with `ocrmypdf in.pdf out.pdf`, then add out.pdf"
        )
    if unread and context.ocr:
        # Reading the file again may find more.
        context.skipped.errors.append(EmptySource(f"{source}: {_unread(unread, context.ocr)}"))
    wordless = (number + 1 for number in answer["scanned"] if not answer["pages"][number])
    context.left_out.extend(LeftOut.named(LeftOutKind.PAGE, sorted({*wordless, *broken})))
    counts = (LeftOutKind.PICTURE, answer["figures"]), (LeftOutKind.COMMENT, answer["notes"])
    context.left_out.extend(LeftOut.counted(counts))
    context.left_out.extend(LeftOut.named(LeftOutKind.ATTACHMENT, map(clean, answer["attached"])))
    return _document(answer, source)


def page_spans(content: str, spans: Sequence[Span]) -> list[PageSpan]:
    """Return spans of a PDF's content as page spans: (page from 0, start, end), counted in the `ink` of the page.

    Page spans also fit the text that PDFium extracts, whose white space and hyphens at line ends differ.
    """
    found = []
    for start, end in spans:
        first = content.count("\f", 0, start)
        before = len(ink(content[content.rfind("\f", 0, start) + 1 : start]))
        for number, text in enumerate(content[start:end].split("\f"), first):
            after = before + len(ink(text))
            found.append((number, before, after))
            before = 0
    return found


def _unread(numbers: Sequence[int], ocr: Ocr | None) -> str:
    """Return a note on the pages that have content but no text, or ""."""
    if not numbers:
        return ""
    listed = ", ".join(map(str, numbers[:_NAMED])) + (", …" if len(numbers) > _NAMED else "")
    pages = f"page {listed} has" if len(numbers) == 1 else f"pages {listed} have"
    if ocr is not None:
        return f"{pages} no text layer, and OCR failed or took too long"
    return f"{pages} no text layer: {install_ocr()} or tesseract reads {'it' if len(numbers) == 1 else 'them'}"


def _join_words(answer: dict[str, Any]) -> None:
    """Rejoin hyphenated words in the pages, and update the sizes and table rows to the lines that remain."""
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
    title = _sensible(information.get("Title", ""))
    parts = _with_rows(_parts(pages, answer), pages, answer["rows"])
    return make_document(source, content, DocumentType.PDF, parts, title, metadata)


def _parts(pages: Sequence[str], answer: dict[str, Any]) -> Iterator[Part]:
    """Yield each page's parts: its text without headers and footers, cut where sections begin; or one empty part."""
    # The form feed between two pages belongs to neither page.
    starts = list(accumulate((len(page) + 1 for page in pages), initial=0))
    skipped = headers_and_footers(pages)
    if answer["outline"]:
        sections = outline_sections(answer["outline"], pages, starts, skipped)
    else:
        sections = size_sections(pages, starts, answer["sizes"], skipped)
    headings: tuple[str, ...] = ()
    reached = 0
    for number, page in enumerate(pages):
        # An empty page gets one empty span.
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
    """Split the parts so that each table row is a part of its own; a row that spans two parts stays text."""
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
    """Yield the gaps between the spans, in order."""
    start = 0
    for first, last in [*spans, (end, end)]:
        if start < first:
            yield start, first
        start = last


def _sensible(title: str) -> str:
    """Return the title, or "" if it is useless, such as the name of a program or a file."""
    title = re.sub(r"^Microsoft (Word|PowerPoint|Excel) - ", "", title)
    useless = (
        _FILE_NAME.search(title)
        or re.fullmatch(
            r"\W*(untitled|anonymous|sin t[ií]tulo|sem t[ií]tulo|document|title)[\W\d]*", title, re.IGNORECASE
        )
        or sum(map(str.isalpha, title)) < 3
        or len(title) > 300
        or "\ufffd" in title
    )
    return "" if useless else title


LARGER = 1.15  # type size of a heading at least, in type sizes of the text; a guess, not measured
LONGEST = 120  # characters of a heading in larger type at most
LEVELS = 4  # levels of headings that are distinguished
MOST = 0.1  # share of all characters that headings may have at most; a guess, not measured
LONGEST_NUMBER = 30  # characters, at most, of the numbering before a title, such as "Chapter 3: "
_LETTER = re.compile(r"[^\W_]")
_LINE_END = re.compile(r"[^\w\n]*$", re.MULTILINE)
_NUMBER = r"(?i:(?:[^\W\d_]{4,} )?(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])\b[^\w\n]+)"
_LEVELS = r"(?:§\s*)?(?:\d+|[A-Z])(?:\.\d+)+\.?\s+"
_BEFORE = re.compile(rf"(?m)^(?:(?P<levels>{_LEVELS})|[^\w\n]*(?P<number>{_NUMBER})?)\Z")

Section = tuple[int, tuple[str, ...]]


class _Line(NamedTuple):
    start: int
    text: str
    size: float
    page: int


def outline_sections(
    outline: Iterable[tuple[int, str, int]],
    pages: Sequence[str],
    starts: Sequence[int],
    skipped: Sequence[Sequence[Span]],
) -> list[Section]:
    """Return where each entry (level, title, page) of an outline begins in the document, and its path of titles.

    An entry begins at the line of its page that comes after the previous entry and matches its title best, with or
    without a number; if no line matches, at the top of the page. Lines in the `skipped` spans are ignored.
    """
    sections: list[Section] = []
    path: list[str] = []
    for level, title, page in outline:
        path = [*path[:level], title]
        if 0 <= page < len(pages):
            reached = max(sections[-1][0] - starts[page], 0) if sections else 0
            offset = max(_find(title, pages[page], skipped[page], reached), reached)
            sections.append((starts[page] + offset, tuple(path)))
    return sections


def size_sections(
    pages: Sequence[str], starts: Sequence[int], sizes: Sequence[Sequence[float]], skipped: Sequence[Sequence[Span]]
) -> list[Section]:
    """Return where each heading in larger type begins, and the path of headings to it.

    `sizes` are the type sizes of the pages' lines. The rule is strict: headings are at least 15 % larger than the text,
    and a small share of it. Consecutive lines of the same size are one heading.
    """
    lines = list(_lines(pages, starts, sizes, skipped))
    levels = _levels(lines)
    sections: list[Section] = []
    path: dict[int, str] = {}
    before: tuple[float, int] | None = None
    for line in lines:
        level = levels.get(line.size)
        text = " ".join(line.text.split())
        if level is not None and before == (line.size, line.page) and len(path[level]) + len(text) < LONGEST:
            path[level] = f"{path[level]} {text}"
            sections[-1] = (sections[-1][0], tuple(path[key] for key in sorted(path)))
        elif level is not None and _is_heading(text):
            path = {key: path[key] for key in path if key < level} | {level: text}
            sections.append((line.start, tuple(path[key] for key in sorted(path))))
        else:
            before = None
            continue
        before = (line.size, line.page)
    return sections


def _lines(
    pages: Sequence[str], starts: Sequence[int], sizes: Sequence[Sequence[float]], skipped: Sequence[Sequence[Span]]
) -> Iterator[_Line]:
    for number, page in enumerate(pages):
        offset = 0
        for text, size in zip(page.split("\n"), sizes[number], strict=False):
            if text.strip() and not _within(offset, skipped[number]):
                yield _Line(starts[number] + offset, text, size, number)
            offset += len(text) + 1


def _levels(lines: Sequence[_Line]) -> dict[float, int]:
    """Map each type size of headings to its level, from 0."""
    characters: Counter[float] = Counter()
    for line in lines:
        characters[line.size] += len(line.text)
    body = max(characters, key=characters.__getitem__, default=0.0)
    large = sorted((size for size in characters if size >= body * LARGER), reverse=True)
    if sum(characters[size] for size in large) > MOST * characters.total():
        return {}
    return {size: min(level, LEVELS - 1) for level, size in enumerate(large)}


def _is_heading(text: str) -> bool:
    return 3 <= len(text) <= LONGEST and sum(map(str.isalpha, text)) * 2 > len(text) and text[-1] not in ".,;"


def _within(offset: int, spans: Sequence[Span]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _find(title: str, page: str, skipped: Sequence[Span], reached: int) -> int:
    """Return where the first of the lines that match the title best begins, from `reached` on; 0 if none match.

    "1.4. Setup" on the page may be "Setup" in the outline, and vice versa. A line that has a number of several levels
    before the title is the best match, then the title alone, then a title after a plain number.
    """
    found: list[tuple[int, int]] = []
    text, places = _letters(page)
    for wanted in filter(None, (_letters(title)[0], _letters(re.sub(rf"\A{_NUMBER}", "", title))[0])):
        at = -1 if found else text.find(wanted)
        while at >= 0:
            before = _BEFORE.search(page, max(places[at] - LONGEST_NUMBER, 0), places[at])
            is_whole = before and _LINE_END.match(page, places[at + len(wanted) - 1] + 1)
            if before and is_whole and before.start() >= reached and not _within(before.start(), skipped):
                found.append((0 if before["levels"] else 2 if before["number"] else 1, before.start()))
            at = text.find(wanted, at + 1)
    return min(found, default=(0, 0))[1]


@lru_cache(maxsize=2)
def _letters(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text in lower case, and the place of each."""
    places = [found.start() for found in _LETTER.finditer(text)]
    # A few capitals are longer in lower case.
    return "".join(text[place].lower()[0] for place in places), places
