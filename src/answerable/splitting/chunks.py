"""Spans → chunks: what every splitter does once it has decided where to cut."""

from __future__ import annotations

from collections.abc import Iterable

from answerable.analysis.locate import Locator
from answerable.datatypes import Chunk, Document, DocumentType, Location, chunk_id


def make_chunks(document: Document, spans: Iterable[tuple[int, int]]) -> list[Chunk]:
    """Chunks of a document in the order of the spans; white space around a span and empty spans are dropped."""
    locator = Locator(document)
    chunks: list[Chunk] = []
    for start, end in spans:
        start, end = trim(document.content, start, end)
        if start >= end:
            continue
        content = document.content[start:end]
        location = locator.location(start, end)
        chunks.append(
            Chunk(
                id=chunk_id(document.id, start, content),
                document_id=document.id,
                content=content,
                start=start,
                end=end,
                sequence=len(chunks),
                location=location,
                context=context_line(document, location),
                parts=locator.parts(start, end),
            )
        )
    return chunks


def trim(content: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its ends."""
    piece = content[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))


def context_line(document: Document, location: Location) -> str:
    """What a chunk needs to be understood alone: title › headings, for a chat its name."""
    path = [document.title.strip(), *location.headings]
    if document.type is DocumentType.CHAT or not location.headings:
        path = path[:1]
    return " › ".join(dict.fromkeys(" ".join(step.split()) for step in path if step.strip()))
