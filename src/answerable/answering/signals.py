"""Signals that the best sentence answers the question: numbers on one scale for libraries of any size."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from answerable.answering.asked_for import asked_for, offers
from answerable.answering.evidence import Sentence
from answerable.protocols import Evidence, IndexedChunk
from answerable.text.bm25 import term_weights
from answerable.text.indexed_text import indexed_text
from answerable.text.negation import negations
from answerable.text.terms import fold, words

LIKE = 3
OTHERS = 30
PRIOR = 5

_NAMES = re.compile(r"(?<!^)(?<![¿¡\"“«(])\b[^\W\d_]\w+|\b\d(?:[\w.,:]*\w)?")


@dataclass(frozen=True, slots=True)
class Background:
    """Mean and standard deviation of an embedder's cosines between questions and random passages."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals of the best sentence. Coverages are shares of the question's words; rare words count more.

    `coverage`: in the sentence and its context (see `Sentence`); `near_coverage`: in the sentence, where similar forms
    count too; `chunk_coverage`: in its chunk. `hits`: log(1 + words in the sentence). `misses`: log(1 + words that the
    chunk lacks). `missing_names`: number of names and numbers that the chunk lacks. `keyword_margin`: keyword score
    minus that of the next chunk, relative to all words. `not_offered`: 1 if the sentence lacks the date, number or
    person asked for. `not_denied`: 1 if the question is negated and the sentence isn't.

    Three signals are 0 without a background: `similarity`, the cosine; `standing`, its z-score among all sentences;
    `passage_margin`, the chunk's cosine minus that of the next chunk.

    Two are 0 without a reader: `reading`, the sentence's; `reading_elsewhere`, the highest one of the other chunks.
    """

    coverage: float
    near_coverage: float
    chunk_coverage: float
    hits: float
    misses: float
    missing_names: float
    keyword_margin: float
    not_offered: float
    not_denied: float
    similarity: float = 0.0
    standing: float = 0.0
    passage_margin: float = 0.0
    reading: float = 0.0
    reading_elsewhere: float = 0.0

    def as_dict(self) -> dict[str, float]:
        """Return the signals by name."""
        return asdict(self)


SEMANTIC = ("similarity", "standing", "passage_margin")
READ = ("reading", "reading_elsewhere")
LEXICAL = tuple(name for name in Signals.__slots__ if name not in SEMANTIC + READ)
UNREAD = -8.0
"""The reading of a sentence that no reader has read."""


def read_signals(evidence: Evidence, ranked: Sequence[Sentence], background: Background | None) -> Signals:
    """Return the signals of the first of the ranked sentences (at least one)."""
    best = ranked[0]
    chunk = next(
        indexed for result, indexed in zip(evidence.results, evidence.chunks, strict=True) if result is best.result
    )
    own = [word for word in evidence.word_weights if not word.isdisjoint(best.terms)]
    kind = asked_for(evidence.question)
    is_denied = bool(negations(evidence.question, evidence.language))
    semantic = (0.0, 0.0, 0.0)
    if background is not None:
        semantic = (best.similarity, _standing(ranked, background), _passage_margin(evidence, chunk, background))
    return Signals(
        best.coverage + best.context,
        best.near_coverage,
        best.chunk_coverage,
        math.log1p(len(own)),
        math.log1p(sum(word.isdisjoint(chunk.terms.keys()) for word in evidence.word_weights)),
        _missing_names(evidence.question if evidence.topic is None else evidence.topic, chunk),
        _keyword_margin(evidence, chunk),
        float(kind is not None and not offers(best, kind, evidence.question)),
        float(is_denied and not negations(best.text, best.result.document.language)),
        *semantic,
        *_readings(ranked),
    )


def _readings(ranked: Sequence[Sentence]) -> tuple[float, float]:
    if all(sentence.reading is None for sentence in ranked):
        return 0.0, 0.0
    best = ranked[0]
    elsewhere = (each.reading for each in ranked if each.result is not best.result and each.reading is not None)
    return UNREAD if best.reading is None else best.reading, max(elsewhere, default=UNREAD)


def _missing_names(question: str, chunk: IndexedChunk) -> float:
    # Only in scripts with capitals.
    names = [
        fold(match[0].lower()) for match in _NAMES.finditer(question) if match[0][0].isupper() or match[0][0].isdigit()
    ]
    present = {fold(word) for word in words(indexed_text(chunk.chunk))}
    return float(sum(not present.issuperset(words(name)) for name in names))


def _keyword_margin(evidence: Evidence, best: IndexedChunk) -> float:
    total = sum(evidence.word_weights.values())
    scores = {chunk.chunk.id: _keyword_score(evidence.word_weights, chunk) for chunk in evidence.chunks}
    return (scores.pop(best.chunk.id) - max(scores.values(), default=0.0)) / (total or 1.0)


def _keyword_score(weights: Mapping[frozenset[str], float], chunk: IndexedChunk) -> float:
    present = term_weights(chunk.terms)
    return sum(weight * max((present.get(term, 0.0) for term in word), default=0.0) for word, weight in weights.items())


def _standing(ranked: Sequence[Sentence], background: Background) -> float:
    """Return the z-score of the best sentence's cosine; with few sentences the background counts more."""
    others = sorted((sentence.similarity for sentence in ranked), reverse=True)[LIKE:OTHERS]
    mean = (sum(others) + PRIOR * background.mean) / (len(others) + PRIOR)
    squares = sum((other - mean) ** 2 for other in others) + PRIOR * background.deviation**2
    # A deviation of 0, as with a background of one passage, counts as 1.
    return (ranked[0].similarity - mean) / (math.sqrt(squares / (len(others) + PRIOR)) or 1.0)


def _passage_margin(evidence: Evidence, best: IndexedChunk, background: Background) -> float:
    others = [float(np.dot(chunk.vector, evidence.vector)) for chunk in evidence.chunks if chunk is not best]
    return float(np.dot(best.vector, evidence.vector)) - max([*others, background.mean])
