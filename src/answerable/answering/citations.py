"""Spans → citations: a quote that stands verbatim in its document, and where."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote

from answerable.analysis.locate import locate
from answerable.datatypes import Citation, Document, Location, RetrievalResult

LONGEST_DIRECTIVE = 80

_WEB = re.compile(r"https?://[^/\\\s]", re.IGNORECASE)
_KEPT = "%/:?=&+,;@!$~*()[]"
_ARCHIVE = re.compile(r"(.*?\.[A-Za-z0-9]{1,5})!/")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


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

    Only web pages and files have one: whatever a document says of itself, no other scheme or fragment comes through.
    A member of an archive has the archive's.
    """
    addresses = (str(document.metadata.get("url") or ""), document.source)
    web = next((address for address in addresses if _WEB.match(address)), "")
    archive = _ARCHIVE.match(document.source)
    if archive and not web:
        return _file_address(archive[1])
    base = quote(web.split("#", 1)[0], safe=_KEPT) if web else _file_address(document.source)
    if not base:
        return ""
    if location.pages:
        return f"{base}#page={location.pages[0]}"
    if location.lines is None or web:
        return f"{base}#{quote(location.anchor or '', safe='')}:~:text={_text_directive(text)}"
    first, last = location.lines
    return f"{base}#L{first}" if first == last else f"{base}#L{first}-L{last}"


def _text_directive(text: str) -> str:
    """The beginning of a quote; browsers look for whole words and take a hyphen for syntax."""
    words = " ".join(text.split())
    if len(words) > LONGEST_DIRECTIVE:
        words = words[: LONGEST_DIRECTIVE + 1].rsplit(" ", 1)[0][:LONGEST_DIRECTIVE]
    return quote(words, safe="").replace("-", "%2D")


def _file_address(path: str) -> str:
    if _DRIVE.match(path):
        return PureWindowsPath(path).as_uri()
    return PurePosixPath(path).as_uri() if path.startswith("/") else ""
