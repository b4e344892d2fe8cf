"""The chunks of one search: each is fetched from the store once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.protocols import IndexedChunk, Store
from answerable.text.places import stored_hash

Scored: TypeAlias = "Sequence[tuple[int, float]]"
"""Numbers of chunks with their scores, best first."""

Stored: TypeAlias = "Mapping[int, tuple[IndexedChunk, Document]]"


class Fetched:
    """The chunks of one search, with their documents. `is_whole` is false once the store lacks a requested chunk."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.is_whole = True
        self._known: dict[int, tuple[IndexedChunk, Document]] = {}
        self._by_id: dict[str, IndexedChunk] = {}
        self._texts: dict[str, str] = {}

    def fetch(self, numbers: Sequence[int]) -> Stored:
        """Return these chunks in this order, without those that the store no longer has."""
        missing = [number for number in numbers if number not in self._known]
        if missing:
            found = self.store.fetch(missing)
            self._known |= found
            self._by_id |= {indexed.chunk.id: indexed for indexed, _ in found.values()}
            self.is_whole = self.is_whole and len(found) == len(missing)
        return {number: self._known[number] for number in numbers if number in self._known}

    def text_of(self, chunk: Chunk) -> str:
        """Return the hash of a fetched chunk's text (see `text.places`)."""
        if chunk.id not in self._texts:
            self._texts[chunk.id] = stored_hash(self._by_id[chunk.id])
        return self._texts[chunk.id]

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Sequence[tuple[int, float]]:
        """Return the cosines of these chunks, best first, without those that the store no longer has."""
        found = self.store.cosines(vector, numbers)
        self.is_whole = self.is_whole and len(found) == len(numbers)
        return found
