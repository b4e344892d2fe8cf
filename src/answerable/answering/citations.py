"""Spans → citations: a quote that stands verbatim in its document, and where."""

from __future__ import annotations

from pathlib import PurePath
from urllib.parse import quote

from answerable.analysis.locate import locate
from answerable.datatypes import Citation, Document, Location, RetrievalResult


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
    """An address that opens at the quote: `file://…#page=3`, `#L10-L14`, `https://…#anchor:~:text=…`."""
    url = str(document.metadata.get("url") or "")
    if not url:
        url = document.source if "://" in document.source else _file_address(document.source)
    if not url:
        return ""
    base = url.split("#", 1)[0]
    if location.pages:
        return f"{base}#page={location.pages[0]}"
    if location.lines is None or base.startswith(("http://", "https://")):
        return f"{base}#{location.anchor or ''}:~:text={quote(' '.join(text.split())[:80], safe='')}"
    first, last = location.lines
    return f"{base}#L{first}" if first == last else f"{base}#L{first}-L{last}"


def _file_address(source: str) -> str:
    path = PurePath(source.split("!/", 1)[0])
    return path.as_uri() if path.is_absolute() else ""
