"""Chunks that keep to the sections of a document with headings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from answerable.datatypes import Chunk, Document
from answerable.splitting.chunks import make_chunks
from answerable.splitting.recursive import RecursiveSplitter

# A heading may have a number or a word before it that its path lacks: "Chapter 3".
NUMBER = 30


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


class PageSplitter:
    """One chunk per section of a document in pages, whatever page it goes on to; long sections are cut by `within`."""

    def __init__(self, within: RecursiveSplitter) -> None:
        self._within = within

    def split(self, document: Document) -> list[Chunk]:
        """Chunks in order that cover everything but white space."""
        cuts = [0, *_section_starts(document), len(document.content)]
        spans = [span for start, end in pairwise(cuts) for span in self._within.spans(document.content, start, end)]
        return make_chunks(document, spans)


def _section_starts(document: Document) -> Iterator[int]:
    """Where a part has other headings than the one before, unless all that is between is the heading."""
    started = None
    for before, part in pairwise(document.parts):
        started = started or before
        if part.headings == before.headings:
            continue
        between = document.content[started.start : part.start].strip()
        if not started.headings or len(between) > len(started.headings[-1]) + NUMBER:
            yield part.start
            started = part
