"""Chunks with their embeddings, found by the cosine to that of a query."""

from __future__ import annotations

import itertools
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.filters import normalize_fields, parse_filter
from answerable.stores import ExactIndex
from codomyrmex.llm.rag._documents import Chunk, RetrievalResult
from codomyrmex.llm.rag._settings import TOP_K, resolve
from codomyrmex.llm.rag._vectors import as_matrix, normalize


class VectorStore(ABC):
    """Keeps chunks and their embeddings. A subclass needs these three methods and nothing else."""

    @abstractmethod
    def add(self, chunks: list[Chunk]) -> None:
        """Add chunks, or none of them where it raises; one whose id is already there is replaced."""

    @abstractmethod
    def search(self, query_embedding: list[float], k: int = 5) -> list[RetrievalResult]:
        """Return the k chunks nearest to a query, best first; a higher score is better."""

    @abstractmethod
    def delete(self, chunk_ids: list[str]) -> int:
        """Delete the chunks with these ids; return how many there were."""


class InMemoryVectorStore(VectorStore):
    """Exact cosine similarity over the engine's `ExactIndex`. Safe to share between threads.

    A search of 100,000 vectors takes tens of milliseconds. A vector of zeros has the score 0.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._clear()

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Add copies of chunks; one whose id is already there is replaced.

        Raises ValueError, and adds none, when an embedding is missing, has another length than those already there,
        or isn't finite.
        """
        added = list({chunk.id: chunk for chunk in chunks}.values())
        if not added:
            return
        missing = [chunk.id for chunk in added if chunk.embedding is None]
        if missing:
            raise ValueError(f"the chunk {missing[0]!r} has no embedding: embed chunks before they are added")
        unit, lengths = normalize(as_matrix([chunk.embedding for chunk in added], "the chunks' embeddings"))
        # What can fail comes first. The matrix holds the embeddings: as lists they would take eight times the memory.
        fields = [normalize_fields(fields_of(chunk)) for chunk in added]
        copies = [replace(chunk, embedding=None, metadata=dict(chunk.metadata)) for chunk in added]
        with self._lock:
            self._require_dimension(unit.shape[1])
            for copy, vector, length, searched in zip(copies, unit, lengths.tolist(), fields, strict=True):
                number = self._numbers.get(copy.id)
                if number is None:
                    number = self._numbers[copy.id] = next(self._next)
                else:
                    self._index.remove([number])
                self._index.add(number, vector, {}, searched)
                self._kept[number] = copy, vector, length

    def search(
        self, query_embedding: Sequence[float], k: int = TOP_K, where: Mapping[str, Any] | None = None
    ) -> list[RetrievalResult]:
        """Return the k nearest chunks that pass, best first, ties in the order in which they were added.

        `where` is a filter of the engine over the chunks' metadata, `id`, `document_id` and `sequence`. Raises
        ValueError for an embedding of another length or a negative k, FilterError for an invalid filter.
        """
        k, condition = require_k(k), parse_filter(where)
        unit, _ = normalize(as_matrix([query_embedding], "the query's embedding"))
        with self._lock:
            self._require_dimension(unit.shape[1])
            found = self._index.search_vectors(unit[0], k, condition) if k else []
            return [RetrievalResult(self._chunk(number), min(max(score, -1.0), 1.0)) for number, score in found]

    def delete(self, chunk_ids: str | Iterable[str]) -> int:
        """Delete the chunks with these ids, or the one with this id; return how many there were."""
        wanted = [chunk_ids] if isinstance(chunk_ids, str) else chunk_ids
        with self._lock:
            known = [self._numbers.pop(chunk_id) for chunk_id in dict.fromkeys(wanted) if chunk_id in self._numbers]
            self._index.remove(known)
            for number in known:
                del self._kept[number]
            if not self._kept:
                # The next embeddings may come from another model.
                self._clear()
            return len(known)

    def delete_document(self, document_id: str) -> int:
        """Delete the chunks of a document; return how many there were."""
        with self._lock:
            return self.delete([chunk.id for chunk, _, _ in self._kept.values() if chunk.document_id == document_id])

    def _clear(self) -> None:
        self._index = ExactIndex()
        self._next = itertools.count(1)
        self._numbers: dict[str, int] = {}
        # Chunks without their embeddings, their normalised embeddings, and how long these were.
        self._kept: dict[int, tuple[Chunk, FloatArray, float]] = {}

    def _require_dimension(self, dimension: int) -> None:
        expected = len(next(iter(self._kept.values()))[1]) if self._kept else dimension
        if dimension != expected:
            raise ValueError(f"an embedding has {dimension} numbers, those in the store {expected}")

    def _chunk(self, number: int) -> Chunk:
        chunk, vector, length = self._kept[number]
        return replace(chunk, embedding=(vector.astype(np.float64) * length).tolist(), metadata=dict(chunk.metadata))


def fields_of(chunk: Chunk) -> dict[str, Any]:
    """Fields for filters: a chunk's metadata, its `id`, `document_id` and `sequence`."""
    return {**chunk.metadata, "id": chunk.id, "document_id": chunk.document_id, "sequence": chunk.sequence}


def require_k(k: int) -> int:
    """Return the number of results wanted, or the default. Raises ValueError when it is negative."""
    k = resolve(k)
    if k < 0:
        raise ValueError(f"k is {k}: it must be at least 0")
    return k
