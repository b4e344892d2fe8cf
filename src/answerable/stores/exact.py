"""Exact search over vectors and terms in memory, for the store in memory and for folders without an index."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray
from answerable.filters import AllOf, AnyOf, Between, Exists, Filter, Not, OneOf, comparable, field_values
from answerable.text.indexed_text import TEXT_HASH
from answerable.text.terms import highest_score, rarity, term_weights


class ExactIndex:
    """Vectors, terms and fields of chunks, by chunk number. Of equal scores, the lower number comes first."""

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
        # Not `@`: BLAS would split this little work among threads, which wait for each other on a busy machine.
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
        """Return, by hash of a text, how many chunks that pass `where` have this text (see `text.indexed_text`)."""
        having = {each: self._by_field.passing(OneOf(TEXT_HASH, (each,))) for each in hashes}
        if where is None:
            return {each: len(numbers) for each, numbers in having.items()}
        passing = self._passing(where)
        return {each: int(np.isin(list(numbers), passing).sum()) for each, numbers in having.items()}

    def _passing(self, where: Filter) -> Numbers:
        """Return the numbers of the chunks that pass a filter; cached, since one question searches several times."""
        # The `repr`, since Python treats filters on True and on 1 as equal.
        key = repr(where)
        if self._passed is None or self._passed[0] != key:
            self._passed = key, np.array(sorted(self._by_field.passing(where)), np.int64)
        return self._passed[1]

    def _as_matrix(self) -> tuple[Numbers, FloatArray]:
        if self._matrix is None:
            numbers = np.fromiter(self._vectors, np.int64, len(self._vectors))
            rows = list(self._vectors.values())
            self._matrix = numbers, np.stack(rows) if rows else np.zeros((0, 0), np.float32)
        return self._matrix


# Whether a value is a bool, and the value: in Python True == 1, but a filter distinguishes them.
_Key = tuple[bool, Any]


class FieldIndex:
    """Chunk numbers by field and value. Filters give the same result as `filters.matches`."""

    def __init__(self) -> None:
        self._all: set[int] = set()
        self._fields: dict[str, dict[_Key, set[int]]] = {}
        self._sorted: dict[tuple[str, bool], list[tuple[Any, set[int]]]] = {}

    def add(self, number: int, fields: Mapping[str, Any]) -> None:
        """Add a chunk."""
        self._all.add(number)
        for field, key in _keys(fields):
            self._fields.setdefault(field, {}).setdefault(key, set()).add(number)
        self._sorted.clear()

    def remove(self, number: int, fields: Mapping[str, Any]) -> None:
        """Remove a chunk that was added with these fields."""
        self._all.discard(number)
        for field, key in _keys(fields):
            self._fields[field][key].remove(number)
            if not self._fields[field][key]:
                del self._fields[field][key]
        self._sorted.clear()

    def passing(self, filter: Filter) -> Collection[int]:
        """Return the numbers of the chunks that pass a filter."""
        match filter:
            case OneOf(field, values):
                by_value = self._fields.get(field, {})
                return _union(by_value.get(_key(value), ()) for value in values)
            case Exists(field):
                return _union(self._fields.get(field, {}).values())
            case Between():
                return self._between(filter)
            case AnyOf(filters):
                return _union(map(self.passing, filters))
            case AllOf(filters):
                passed: Collection[int] = self._all
                for inner in filters:
                    allowed = self.passing(inner)
                    if allowed is not self._all:
                        passed = self._all.intersection(passed, allowed)
                return passed
            case Not(inner):
                excluded = self.passing(inner)
                return self._all.difference(excluded) if excluded else self._all

    def _between(self, range: Between) -> Collection[int]:
        bounds = [bound for bound in (range.gt, range.gte, range.lt, range.lte) if bound is not None]
        are_moments = {isinstance(bound, datetime) for bound in bounds}
        if len(are_moments) != 1:
            return set() if bounds else self.passing(Exists(range.field))
        values = self._comparable(range.field, are_moments.pop())
        first, last = 0, len(values)
        if range.gt is not None or range.gte is not None:
            cut = bisect_right if range.gt is not None else bisect_left
            first = cut(values, range.gt if range.gt is not None else range.gte, key=lambda each: each[0])
        if range.lt is not None or range.lte is not None:
            cut = bisect_left if range.lt is not None else bisect_right
            last = cut(values, range.lt if range.lt is not None else range.lte, key=lambda each: each[0])
        return _union(numbers for _, numbers in values[first:last])

    def _comparable(self, field: str, are_moments: bool) -> list[tuple[Any, set[int]]]:
        """Return a field's numeric values, or its dates if `are_moments`, in ascending order, each with its chunks."""
        if (field, are_moments) not in self._sorted:
            found = ((comparable(value), numbers) for (_, value), numbers in self._fields.get(field, {}).items())
            wanted = [each for each in found if each[0] is not None and isinstance(each[0], datetime) == are_moments]
            self._sorted[field, are_moments] = sorted(wanted, key=lambda each: each[0])
        return self._sorted[field, are_moments]


