"""Chunks with their embeddings, found by the cosine to that of a query."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.filters import Filter, matches, normalize_fields, parse_filter
from codomyrmex.llm.rag._documents import Chunk, RetrievalResult
from codomyrmex.llm.rag._settings import TOP_K, resolve
from codomyrmex.llm.rag._vectors import Doubles, as_matrix, normalize

# More than two float32 cosines of the same vectors can differ by, depending on where the rows stand.
_NOISE = 1e-5


class VectorStore(ABC):
    """Where chunks and their embeddings are kept. A subclass needs these three methods and nothing else."""

    @abstractmethod
    def add(self, chunks: list[Chunk]) -> None:
        """Keeps chunks, all of them or, where it raises, none; one whose id is there already takes its place."""

    @abstractmethod
    def search(self, query_embedding: list[float], k: int = 5) -> list[RetrievalResult]:
        """The k chunks nearest to a query, best first; a higher score is better. Fewer only when there are no more."""

    @abstractmethod
    def delete(self, chunk_ids: list[str]) -> int:
        """Forgets the chunks with these ids; how many there were."""


class InMemoryVectorStore(VectorStore):
    """Exact cosine similarity, one matrix product a search. Safe to share between threads.

    100,000 vectors of 384 dimensions take 150 MB, and a search some milliseconds. A vector of zeros has the score 0.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._clear()

    def __len__(self) -> int:
        return len(self._chunks)

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Keeps copies of chunks; one whose id is there already takes the place of that.

        Raises ValueError, and keeps none, when an embedding is missing, has another length than those that are there,
        or isn't finite.
        """
        added = list({chunk.id: chunk for chunk in chunks}.values())
        if not added:
            return
        missing = [chunk.id for chunk in added if chunk.embedding is None]
        if missing:
            raise ValueError(f"the chunk {missing[0]!r} has no embedding: embed chunks before they are added")
        unit, lengths = normalize(as_matrix([chunk.embedding for chunk in added], "the chunks' embeddings"))
        with self._lock:
            self._require_dimension(unit.shape[1])
            self._reserve(len(self._chunks) + len(added), unit.shape[1])
            rows = [self._place(chunk) for chunk in added]
            self._matrix[rows], self._lengths[rows] = unit, lengths

    def search(
        self, query_embedding: Sequence[float], k: int = TOP_K, where: Mapping[str, Any] | None = None
    ) -> list[RetrievalResult]:
        """The k nearest chunks that pass, best first, ties in the order in which they were added.

        `where` is a filter of the engine's over the chunks' metadata, `id`, `document_id` and `sequence`. Raises
        ValueError for an embedding of another length or a negative k, FilterError for a filter that makes no sense.
        """
        k, condition = require_k(k), parse_filter(where)
        unit, _ = normalize(as_matrix([query_embedding], "the query's embedding"))
        with self._lock:
            self._require_dimension(unit.shape[1])
            found = self._search(unit[0], k, condition) if k and self._chunks else []
            return [RetrievalResult(self._chunk(row), score) for row, score in found]

    def delete(self, chunk_ids: str | Iterable[str]) -> int:
        """Forgets the chunks with these ids, or the one with this id; how many there were."""
        wanted = [chunk_ids] if isinstance(chunk_ids, str) else chunk_ids
        with self._lock:
            known = [chunk_id for chunk_id in dict.fromkeys(wanted) if chunk_id in self._rows]
            for chunk_id in known:
                self._remove(chunk_id)
            if not self._chunks:
                # The next embeddings may be of another model.
                self._clear()
            return len(known)

    def delete_document(self, document_id: str) -> int:
        """Forgets the chunks of a document; how many there were."""
        with self._lock:
            return self.delete(list(self._of_document.get(document_id, ())))

    def _clear(self) -> None:
        self._chunks: list[Chunk] = []
        self._fields: list[Mapping[str, Any]] = []
        self._rows: dict[str, int] = {}
        self._of_document: dict[str, dict[str, None]] = {}
        self._matrix: FloatArray = np.zeros((0, 0), np.float32)
        self._lengths: Doubles = np.zeros(0)
        self._order = np.zeros(0, np.int64)
        self._added = 0

    def _require_dimension(self, dimension: int) -> None:
        if self._chunks and dimension != self._matrix.shape[1]:
            raise ValueError(f"an embedding has {dimension} numbers, those in the store {self._matrix.shape[1]}")

    def _reserve(self, count: int, dimension: int) -> None:
        """Makes room in steps that grow with what is there, so that rows are seldom copied."""
        if count <= len(self._matrix):
            return
        used, room = len(self._chunks), max(count, 2 * len(self._matrix))
        matrix, lengths, order = np.zeros((room, dimension), np.float32), np.zeros(room), np.zeros(room, np.int64)
        if used:
            matrix[:used], lengths[:used], order[:used] = self._matrix[:used], self._lengths[:used], self._order[:used]
        self._matrix, self._lengths, self._order = matrix, lengths, order

    def _place(self, chunk: Chunk) -> int:
        """The row of a chunk: that of the one it replaces, or the next."""
        # The matrix has the embedding: as a list it would take eight times the room.
        kept = replace(chunk, embedding=None, metadata=dict(chunk.metadata))
        fields = normalize_fields(fields_of(chunk))
        row = self._rows.get(chunk.id)
        if row is None:
            row = self._rows[chunk.id] = len(self._chunks)
            self._chunks.append(kept)
            self._fields.append(fields)
            self._order[row] = self._added
            self._added += 1
        else:
            self._forget_document(self._chunks[row])
            self._chunks[row], self._fields[row] = kept, fields
        self._of_document.setdefault(chunk.document_id, {})[chunk.id] = None
        return row

    def _remove(self, chunk_id: str) -> None:
        """Fills a chunk's row with the last one: nothing else moves."""
        row, last = self._rows.pop(chunk_id), len(self._chunks) - 1
        self._forget_document(self._chunks[row])
        if row != last:
            self._chunks[row], self._fields[row] = self._chunks[last], self._fields[last]
            self._rows[self._chunks[row].id] = row
            for column in (self._matrix, self._lengths, self._order):
                column[row] = column[last]
        self._chunks.pop()
        self._fields.pop()

    def _forget_document(self, chunk: Chunk) -> None:
        chunks = self._of_document[chunk.document_id]
        del chunks[chunk.id]
        if not chunks:
            del self._of_document[chunk.document_id]

    def _search(self, query: FloatArray, k: int, condition: Filter | None) -> list[tuple[int, float]]:
        """Rows and cosines of the k best that pass."""
        count, size = len(self._chunks), k
        scores = self._matrix[:count] @ query
        while True:
            ranked = self._best(scores, query, size)
            found = list(islice((hit for hit in ranked if matches(condition, self._fields[hit[0]])), k))
            if len(found) == k or size >= count:
                return found
            # Ranking all of them takes long, and few are needed unless few pass.
            size *= 16

    def _best(self, scores: FloatArray, query: FloatArray, k: int) -> list[tuple[int, float]]:
        """Rows and cosines of the k best."""
        rows, vectors = np.arange(len(scores)), self._matrix[: len(scores)]
        if k < len(scores):
            rows = np.flatnonzero(scores >= np.partition(scores, -k)[-k] - _NOISE)
            vectors = vectors[rows]
        # Row by row equal vectors have equal scores, which the product with a whole matrix doesn't promise.
        scores = np.einsum("ij,j->i", vectors, query)
        best = np.lexsort((self._order[rows], -scores))[:k]
        return list(zip(rows[best].tolist(), np.clip(scores[best], -1, 1).tolist(), strict=True))

    def _chunk(self, row: int) -> Chunk:
        chunk = self._chunks[row]
        embedding = (self._matrix[row] * self._lengths[row]).tolist()
        return replace(chunk, embedding=embedding, metadata=dict(chunk.metadata))


def fields_of(chunk: Chunk) -> dict[str, Any]:
    """What filters look at: a chunk's metadata, its `id`, `document_id` and `sequence`."""
    return {**chunk.metadata, "id": chunk.id, "document_id": chunk.document_id, "sequence": chunk.sequence}


def require_k(k: int) -> int:
    """The number of results that is asked for, or the default. Raises ValueError when it is negative."""
    k = resolve(k)
    if k < 0:
        raise ValueError(f"k is {k}: it must be at least 0")
    return k
