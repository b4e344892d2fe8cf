"""Exact keyword search in memory: BM25 (see `text.bm25`) over the terms of chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from answerable.text.bm25 import highest_score, rarity, term_weights

Scored = list[tuple[int, float]]
Numbers: TypeAlias = "npt.NDArray[np.int64]"
Scores: TypeAlias = "npt.NDArray[np.floating[Any]]"


class KeywordIndex:
    """Terms of chunks, by number. Ties go to the lower number."""

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
        """Return an upper bound of the score of a question. Each word is given as the set of its possible terms."""
        return highest_score(rarity(len(self), max(map(self.frequency, word), default=0)) for word in set(words))

    def search(
        self,
        terms: Sequence[str],
        k: int,
        passes: Callable[[int], bool] | None = None,
        rarities: Mapping[str, float] | None = None,
    ) -> Scored:
        """Return number and score of the k best chunks among those that pass, best first.

        `rarities` replace those of the terms in this index.
        """
        known = [term for term in dict.fromkeys(terms) if term in self._postings]
        if not known:
            return []
        if rarities is None:
            rarities = {term: rarity(len(self), self.frequency(term)) for term in known}
        postings = [(*self._array(term), rarities[term]) for term in known]
        numbers = np.concatenate([each for each, _, _ in postings])
        added = np.concatenate([rare * weights for _, weights, rare in postings])
        # Numbers only grow while chunks come and go: count from the lowest.
        lowest = int(numbers.min())
        scores = np.asarray(np.bincount(numbers - lowest, added), np.float64)
        found = np.flatnonzero(scores)
        ranked = best(found + lowest, scores[found], k if passes is None else len(found))
        return ranked if passes is None else list(islice((pair for pair in ranked if passes(pair[0])), k))

    def _array(self, term: str) -> tuple[Numbers, npt.NDArray[np.float64]]:
        """Return the chunks that contain a term, and its weight in each; cached until the index changes."""
        if term not in self._arrays:
            postings = self._postings[term]
            numbers = np.fromiter(postings, np.int64, len(postings))
            self._arrays[term] = numbers, np.fromiter(postings.values(), np.float64, len(postings))
        return self._arrays[term]


def best(numbers: Numbers, scores: Scores, k: int) -> Scored:
    """Return the k highest scores with their chunk numbers, best first, ties by number."""
    if 0 < k < len(scores):
        near = scores >= np.partition(scores, -k)[-k]
        numbers, scores = numbers[near], scores[near]
    order = np.lexsort((numbers, -scores))[:k]
    return list(zip(numbers[order].tolist(), scores[order].tolist(), strict=True))
