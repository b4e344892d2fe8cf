"""Exact search over vectors and terms in memory: the in-memory store, and the way out when the index is held."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.filters import Filter, matches
from answerable.stores.memory.keywords import KeywordIndex, Numbers, Scored, best


class ExactIndex:
    """Chunks by number: their vectors, terms and fields. Ties go to the lower number."""

    def __init__(self) -> None:
        self._vectors: dict[int, FloatArray] = {}
        self._fields: dict[int, Mapping[str, Any]] = {}
        self._keywords = KeywordIndex()
        self._matrix: tuple[Numbers, FloatArray] | None = None
        self._passed: tuple[str, Numbers] | None = None

    def __len__(self) -> int:
        return len(self._vectors)

    def add(self, number: int, vector: FloatArray, terms: Mapping[str, int], fields: Mapping[str, Any]) -> None:
        """Makes a chunk findable."""
        self._vectors[number] = vector
        self._fields[number] = fields
        self._keywords.add(number, terms)
        self._matrix = self._passed = None

    def remove(self, numbers: Iterable[int]) -> None:
        """Forgets chunks; those it doesn't know are ignored."""
        for number in self._vectors.keys() & numbers:
            del self._vectors[number], self._fields[number]
            self._keywords.remove(number)
        self._matrix = self._passed = None

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term stands."""
        return {term: self._keywords.frequency(term) for term in terms}

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """The k highest cosines, best first."""
        numbers, matrix = self._as_matrix()
        if where is not None:
            rows = np.flatnonzero(np.isin(numbers, self._passing(where)))
            numbers, matrix = numbers[rows], matrix[rows]
        # A product by BLAS shares out so little work that its threads mostly wait for each other on a busy machine.
        return best(numbers, np.einsum("ij,j->i", matrix, vector), k) if len(numbers) else []

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """The cosines of these chunks, best first."""
        known = np.array([number for number in numbers if number in self._vectors], np.int64)
        matrix = np.stack([self._vectors[number] for number in known.tolist()]) if len(known) else None
        return best(known, np.einsum("ij,j->i", matrix, vector), len(known)) if matrix is not None else []

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> Scored:
        """The k highest BM25 scores, best first."""
        passes = None if where is None else set(self._passing(where).tolist()).__contains__
        return self._keywords.search(terms, k, passes)

    def _passing(self, where: Filter) -> Numbers:
        """The numbers of the chunks that pass, kept until they change: one question searches several times."""
        # Filters that ask for True and for 1 are equal to Python.
        spelt = repr(where)
        if self._passed is None or self._passed[0] != spelt:
            passing = [number for number, fields in self._fields.items() if matches(where, fields)]
            self._passed = spelt, np.array(passing, np.int64)
        return self._passed[1]

    def _as_matrix(self) -> tuple[Numbers, FloatArray]:
        if self._matrix is None:
            numbers = np.fromiter(self._vectors, np.int64, len(self._vectors))
            rows = list(self._vectors.values())
            self._matrix = numbers, np.stack(rows) if rows else np.zeros((0, 0), np.float32)
        return self._matrix
