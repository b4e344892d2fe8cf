"""Vectors with metadata in memory, searched by cosine: with FAISS where it is installed, with numpy otherwise.

Both give the same results: the index proposes rows, the scores and their order are computed here.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray
from rag._indexes import VectorIndex, best_index

__all__ = ["InMemoryFAISS", "l2_normalize"]


class _Searchable(NamedTuple):
    vectors: FloatArray
    metadatas: list[dict[str, Any]]
    searcher: VectorIndex


class InMemoryFAISS:
    """Vectors of `dim` dimensions under ids. Not to be changed by several threads at once.

    Raises ValueError for a dimension below 1.
    """

    _index_type: ClassVar[type[VectorIndex]] = best_index()

    def __init__(self, dim: int) -> None:
        if dim < 1:
            raise ValueError(f"dim is {dim}: a vector has at least 1 dimension")
        self.dim = dim
        self._entries: dict[str, tuple[FloatArray, dict[str, Any]]] = {}
        self._searchable: _Searchable | None = None

    def add(self, ids: list[str], embeddings: np.ndarray, metadatas: list[dict[str, Any]]) -> None:
        """Adds vectors, shape (len(ids), dim), all of them or none; an id that is there already is replaced.

        Raises ValueError for another shape, for numbers that aren't finite and for lists of different lengths.
        """
        vectors = self._normalized(embeddings)
        if not len(ids) == len(vectors) == len(metadatas):
            raise ValueError(
                f"There are {len(ids)} ids, {len(vectors)} embeddings and {len(metadatas)} metadatas: "
                "give one of each for every vector"
            )
        given = zip(ids, vectors, metadatas, strict=True)
        self._entries.update({id: (vector, deepcopy(metadata)) for id, vector, metadata in given})
        self._searchable = None

    def search(self, query_embeddings: np.ndarray, top_k: int = 5) -> tuple[np.ndarray, list[list[dict[str, Any]]]]:
        """Cosines, shape (queries, min(top_k, size)), best first, and the metadata of each; ties by insertion.

        The metadata are copies. Raises ValueError for queries that aren't of shape (queries, dim), for numbers that
        aren't finite and for a negative `top_k`.
        """
        if top_k < 0:
            raise ValueError(f"top_k is {top_k}: it must be at least 0")
        queries = self._normalized(query_embeddings)
        k = min(top_k, self.size())
        scores = np.zeros((len(queries), k), np.float32)
        if k == 0 or not len(queries):
            return scores, [[] for _ in queries]
        vectors, metadatas, index = self._ready()
        found = []
        for number, rows in enumerate(index.candidates(queries, k)):
            # In double precision and row by row: equal vectors get equal scores wherever they stand.
            cosines = (vectors[rows] * queries[number].astype(np.float64)).sum(axis=1).astype(np.float32)
            best = np.lexsort((rows, -cosines))[:k]
            scores[number] = cosines[best]
            found.append([deepcopy(metadatas[row]) for row in rows[best]])
        return scores, found

    def size(self) -> int:
        """How many vectors there are."""
        return len(self._entries)

    def _normalized(self, vectors: np.ndarray) -> FloatArray:
        given = np.asarray(vectors)
        if given.ndim != 2 or given.shape[1] != self.dim:
            raise ValueError(f"The embeddings have the shape {given.shape}: this store takes (vectors, {self.dim})")
        if given.dtype.kind not in "fiu" or not np.isfinite(given).all():
            raise ValueError("The embeddings hold something that isn't a finite number: embed those texts again")
        return l2_normalize(given)

    def _ready(self) -> _Searchable:
        """The index is made when it is needed, so that vectors may come one by one."""
        if self._searchable is None:
            vectors = np.stack([vector for vector, _ in self._entries.values()])
            metadatas = [metadata for _, metadata in self._entries.values()]
            self._searchable = _Searchable(vectors, metadatas, self._index_type(vectors))
        return self._searchable


def l2_normalize(vectors: np.ndarray) -> np.ndarray:
    """The vectors along the last axis, each of length 1: same shape, float32; zero vectors stay zero."""
    given: npt.NDArray[np.float64] = np.asarray(vectors, np.float64)
    # Divided by its largest part first, no square overflows or vanishes.
    largest = np.max(np.abs(given), axis=-1, keepdims=True, initial=0.0)
    scaled = given / np.where(largest > 0, largest, 1.0)
    lengths = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return (scaled / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
