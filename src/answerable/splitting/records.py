"""Chunks of whole records: rows of a table, objects of a list."""

from __future__ import annotations

from answerable.datatypes import Chunk, Document
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
