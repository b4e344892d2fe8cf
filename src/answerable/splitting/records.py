"""Chunks of whole records: rows of a table, objects of a list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from answerable.datatypes import Chunk, Document
from answerable.protocols import Span
from answerable.splitting.make_chunks import pack
from answerable.splitting.recursive import RecursiveSplitter


class RecordSplitter:
    """Puts as many whole records into a chunk as fit; the splitter `within` cuts a record that is too long."""

    def __init__(self, within: RecursiveSplitter) -> None:
        self._within = within

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        # Text between two records belongs to the one before it; text before all records, to the first.
        starts = [0, *(part.start for part in document.parts[1:]), len(document.content)]
        return self._within.chunks(document, pack(starts, self._within.chunk_size))


class SheetSplitter:
    """Puts as many whole rows of one sheet into a chunk as fit; the splitter `within` cuts a row that is too long."""

    def __init__(self, within: RecursiveSplitter) -> None:
        self._within = within

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        return self._within.chunks(document, self._spans(document))

    def _spans(self, document: Document) -> Iterator[Span]:
        begin = 0
        for _, rows in groupby(document.parts, lambda part: part.headings):
            first, *others = rows
            end = (others or [first])[-1].end
            # What stands before the first row is the sheet's name.
            starts = [begin, *(part.start for part in others), end]
            yield from pack(starts, self._within.chunk_size)
            begin = end
        if begin < len(document.content):
            yield begin, len(document.content)
