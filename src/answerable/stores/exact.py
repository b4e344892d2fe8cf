"""Exact search over vectors and terms in memory: the in-memory store, and the way out when the index is held."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray
from answerable.filters import Filter, matches
from answerable.stores.keywords import KeywordIndex, Scored, best


class ExactIndex:
    """Chunks by number: their vectors, terms and fields. Ties go to the lower number."""

    def __init__(self) -> None:
        self._vectors: dict[int, FloatArray] = {}
        self._fields: dict[int, Mapping[str, Any]] = {}
        self._keywords = KeywordIndex()
        self._matrix: tuple[npt.NDArray[np.int64], FloatArray] | None = None

    def __len__(self) -> int:
        return len(self._vectors)

    def add(self, number: int, vector: FloatArray, terms: Mapping[str, int], fields: Mapping[str, Any]) -> None:
        """Makes a chunk findable."""
        self._vectors[number] = vector
        self._fields[number] = fields
        self._keywords.add(number, terms)
        self._matrix = None

    def remove(self, numbers: Iterable[int]) -> None:
        """Forgets chunks."""
        for number in numbers:
            del self._vectors[number], self._fields[number]
            self._keywords.remove(number)
        self._matrix = None

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term stands."""
        return {term: self._keywords.frequency(term) for term in terms}

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """The k highest cosines, best first."""
        numbers, matrix = self._as_matrix()
        if where is not None:
            passing = [row for row, number in enumerate(numbers.tolist()) if matches(where, self._fields[number])]
            numbers, matrix = numbers[passing], matrix[passing]
        if not len(numbers):
            return []
        scores = matrix @ vector
        return best(zip(numbers.tolist(), scores.tolist(), strict=True), k)

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> Scored:
        """The k highest BM25 scores, best first."""
        if where is None:
            return self._keywords.search(terms, k)
        return self._keywords.search(terms, k, lambda number: matches(where, self._fields[number]))

    def _as_matrix(self) -> tuple[npt.NDArray[np.int64], FloatArray]:
        if self._matrix is None:
            numbers = np.fromiter(self._vectors, np.int64, len(self._vectors))
            rows = list(self._vectors.values())
            self._matrix = numbers, np.stack(rows) if rows else np.zeros((0, 0), np.float32)
        return self._matrix