def _keys(fields: Mapping[str, Any]) -> set[tuple[str, _Key]]:
    return {(field, _key(value)) for field in fields for value in field_values(fields, field)}


def _key(value: Any) -> _Key:
    return type(value) is bool, value


def _union(found: Iterable[Collection[int]]) -> set[int]:
    return set(chain.from_iterable(found))


Scored = list[tuple[int, float]]
Numbers: TypeAlias = "npt.NDArray[np.int64]"
Scores: TypeAlias = "npt.NDArray[np.floating[Any]]"


class KeywordIndex:
    """Terms of chunks, by chunk number. Of equal scores, the lower number comes first."""

    def __init__(self) -> None:
        self._postings: dict[str, dict[int, float]] = {}
        self._terms: dict[int, tuple[str, ...]] = {}
        self._arrays: dict[str, tuple[Numbers, npt.NDArray[np.float64]]] = {}

    def __len__(self) -> int:
        return len(self._terms)

    def add(self, number: int, terms: Mapping[str, int]) -> None:
        """Add a chunk; `terms` are counts (see `text.terms`)."""
        self._terms[number] = tuple(terms)
        for term, weight in term_weights(terms).items():
            self._postings.setdefault(term, {})[number] = weight
            self._arrays.pop(term, None)

    def remove(self, number: int) -> None:
        """Remove a chunk."""
        for term in self._terms.pop(number):
            self._arrays.pop(term, None)
            self._postings[term].pop(number)
            if not self._postings[term]:
                del self._postings[term]

    def frequency(self, term: str) -> int:
        """Return the number of chunks that contain a term."""
        return len(self._postings.get(term, ()))

    def highest(self, words: Iterable[frozenset[str]]) -> float:
        """Return an upper bound of a question's score. `words` has, for each word, the set of its possible terms."""
        return highest_score(rarity(len(self), max(map(self.frequency, word), default=0)) for word in set(words))

    def search(
        self,
        terms: Sequence[str],
        k: int,
        passes: Callable[[int], bool] | None = None,
        rarities: Mapping[str, float] | None = None,
    ) -> Scored:
        """Return number and score of the k best chunks among those that pass, best first.

        `rarities` replace the inverse document frequencies of this index.
        """
        known = [term for term in dict.fromkeys(terms) if term in self._postings]
        if not known:
            return []
        if rarities is None:
            rarities = {term: rarity(len(self), self.frequency(term)) for term in known}
        postings = [(*self._array(term), rarities[term]) for term in known]
        numbers = np.concatenate([each for each, _, _ in postings])
        added = np.concatenate([rare * weights for _, weights, rare in postings])
        # Chunk numbers only grow while chunks are added and removed: subtract the lowest to keep the array small.
        lowest = int(numbers.min())
        scores = np.asarray(np.bincount(numbers - lowest, added), np.float64)
        found = np.flatnonzero(scores)
        ranked = best(found + lowest, scores[found], k if passes is None else len(found))
        return ranked if passes is None else list(islice((pair for pair in ranked if passes(pair[0])), k))

    def _array(self, term: str) -> tuple[Numbers, npt.NDArray[np.float64]]:
        """Return the chunks that contain a term and the term's weight in each chunk; cached until the index changes."""
        if term not in self._arrays:
            postings = self._postings[term]
            numbers = np.fromiter(postings, np.int64, len(postings))
            self._arrays[term] = numbers, np.fromiter(postings.values(), np.float64, len(postings))
        return self._arrays[term]


def best(numbers: Numbers, scores: Scores, k: int) -> Scored:
    """Return the k highest scores with their chunk numbers, best first; equal scores in the order of the numbers."""
    if 0 < k < len(scores):
        near = scores >= np.partition(scores, -k)[-k]
        numbers, scores = numbers[near], scores[near]
    order = np.lexsort((numbers, -scores))[:k]
    return list(zip(numbers[order].tolist(), scores[order].tolist(), strict=True))
