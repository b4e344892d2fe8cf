"""Question → chunks: by meaning and by keyword, the best of both fused by their scores.

Fusion is a weighted sum of min-max normalised scores (Bruch et al. 2023, arXiv:2210.11934), one weight for every
corpus; the minimum of keyword scores is 0 where the candidates reach it. nDCG@10 on the development sets, dense alone,
BM25 alone, then fused with a dense weight of .5 (.3, .7):

    FaQuAD pt .831 .918 .931 (.926 .907)     XQuAD es .958 .964 .980 (.974 .979)     XQuAD en .970 .972 .983 (.979 .984)
    SQuAD2 en .894 .925 .943 (.939 .942)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from answerable.datatypes import FloatArray
from answerable.filters import Filter
from answerable.protocols import Store

CANDIDATES = 100
DENSE_WEIGHT = 0.5

Scored = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the two retrievers found, best first, and both fused. Numbers are the store's."""

    dense: Scored
    keyword: Scored
    fused: Scored


def hybrid_search(store: Store, vector: FloatArray, terms: Sequence[str], where: Filter | None) -> Candidates:
    """The candidates for a question; the same question on the same library gives the same."""
    dense = store.search_vectors(vector, CANDIDATES, where)
    keyword = store.search_terms(terms, CANDIDATES, where)
    return Candidates(dense, keyword, fuse(dense, keyword))


def fuse(dense: Scored, keyword: Scored, dense_weight: float = DENSE_WEIGHT) -> Scored:
    """Both lists by weighted normalised score, best first, ties by number; a chunk missing from one counts 0 there."""
    scores: dict[int, float] = {}
    # Where fewer chunks have any of the words than there is room for, the others score 0: of two that have a rare word
    # the second isn't worth nothing.
    floor = 0.0 if len(keyword) < CANDIDATES else math.inf
    for weight, scored, lowest in ((dense_weight, dense, math.inf), (1 - dense_weight, keyword, floor)):
        for number, score in _normalize(scored, lowest):
            scores[number] = scores.get(number, 0.0) + weight * score
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def _normalize(scored: Scored, lowest: float) -> list[tuple[int, float]]:
    """Scores from 0, which stands for `lowest` or the last one's, whichever is lower, to 1."""
    if not scored:
        return []
    highest, lowest = scored[0][1], min(scored[-1][1], lowest)
    spread = highest - lowest
    return [(number, (score - lowest) / spread if spread > 0 else 1.0) for number, score in scored]
