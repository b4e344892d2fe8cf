"""Chunks that respect the sections of a document."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from answerable.datatypes import Chunk, Document, DocumentType
from answerable.protocols import Span
from answerable.splitting.recursive import RecursiveSplitter

# A heading may have a number or word before it that its path lacks: "Chapter 3".
NUMBER = 30


class HeadingSplitter:
    """One chunk per section; the splitter `within` cuts long ones. A section with only a heading joins the next."""

    def __init__(self, within: RecursiveSplitter) -> None:
        self._within = within

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        has_pages = document.type in (DocumentType.PDF, DocumentType.PICTURE)
        return self._within.chunks(document, _sections_across_pages(document) if has_pages else _sections(document))


def _sections(document: Document) -> Iterator[Span]:
    start = reached = 0
    for part in document.parts:
        text = document.content[reached : part.end].strip()
        reached = part.end
        if "\n" in text or not text.startswith("#"):
            yield start, part.end
            start = part.end
    if start < len(document.content):
        yield start, len(document.content)


def _sections_across_pages(document: Document) -> Iterator[Span]:
    """Yield the spans of sections: one begins where the headings change, unless the last would be only a heading."""
    started = None
    start = 0
    for before, part in pairwise(document.parts):
        started = started or before
        if part.headings == before.headings:
            continue
        between = document.content[started.start : part.start].strip()
        if not started.headings or len(between) > len(started.headings[-1]) + NUMBER:
            yield start, part.start
            start, started = part.start, part
    yield start, len(document.content)
