"""Make chunks from spans, as the last step of every splitter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from answerable.datatypes import Chunk, Document, DocumentType, Location, Part, chunk_id
from answerable.protocols import Span
from answerable.tables.bars import header_above, plain_cell
from answerable.text.locate import Locator

_LONGEST_STEP = 300
_WORDS_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")


def check_sizes(**sizes: int) -> None:
    """Raise ValueError unless the first size is at least 1, and the second, its overlap, from 0 to size - 1."""
    (size_name, size), (overlap_name, overlap) = sizes.items()
    if size < 1:
        raise ValueError(f"{size_name} is {size}: it must be at least 1")
    if not 0 <= overlap < size:
        raise ValueError(f"{overlap_name} is {overlap}: it must be at least 0 and less than {size_name} ({size})")


def make_chunks(document: Document, spans: Iterable[Span]) -> list[Chunk]:
    """Return the chunks of a document in the order of the spans.

    White space around a span is cut off. A span that is empty, or within the previous or next one, is dropped.
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
                context=_context(document, location, parts),
                parts=parts,
            )
        )
    return chunks


def pack(starts: Sequence[int], size: int) -> Iterator[Span]:
    """Group whole pieces into spans of at most `size`, at least one piece each; a piece ends where the next starts."""
    first = 0
    while first < len(starts) - 1:
        last = first + 1
        while last < len(starts) - 1 and starts[last + 1] - starts[first] <= size:
            last += 1
        yield starts[first], starts[last]
        first = last


def trim(content: str, start: int, end: int) -> Span:
    """Return the span without white space at its ends."""
    piece = content[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))


def _context(document: Document, location: Location, parts: tuple[Part, ...]) -> str:
    """Return the context of a chunk: title › headings, columns or symbols; for a chat only its name."""
    path = [document.title.strip(), *location.headings]
    match document.type:
        case DocumentType.CHAT:
            path = path[:1]
        case DocumentType.RECORDS:
            path.append(str(document.metadata.get("columns") or "")[:_LONGEST_STEP])
        case DocumentType.SPREADSHEET:
            names = header_above(document.content, parts[0].start)[:_LONGEST_STEP] if parts else ""
            path.append(", ".join(filter(None, map(plain_cell, names.split("|")))))
        case DocumentType.CODE:
            path += _symbols(parts)
    return " › ".join(dict.fromkeys(" ".join(step.split()) for step in path if step.strip()))


def _symbols(parts: tuple[Part, ...]) -> tuple[str, str]:
    """Return the symbols of code, and the words in them, because questions don't say `parseDueDate`."""
    symbols = dict.fromkeys(part.symbol for part in parts if part.symbol)
    words = dict.fromkeys(word.lower() for symbol in symbols for word in _WORDS_OF_NAME.findall(symbol))
    return ", ".join(symbols)[:_LONGEST_STEP], " ".join(words)[:_LONGEST_STEP]
