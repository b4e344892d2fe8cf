"""Exact search over vectors and terms in memory: for the store in memory, and for folders without an index."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.filters import Filter, OneOf
from answerable.stores.memory.fields import FieldIndex
from answerable.stores.memory.keywords import KeywordIndex, Numbers, Scored, best
from answerable.text.places import TEXT_HASH


class ExactIndex:
    """Vectors, terms and fields of chunks, by number. Ties go to the lower number."""

    def __init__(self) -> None:
        self._vectors: dict[int, FloatArray] = {}
        self._fields: dict[int, Mapping[str, Any]] = {}
        self._by_field = FieldIndex()
        self._keywords = KeywordIndex()
        self._matrix: tuple[Numbers, FloatArray] | None = None
        self._passed: tuple[str, Numbers] | None = None

    def __len__(self) -> int:
        return len(self._vectors)

    def add(self, number: int, vector: FloatArray, terms: Mapping[str, int], fields: Mapping[str, Any]) -> None:
        """Add a chunk."""
        self._vectors[number] = vector
        if number in self._fields:
            self._by_field.remove(number, self._fields[number])
        self._fields[number] = fields
        self._by_field.add(number, fields)
        self._keywords.add(number, terms)
        self._matrix = self._passed = None

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove chunks; ignore unknown numbers."""
        for number in self._vectors.keys() & numbers:
            self._by_field.remove(number, self._fields[number])
            del self._vectors[number], self._fields[number]
            self._keywords.remove(number)
        self._matrix = self._passed = None

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term."""
        return {term: self._keywords.frequency(term) for term in terms}

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """Return number and cosine of the k chunks with the highest cosine, best first."""
        numbers, matrix = self._as_matrix()
        if where is not None:
            rows = np.flatnonzero(np.isin(numbers, self._passing(where)))
            numbers, matrix = numbers[rows], matrix[rows]
        # BLAS would split this little work among threads, which wait for each other on a busy machine.
        return best(numbers, np.einsum("ij,j->i", matrix, vector), k) if len(numbers) else []

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """Return number and cosine of each of these chunks, best first."""
        known = np.array([number for number in numbers if number in self._vectors], np.int64)
        matrix = np.stack([self._vectors[number] for number in known.tolist()]) if len(known) else None
        return best(known, np.einsum("ij,j->i", matrix, vector), len(known)) if matrix is not None else []

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        """Return number and score of the k chunks with the highest BM25 score, best first."""
        passes = None if where is None else set(self._passing(where).tolist()).__contains__
        return self._keywords.search(terms, k, passes, rarities)

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        """Return how many chunks that pass `where` have each of these texts, by its hash (see `text.places`)."""
        having = {each: self._by_field.passing(OneOf(TEXT_HASH, (each,))) for each in hashes}
        if where is None:
            return {each: len(numbers) for each, numbers in having.items()}
        passing = self._passing(where)
        return {each: int(np.isin(list(numbers), passing).sum()) for each, numbers in having.items()}

    def _passing(self, where: Filter) -> Numbers:
        """Return the numbers of the chunks that pass a filter; cached, since one question searches several times."""
        # Python takes filters on True and on 1 for equal.
        spelt = repr(where)
        if self._passed is None or self._passed[0] != spelt:
            self._passed = spelt, np.array(sorted(self._by_field.passing(where)), np.int64)
        return self._passed[1]

    def _as_matrix(self) -> tuple[Numbers, FloatArray]:
        if self._matrix is None:
            numbers = np.fromiter(self._vectors, np.int64, len(self._vectors))
            rows = list(self._vectors.values())
            self._matrix = numbers, np.stack(rows) if rows else np.zeros((0, 0), np.float32)
        return self._matrix
