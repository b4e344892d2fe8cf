"""Search for the chunks of a question by meaning and by keyword, and fuse the scores.

Fusion is a weighted sum of normalised scores (Bruch et al. 2023, arXiv:2210.11934), with the same weight for every
corpus. The scales do not depend on the results. A cosine is scaled by its distance from the best cosine, in standard
deviations of cosines; a keyword score by the highest score that the question could reach, unknown words included. So a
question that shares few words with the library (for example, in another language) is answered by meaning. nDCG@10 on
the development sets: dense alone, BM25 alone, fused by minimum and maximum (`fuse`), fused on these scales:

    SciFact en .661 .690 .723 .725     Cranfield en .386 .388 .425 .425     FaQuAD pt .832 .918 .931 .932
    XQuAD en .971 .972 .984 .985       XQuAD es .958 .964 .980 .981         XQuAD de .956 .940 .975 .978
    SQuAD2 en .893 .925 .942 .947      SQuAD2 es .850 .864 .905 .907        SQuAD2 pt .851 .887 .921 .925
    es → en .923 .627 .901 .938        en → es .942 .649 .905 .952          de → en .914 .489 .829 .925

In a library of several languages, a question is closer to passages in its own language, and shares words only with
them. Without cross-lingual calibration they would displace a passage in another language that answers the question.
docs/quality.md has the sets and figures.

A licence or a footer may occur often enough to leave no room for other results. If most candidates are copies,
both searches are repeated without the copied texts, and one chunk of each is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from statistics import NormalDist, fmean, pstdev
from typing import TypeAlias

from answerable.datatypes import Chunk, Document, FloatArray, RetrievalResult
from answerable.filters import AllOf, Filter, OneOf
from answerable.protocols import Fingerprint, IndexedChunk, Store
from answerable.text.indexed_text import stored_hash, text_hash, without
from answerable.text.word_lists import read_toml

Scored: TypeAlias = "Sequence[tuple[int, float]]"
"""Numbers of chunks with their scores, best first."""

Stored: TypeAlias = "Mapping[int, tuple[IndexedChunk, Document]]"


def best_first(scored: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return scored chunks, best first, ties by number."""
    # Sorting twice, without a call of Python for each chunk, takes half of the time.
    return sorted(sorted(scored, key=itemgetter(0)), key=itemgetter(1), reverse=True)


class Fetched:
    """Caches a search's chunks and their documents. `is_whole` is false once the store lacks a requested chunk."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.is_whole = True
        self._known: dict[int, tuple[IndexedChunk, Document]] = {}
        self._by_id: dict[str, IndexedChunk] = {}
        self._texts: dict[str, str] = {}

    def fetch(self, numbers: Sequence[int]) -> Stored:
        """Return these chunks in this order; leave out chunks that the store no longer has."""
        missing = [number for number in numbers if number not in self._known]
        if missing:
            found = self.store.fetch(missing)
            self._known |= found
            self._by_id |= {indexed.chunk.id: indexed for indexed, _ in found.values()}
            self.is_whole = self.is_whole and len(found) == len(missing)
        return {number: self._known[number] for number in numbers if number in self._known}

    def text_of(self, chunk: Chunk) -> str:
        """Return the hash of a fetched chunk's text (see `text.indexed_text`)."""
        if chunk.id not in self._texts:
            self._texts[chunk.id] = stored_hash(self._by_id[chunk.id])
        return self._texts[chunk.id]

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Sequence[tuple[int, float]]:
        """Return the cosines of these chunks, best first; leave out chunks that the store no longer has."""
        found = self.store.cosines(vector, numbers)
        self.is_whole = self.is_whole and len(found) == len(numbers)
        return found


Search: TypeAlias = "Callable[[int, Filter | None], Scored]"
"""A search of a store: maximum number of results and filter → scored chunks, best first."""

OVERLAP = 0.5
"""Two chunks that share more than this part of the shorter one are duplicates. A round number, not measured."""


