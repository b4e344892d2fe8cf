"""Question → chunks, by meaning and by keyword, fused by their scores.

Fusion is a weighted sum of normalised scores (Bruch et al. 2023, arXiv:2210.11934), with one weight for every corpus.
The scales do not depend on the results: a cosine is measured by its distance from the best one, in standard deviations
of cosines; a keyword score by the highest score that the question could reach, unknown words included. So a question
with few words of the library (in another language, say) is answered by meaning. nDCG@10 on the development sets: dense
alone, BM25 alone, fused by minimum and maximum (`fuse`), fused on these scales (`fuse_scaled`):

    SciFact en .661 .690 .723 .725     Cranfield en .386 .388 .425 .425     FaQuAD pt .832 .918 .931 .932
    XQuAD en .971 .972 .984 .985       XQuAD es .958 .964 .980 .981         XQuAD de .956 .940 .975 .978
    SQuAD2 en .893 .925 .942 .947      SQuAD2 es .850 .864 .905 .907        SQuAD2 pt .851 .887 .921 .925
    es → en .923 .627 .901 .938        en → es .942 .649 .905 .952          de → en .914 .489 .829 .925
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist, pstdev

from answerable.datatypes import FloatArray
from answerable.filters import Filter
from answerable.protocols import Store
from answerable.retrieval.copies import Crowd
from answerable.retrieval.fetched import Fetched, Scored
from answerable.retrieval.foreign import LEVELS, NONE, Foreign, level_foreign

CANDIDATES = 100
DENSE_WEIGHT = 0.5

REACH = 8.0
"""A cosine this many deviations below the best counts 0."""
DEVIATIONS = {"multilingual-e5-small": 0.025}
"""Deviation of a question's cosines with random passages, by model: .020 to .032 in every development set."""
NEAR = 20


@dataclass(frozen=True, slots=True)
class Candidates:
    """Results of both searches and of their fusion, best first, by the store's chunk numbers.

    `deviation` is the standard deviation of the question's cosines with random passages. The cosines of `foreign`
    passages are levelled.
    """

    dense: Scored
    keyword: Scored
    fused: Scored
    deviation: float
    foreign: Foreign = NONE


def hybrid_search(
    store: Store,
    vector: FloatArray,
    terms: Sequence[str],
    highest: float,
    where: Filter | None,
    chunks: int,
    in_other_languages: Filter | None = None,
    crowd: Crowd | None = None,
) -> Candidates:
    """Search a store of `chunks` chunks by meaning and by keyword; keyword scores are at most `highest`.

    What passes the filter `in_other_languages` is searched once more, so that it isn't crowded out; neither is what
    isn't of the `crowd`. The result is deterministic.
    """
    crowd = crowd or Crowd(Fetched(store))
    by_meaning, by_keyword = partial(store.search_vectors, vector), partial(store.search_terms, terms)
    dense = crowd.search("meaning", by_meaning, CANDIDATES, where)
    keyword = crowd.search("keyword", by_keyword, CANDIDATES, where)
    made_by = store.fingerprint
    model = made_by.model.rpartition("/")[2] if made_by else ""
    deviation = DEVIATIONS.get(model) or estimate_deviation([cosine for _, cosine in dense], chunks)
    foreign = NONE
    if in_other_languages is not None and model in LEVELS:
        others = crowd.search("foreign", by_meaning, CANDIDATES, in_other_languages)
        foreign = level_foreign(dense, others, LEVELS[model])
        dense = foreign.levelled(list(dict((*dense, *others)).items()))[:CANDIDATES]
    fused = fuse_scaled(dense, keyword, deviation, highest, foreign)
    return Candidates(dense, keyword, fused, deviation, foreign)


def asked_again(fetched: Fetched, vector: FloatArray, found: Candidates, highest: float) -> Candidates:
    """Rank the candidates again by another vector, close to the question's.

    A new search of all chunks would find hardly any others: nDCG@10 is the same to .0002.
    """
    numbers = dict.fromkeys(number for number, _ in (*found.dense, *found.keyword))
    dense = found.foreign.levelled(fetched.cosines(vector, list(numbers)))[:CANDIDATES]
    fused = fuse_scaled(dense, found.keyword, found.deviation, highest, found.foreign)
    return replace(found, dense=dense, fused=fused)


def fuse_scaled(dense: Scored, keyword: Scored, deviation: float, highest: float, foreign: Foreign = NONE) -> Scored:
    """Fuse both lists by weighted score on absolute scales, best first, ties by number.

    `deviation` is the standard deviation of the library's cosines (0: only the highest cosine scores), `highest` the
    upper bound of keyword scores. A chunk missing from `dense` gets the lowest cosine there; a chunk missing from
    `keyword` scores 0, or if it is `foreign`, as if it had some of the question's words.
    """
    closeness = {number: 1 - (dense[0][1] - cosine) / (REACH * deviation or 1.0) for number, cosine in dense}
    farthest = min(closeness.values(), default=0.0)
    scores = dict.fromkeys((number for number, _ in keyword), DENSE_WEIGHT * max(farthest, 0.0))
    scores.update((number, DENSE_WEIGHT * max(value, 0.0)) for number, value in closeness.items())
    own = {number: min(score / highest, 1.0) for number, score in keyword}
    lent = foreign.shares(dense, closeness, own)
    for number in own.keys() | lent.keys():
        scores[number] += (1 - DENSE_WEIGHT) * max(own.get(number, 0.0), lent.get(number, 0.0))
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def estimate_deviation(cosines: Sequence[float], chunks: int) -> float:
    """Estimate the deviation of a question's cosines with all `chunks` chunks from the highest of them, best first.

    If the list has all chunks, compute it. Otherwise fit a normal distribution to the distance between the 20th cosine
    and the last; the highest ones are ignored, since those chunks may answer the question.
    """
    if chunks <= len(cosines) or len(cosines) <= NEAR:
        return pstdev(cosines) if cosines else 0.0
    quantile = NormalDist().inv_cdf
    last = len(cosines)
    expected = quantile((last - 0.5) / chunks) - quantile((NEAR - 0.5) / chunks)
    return (cosines[NEAR - 1] - cosines[last - 1]) / expected


def fuse(dense: Scored, keyword: Scored, dense_weight: float = DENSE_WEIGHT) -> Scored:
    """Fuse both lists by weighted sum of min-max normalised scores, for retrievers with unknown scales.

    Best first, ties by number; a chunk missing from one list counts 0 there.
    """
    scores: dict[int, float] = {}
    # If fewer chunks than CANDIDATES have any of the words, the others score 0, so that the last one counts too.
    floor = 0.0 if len(keyword) < CANDIDATES else math.inf
    for weight, scored, lowest in ((dense_weight, dense, math.inf), (1 - dense_weight, keyword, floor)):
        for number, score in _normalize(scored, lowest):
            scores[number] = scores.get(number, 0.0) + weight * score
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def _normalize(scored: Scored, lowest: float) -> list[tuple[int, float]]:
    """Scale scores to 0 … 1, where 0 is `lowest` or the last score, whichever is lower."""
    if not scored:
        return []
    highest, lowest = scored[0][1], min(scored[-1][1], lowest)
    spread = highest - lowest
    return [(number, (score - lowest) / spread if spread > 0 else 1.0) for number, score in scored]
