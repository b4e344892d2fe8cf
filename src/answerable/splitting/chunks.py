"""Spans → chunks: what every splitter does once it has decided where to cut."""

from __future__ import annotations

import re
from collections.abc import Iterable

from answerable.datatypes import Chunk, Document, DocumentType, Location, Part, chunk_id
from answerable.text.locate import Locator

_LONGEST_STEP = 300
_WORDS_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")


def make_chunks(document: Document, spans: Iterable[tuple[int, int]]) -> list[Chunk]:
    """Chunks of a document in the order of the spans.

    White space around a span is dropped, and so is a span that is empty or has nothing that the one before or the next
    lacks.
    """
    locator = Locator(document)
    chunks: list[Chunk] = []
    for start, end in spans:
        start, end = trim(document.content, start, end)
        if start >= end or (chunks and end <= chunks[-1].end):
            continue
        if chunks and chunks[-1].start == start:
            chunks.pop()
        content = document.content[start:end]
        location, parts = locator.location(start, end), locator.parts(start, end)
        chunks.append(
            Chunk(
                id=chunk_id(document.id, start, content),
                document_id=document.id,
                content=content,
                start=start,
                end=end,
                sequence=len(chunks),
                location=location,
                context=context_line(document, location, parts),
                parts=parts,
            )
        )
    return chunks


def trim(content: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its ends."""
    piece = content[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))


def context_line(document: Document, location: Location, parts: tuple[Part, ...] = ()) -> str:
    """What a chunk needs to be understood alone: title › headings, columns or symbols, for a chat its name."""
    path = [document.title.strip(), *location.headings]
    match document.type:
        case DocumentType.CHAT:
            path = path[:1]
        case DocumentType.RECORDS:
            path.append(str(document.metadata.get("columns") or "")[:_LONGEST_STEP])
        case DocumentType.CODE:
            path += _symbols(parts)
    return " › ".join(dict.fromkeys(" ".join(step.split()) for step in path if step.strip()))


def _symbols(parts: tuple[Part, ...]) -> tuple[str, str]:
    """The symbols of some code, and the words in them: nobody asks for `parseDueDate` by that name."""
    symbols = dict.fromkeys(part.symbol for part in parts if part.symbol)
    words = dict.fromkeys(word.lower() for symbol in symbols for word in _WORDS_OF_NAME.findall(symbol))
    return ", ".join(symbols)[:_LONGEST_STEP], " ".join(words)[:_LONGEST_STEP]