class NearDuplicates:
    """The texts that a repeated search leaves out, and the one chunk of each that is kept."""

    def __init__(self, fetched: Fetched) -> None:
        self._fetched = fetched
        self._texts: set[str] = set()
        self._kept: set[int] = set()
        self._found: dict[str, dict[int, float]] = {}

    def search(self, name: str, search: Search, k: int, where: Filter | None) -> Scored:
        """Return the k best chunks, best first; `name` identifies the search among those of one question."""
        if not self._texts:
            found = search(k, where)
            self._found[name] = dict(found)
            return found
        stays = {number: score for number, score in self._found[name].items() if number in self._kept}
        self._found[name] = {**stays, **dict(search(k, without(self._texts, where)))}
        return best_first(self._found[name].items())[:k]

    def found_among(self, best: Sequence[int], *samples: Sequence[int]) -> bool:
        """Return whether most of the best chunks, or of a sample of others, are copies of texts not yet left out.

        These texts are left out from now on; the first chunk of each is kept.
        """
        lists = best, *samples
        # If more than half of a sample differ, don't fetch its rest. The best chunks are fetched in any case.
        some = best, *(numbers[: len(numbers) // 2 + 1] for numbers in samples)
        texts = self._texts_of(chain(*some))
        if all(len({texts[number] for number in numbers if number in texts}) == len(numbers) for numbers in some):
            return False
        texts = self._texts_of(chain(*lists))
        new: dict[str, int] = {}
        for numbers in lists:
            found = [texts[number] for number in numbers if number in texts]
            if 2 * len(set(found)) <= len(found):
                # If a text that was left out is found again, its hash isn't in the store.
                repeated = {text for text in found if found.count(text) > 1} - self._texts
                new |= {
                    text: next(each for each in numbers if texts.get(each) == text) for text in repeated - new.keys()
                }
        self._texts |= new.keys()
        self._kept |= set(new.values())
        return bool(new)

    def _texts_of(self, numbers: Iterable[int]) -> dict[int, str]:
        stored = self._fetched.fetch(list(dict.fromkeys(numbers)))
        return {number: self._fetched.text_of(indexed.chunk) for number, (indexed, _) in stored.items()}


def drop_repeats(
    results: Iterable[RetrievalResult], text_of: Callable[[Chunk], str] = text_hash
) -> list[RetrievalResult]:
    """Drop results that mostly overlap a better result or repeat its text."""
    kept: list[RetrievalResult] = []
    seen: set[str] = set()
    for result in results:
        text = text_of(result.chunk)
        if text in seen or any(_overlaps(result, better) for better in kept):
            continue
        seen.add(text)
        kept.append(result)
    return kept


def _overlaps(one: RetrievalResult, other: RetrievalResult) -> bool:
    if one.document.id != other.document.id:
        return False
    shared = min(one.chunk.end, other.chunk.end) - max(one.chunk.start, other.chunk.start)
    return shared > OVERLAP * min(len(one.chunk.content), len(other.chunk.content))


@dataclass(frozen=True, slots=True)
class EmbedderRecord:
    """An embedder's deviation of a question's cosines with random passages, and largest drop for another language.

    None means not measured: then the deviation is estimated from each search, and languages aren't calibrated.
    """

    deviation: float | None = None
    cross_lingual_gap: float | None = None


def record_of(fingerprint: Fingerprint | None) -> EmbedderRecord:
    """Return the record of the embedder that made a store's vectors; only the model counts, not its provider."""
    model = fingerprint.model.rpartition("/")[2] if fingerprint else ""
    return EmbedderRecord(**read_toml(Path(__file__).with_name("embedders.toml")).get(model, {}))


FIRST, LAST = 5, 25
"""Ranks of the closest passages by which two languages are compared; the first ones are skipped: they may answer."""
MORE = 0.005
"""Added to the measured gap, since a passage that answers loses somewhat more cosine than other passages do."""
NATIVES = 6
"""How many of the closest passages in the question's language are used to estimate how many words passages share."""

FIELD = "language"

CANDIDATES = 100
"""How many chunks each search returns; later ones hardly ever get among the best ten. A round number, not measured."""
DENSE_WEIGHT = 0.5
"""Meaning and words count alike: see the figures above."""
REACH = 8.0
"""A cosine this many standard deviations below the best scores 0."""
NEAR = 20
"""How many of the best cosines are ignored, since their passages may answer. A round number, not measured."""


@dataclass(frozen=True, slots=True)
class CrossLingual:
    """Cross-lingual calibration: the chunks in other languages than the question, and the gap added to their cosine."""

    numbers: frozenset[int] = frozenset()
    gap: float = 0.0

    def calibrated(self, dense: Scored) -> list[tuple[int, float]]:
        """Return the calibrated cosines, best first, ties by chunk number."""
        return best_first((number, cosine + self.of(number)) for number, cosine in dense)

    def of(self, number: int) -> float:
        """Return the number to add to the cosines of a chunk and its sentences."""
        return self.gap if number in self.numbers else 0.0

    def shares(self, dense: Scored, closeness: Mapping[int, float], natives: Mapping[int, float]) -> dict[int, float]:
        """Return the assumed share of the question's words in each chunk in another language, by chunk number.

        It is the average share in the closest chunks in the question's own language, times the chunk's closeness.
        `natives` are the shares of chunks that contain some of the words.
        """
        if not self.numbers:
            return {}
        nearest = list(islice((number for number, _ in dense if number not in self.numbers), NATIVES))
        usual = fmean(natives.get(number, 0.0) for number in nearest) if nearest else 0.0
        return {number: usual * max(closeness[number], 0.0) for number in self.numbers & closeness.keys()}


UNCALIBRATED = CrossLingual()


def calibrate(dense: Scored, others: Scored, most: float) -> CrossLingual:
    """Return the chunks found in other languages and the gap to add to their cosines, 0 to `most`.

    The gap is how much closer unrelated passages in the question's language are, since all languages should be equally
    close. A fixed gap would rank every passage in another language above an answer that uses other words.
    """
    numbers = frozenset(number for number, _ in others)
    natives = [cosine for number, cosine in dense if number not in numbers]
    count = min(len(natives), len(others), LAST)
    if not count:
        return CrossLingual(numbers, most)
    first = min(FIRST, count // 2)
    lacking = fmean(natives[first:count]) - fmean(cosine for _, cosine in others[first:count])
    return CrossLingual(numbers, min(max(lacking + MORE, 0.0), most))


def other_languages(language: str, languages: Collection[str], where: Filter | None) -> Filter | None:
    """Return the filter for passages in other languages; None unless `languages` has `language` and another one."""
    others = sorted({*languages} - {language, ""})
    if not others or not language or language not in languages:
        return None
    own = OneOf(FIELD, tuple(others))
    return own if where is None else AllOf((where, own))


@dataclass(frozen=True, slots=True)
class Candidates:
    """Results of both searches and of their fusion, best first; chunks are identified by their number in the store.

    `deviation` is the standard deviation of the question's cosines with random passages. The cosines of passages in
    other languages are calibrated.
    """

    dense: Scored
    keyword: Scored
    fused: Scored
    deviation: float
    calibration: CrossLingual = UNCALIBRATED


def hybrid_search(
    store: Store,
    vector: FloatArray,
    terms: Sequence[str],
    highest: float,
    where: Filter | None,
    chunks: int,
    in_other_languages: Filter | None = None,
    duplicates: NearDuplicates | None = None,
) -> Candidates:
    """Search a store of `chunks` chunks by meaning and by keyword; keyword scores are at most `highest`.

    Chunks that pass the filter `in_other_languages` are also searched separately, so that other chunks don't displace
    them. The texts of `duplicates` are left out. The result is deterministic.
    """
    duplicates = duplicates or NearDuplicates(Fetched(store))
    by_keyword = partial(store.search_terms, terms)

    def by_meaning(k: int, where: Filter | None) -> Scored:
        found = store.search_vectors(vector, k, where)
        # A vector that isn't made yet has the cosine 0, hardly any other has: so most searches don't ask which wait.
        waiting = set() if all(cosine for _, cosine in found) else set(store.waiting())
        return [pair for pair in found if pair[0] not in waiting]

    dense = duplicates.search("meaning", by_meaning, CANDIDATES, where)
    keyword = duplicates.search("keyword", by_keyword, CANDIDATES, where)
    record = record_of(store.fingerprint)
    deviation = record.deviation or estimate_deviation([cosine for _, cosine in dense], chunks)
    calibration = UNCALIBRATED
    if in_other_languages is not None and record.cross_lingual_gap is not None:
        others = duplicates.search("cross-lingual", by_meaning, CANDIDATES, in_other_languages)
        calibration = calibrate(dense, others, record.cross_lingual_gap)
        dense = calibration.calibrated(list(dict((*dense, *others)).items()))[:CANDIDATES]
    fused = fuse_scaled(dense, keyword, deviation, highest, calibration)
    return Candidates(dense, keyword, fused, deviation, calibration)


def asked_again(fetched: Fetched, vector: FloatArray, found: Candidates, highest: float) -> Candidates:
    """Rank the candidates again by another vector that is close to the question's vector.

    A new search of all chunks would find hardly any other candidates: nDCG@10 differs by at most .0002.
    """
    numbers = dict.fromkeys(number for number, _ in (*found.dense, *found.keyword))
    dense = found.calibration.calibrated(fetched.cosines(vector, list(numbers)))[:CANDIDATES]
    fused = fuse_scaled(dense, found.keyword, found.deviation, highest, found.calibration)
    return replace(found, dense=dense, fused=fused)


def fuse_scaled(
    dense: Scored, keyword: Scored, deviation: float, highest: float, calibration: CrossLingual = UNCALIBRATED
) -> Scored:
    """Fuse both lists by weighted score on absolute scales, best first, ties by number.

    `deviation` is the standard deviation of the library's cosines (if 0, only the highest cosine counts), `highest` the
    upper bound of keyword scores. A chunk missing from `dense` gets the lowest cosine in it. A chunk missing from
    `keyword` scores 0; if it is in another language, it scores as if it had some of the question's words.
    """
    reach = REACH * deviation or 1.0
    closeness = {number: 1 - (dense[0][1] - cosine) / reach for number, cosine in dense}
    farthest = min(closeness.values(), default=0.0)
    scores = dict.fromkeys((number for number, _ in keyword), DENSE_WEIGHT * max(farthest, 0.0))
    scores.update((number, DENSE_WEIGHT * max(value, 0.0)) for number, value in closeness.items())
    own = {number: min(score / highest, 1.0) for number, score in keyword}
    lent = calibration.shares(dense, closeness, own)
    own |= {number: max(own.get(number, 0.0), share) for number, share in lent.items()}
    for number, share in own.items():
        scores[number] += (1 - DENSE_WEIGHT) * share
    return best_first(scores.items())


def estimate_deviation(cosines: Sequence[float], chunks: int) -> float:
    """Estimate the deviation of a question's cosines with all `chunks` chunks from the highest cosines, best first.

    If the list has all chunks, compute it. Otherwise fit a normal distribution to the distance between the 20th cosine
    and the last; higher cosines are ignored, since their chunks may answer the question.
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
    # If fewer chunks than CANDIDATES have any of the words, take 0 as the lowest score, so that the last one counts.
    floor = 0.0 if len(keyword) < CANDIDATES else math.inf
    for weight, scored, lowest in ((dense_weight, dense, math.inf), (1 - dense_weight, keyword, floor)):
        for number, score in _normalize(scored, lowest):
            scores[number] = scores.get(number, 0.0) + weight * score
    return best_first(scores.items())


def _normalize(scored: Scored, lowest: float) -> list[tuple[int, float]]:
    """Scale scores to 0 … 1; 0 is `lowest` or the last score, whichever is lower."""
    if not scored:
        return []
    highest, lowest = scored[0][1], min(scored[-1][1], lowest)
    spread = highest - lowest
    return [(number, (score - lowest) / spread if spread > 0 else 1.0) for number, score in scored]
