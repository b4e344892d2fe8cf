"""Exact keyword search in memory: BM25 (see `analysis.bm25`) over the terms of chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from answerable.analysis.bm25 import rarity, term_weights

Scored = list[tuple[int, float]]


class KeywordIndex:
    """The terms of chunks, which are named by numbers. Ties go to the lower number."""

    def __init__(self) -> None:
        self._postings: dict[str, dict[int, float]] = {}
        self._terms: dict[int, tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self._terms)

    def add(self, number: int, terms: Mapping[str, int]) -> None:
        """Makes a chunk findable; `terms` are counts (see `analysis.terms`)."""
        self._terms[number] = tuple(terms)
        for term, weight in term_weights(terms).items():
            self._postings.setdefault(term, {})[number] = weight

    def remove(self, number: int) -> None:
        """Forgets a chunk."""
        for term in self._terms.pop(number):
            self._postings[term].pop(number)
            if not self._postings[term]:
                del self._postings[term]

    def frequency(self, term: str) -> int:
        """In how many chunks a term stands."""
        return len(self._postings.get(term, ()))

    def search(self, terms: Sequence[str], k: int, passes: Callable[[int], bool] | None = None) -> Scored:
        """The k highest scores among the chunks that pass, best first."""
        scores: dict[int, float] = {}
        for term in dict.fromkeys(terms):
            postings = self._postings.get(term)
            if postings:
                weight = rarity(len(self), len(postings))
                for number, value in postings.items():
                    scores[number] = scores.get(number, 0.0) + weight * value
        return best((pair for pair in scores.items() if passes is None or passes(pair[0])), k)


def best(scored: Iterable[tuple[int, float]], k: int) -> Scored:
    """The k best, ties by number."""
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]
