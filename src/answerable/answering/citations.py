"""Spans → citations: a quote that stands verbatim in its document, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote

from answerable.datatypes import Citation, Document, DocumentType, Location, RetrievalResult
from answerable.text.locate import locate

LONGEST_DIRECTIVE = 80

# No browser shows these in a way that a fragment could point into.
_WITHOUT_PLACES = frozenset({DocumentType.DOCX, DocumentType.EPUB, DocumentType.RECORDS})

_WEB = re.compile(r"https?://[^/\\\s]", re.IGNORECASE)
_KEPT = "%/:?=&+,;@!$~*()[]"
_ARCHIVE = re.compile(r"(.*?\.[A-Za-z0-9]{1,5})!/")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
# What a page's text got when it became Markdown: marks of headings, lists and quotations; bars between cells; fences.
_LINE_MARKS = re.compile(r"\s*(?:(?:#{1,6}|>|[-:]|\d{1,9}\.)(?:\s+|$))*")
_BAR = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"\s*(?:```|~~~)")


def cite(result: RetrievalResult, start: int, end: int) -> Citation | None:
    """A citation of a span within a result's chunk; None when the quote can't be verified."""
    document, chunk = result.document, result.chunk
    text = document.content[start:end]
    if not text.strip() or not chunk.start <= start < end <= chunk.end:
        return None
    if chunk.content[start - chunk.start : end - chunk.start] != text:
        return None
    location = _location(result, start, end)
    return Citation(
        quote=text,
        document_id=document.id,
        source=document.source,
        title=document.title,
        start=start,
        end=end,
        location=location,
        link=link(document, location, text),
    )


def _location(result: RetrievalResult, start: int, end: int) -> Location:
    parts = tuple(part for part in result.chunk.parts if part.start < end and part.end > start)
    if result.chunk.location.lines is None:
        return locate(parts, None)
    first = result.chunk.location.lines[0] + result.chunk.content.count("\n", 0, start - result.chunk.start)
    return locate(parts, (first, first + result.document.content.count("\n", start, end)))


def link(document: Document, location: Location, text: str) -> str:
    """An address that opens at the quote: `file://…#page=3`, `#L10-L14`, `https://…#anchor:~:text=…`.

    It is that of the source; what the document declares of itself counts only where the source has none. Only web pages
    and files have one: no other scheme or fragment comes through. Formats that no browser shows, and members of an
    archive, have the address of the file alone.
    """
    web = _web_address(document)
    archive = _ARCHIVE.match(document.source)
    if archive and not web:
        return _file_address(archive[1])
    base = quote(web.split("#", 1)[0], safe=_KEPT) if web else _file_address(document.source)
    if not base or document.type in _WITHOUT_PLACES:
        return base
    if location.pages:
        return f"{base}#page={location.pages[0]}"
    if location.lines is None or web:
        return f"{base}#{quote(location.anchor or '', safe='')}:~:text={_text_directive(text)}"
    first, last = location.lines
    return f"{base}#L{first}" if first == last else f"{base}#L{first}-L{last}"


def _web_address(document: Document) -> str:
    is_file = _file_address(document.source) or _ARCHIVE.match(document.source)
    addresses = (document.source, "" if is_file else str(document.metadata.get("url") or ""))
    return next((address for address in addresses if _WEB.match(address)), "")


def _text_directive(text: str) -> str:
    """What browsers look for to find a quote: its beginning, or where it goes over several blocks its first and last.

    They look within one block each, for whole words, and take a hyphen for syntax.
    """
    blocks = [words for piece in _pieces(text) if any(map(str.isalnum, words := " ".join(piece.split())))]
    first, *others = blocks or [" ".join(text.split())]
    return ",".join(quote(words, safe="").replace("-", "%2D") for words in (_begin(first), *map(_end, others[-1:])))


def _pieces(text: str) -> Iterator[str]:
    """The blocks of a rendered page that a quote touches, without the marks of Markdown."""
    for line in text.split("\n"):
        if line.lstrip().startswith("|"):
            yield from (cell.replace("\\|", "|") for cell in _BAR.split(line))
        elif not _FENCE.match(line):
            yield _LINE_MARKS.sub("", line, count=1)


def _begin(words: str) -> str:
    if len(words) <= LONGEST_DIRECTIVE:
        return words
    return words[: LONGEST_DIRECTIVE + 1].rsplit(" ", 1)[0][:LONGEST_DIRECTIVE]


def _end(words: str) -> str:
    return _begin(words[::-1])[::-1]


def _file_address(path: str) -> str:
    if _DRIVE.match(path):
        return PureWindowsPath(path).as_uri()
    return PurePosixPath(path).as_uri() if path.startswith("/") else ""
