"""Chunks that keep to the sections of a document with headings."""

from __future__ import annotations

from collections.abc import Iterator

from answerable.datatypes import Chunk, Document
from answerable.splitting.chunks import make_chunks
from answerable.splitting.recursive import RecursiveSplitter


class HeadingSplitter:
    """One chunk per section, long sections cut by `within`. A section that is only its heading goes with the next."""

    def __init__(self, within: RecursiveSplitter) -> None:
        self._within = within

    def split(self, document: Document) -> list[Chunk]:
        """Chunks in order that cover everything but white space."""
        spans = [
            span for start, end in self._sections(document) for span in self._within.spans(document.content, start, end)
        ]
        return make_chunks(document, spans)

    def _sections(self, document: Document) -> Iterator[tuple[int, int]]:
        start = reached = 0
        for part in document.parts:
            text = document.content[reached : part.end].strip()
            reached = part.end
            if "\n" not in text and text.startswith("#"):
                continue
            yield start, part.end
            start = part.end
        if start < len(document.content):
            yield start, len(document.content)
