"""Chunks of whole records: rows of a table, objects of a list."""

from __future__ import annotations

from answerable.datatypes import Chunk, Document
from answerable.splitting.chunks import make_chunks
from answerable.splitting.packing import pack
from answerable.splitting.recursive import RecursiveSplitter


class RecordSplitter:
    """As many whole records as fit; one that is too long for itself is cut by `within`."""

    def __init__(self, within: RecursiveSplitter) -> None:
        self._within = within

    def split(self, document: Document) -> list[Chunk]:
        """Chunks in order that cover everything but white space."""
        # A header, and what stands between two records, belongs to a record: nothing is left out.
        starts = [0, *(part.start for part in document.parts[1:]), len(document.content)]
        spans = pack(starts, self._within.chunk_size)
        return make_chunks(
            document, (cut for start, end in spans for cut in self._within.spans(document.content, start, end))
        )
