"""The refusal gate: the probability that the evidence answers the question, and the lowest probability to accept.

The probability comes from a logistic model over `Signals`, whose scales don't depend on the library's size. The model
is fitted for each embedder by `evaluation.calibration`; the packaged gates are in `gates.json`. The threshold follows
from a target: the maximum percentage of unanswerable questions that get an answer.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from answerable.answering.found import Found
from answerable.answering.sentences import Sentence
from answerable.protocols import IndexedChunk
from answerable.text.indexed_text import indexed_text
from answerable.text.terms import fold, negations, term_weights, words

LIKE = 3
"""Number of nearest sentences that may also answer. This and the next two are guesses, not measured separately."""
OTHERS = 30
"""The best sentence is compared with the sentences from rank LIKE up to this rank."""
PRIOR = 5
"""The weight of the background in that comparison, as a number of sentences."""

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
    minus that of the next chunk, relative to all words. `not_denied`: 1 if the question is negated and the sentence
    isn't.

    Three signals are 0 without a background: `similarity`, the sentence's cosine with the question; `standing`, the
    z-score of this cosine among all sentences; `passage_margin`, the chunk's cosine minus that of the next chunk.
    Two are 0 without a reader: `reading`, the sentence's reading; `reading_elsewhere`, the highest in other chunks.
    """

    coverage: float
    near_coverage: float
    chunk_coverage: float
    hits: float
    misses: float
    missing_names: float
    keyword_margin: float
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
"""The reading (a logit) assumed for a sentence that the reader model hasn't read."""


def read_signals(found: Found, ranked: Sequence[Sentence], background: Background | None) -> Signals:
    """Return the signals of the first of the ranked sentences (at least one)."""
    best = ranked[0]
    chunk = next(indexed for result, indexed in zip(found.results, found.chunks, strict=True) if result is best.result)
    own = [word for word in found.word_weights if not word.isdisjoint(best.terms)]
    is_denied = bool(negations(found.asked.question, found.asked.language))
    semantic = (0.0, 0.0, 0.0)
    if background is not None:
        semantic = (best.similarity, _standing(ranked, background), _passage_margin(found, chunk, background))
    return Signals(
        best.coverage + best.context,
        best.near_coverage,
        best.chunk_coverage,
        math.log1p(len(own)),
        math.log1p(sum(word.isdisjoint(chunk.terms.keys()) for word in found.word_weights)),
        _missing_names(found.asked.question if found.topic is None else found.topic, chunk),
        _keyword_margin(found, chunk),
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
    # Capitals show names only in scripts that have capitals.
    names = [
        fold(match[0].lower()) for match in _NAMES.finditer(question) if match[0][0].isupper() or match[0][0].isdigit()
    ]
    present = {fold(word) for word in words(indexed_text(chunk.chunk))}
    return float(sum(not present.issuperset(words(name)) for name in names))


def _keyword_margin(found: Found, best: IndexedChunk) -> float:
    total = sum(found.word_weights.values())
    scores = {chunk.chunk.id: _keyword_score(found.word_weights, chunk) for chunk in found.chunks}
    return (scores.pop(best.chunk.id) - max(scores.values(), default=0.0)) / (total or 1.0)


def _keyword_score(weights: Mapping[frozenset[str], float], chunk: IndexedChunk) -> float:
    present = term_weights(chunk.terms)
    return sum(weight * max((present.get(term, 0.0) for term in word), default=0.0) for word, weight in weights.items())


def _standing(ranked: Sequence[Sentence], background: Background) -> float:
    """Return the z-score of the best sentence's cosine; the fewer sentences, the more the background counts."""
    others = sorted((sentence.similarity for sentence in ranked), reverse=True)[LIKE:OTHERS]
    mean = (sum(others) + PRIOR * background.mean) / (len(others) + PRIOR)
    squares = sum((other - mean) ** 2 for other in others) + PRIOR * background.deviation**2
    # If the deviation is 0, as for a background of one passage, divide by 1.
    return (ranked[0].similarity - mean) / (math.sqrt(squares / (len(others) + PRIOR)) or 1.0)


def _passage_margin(found: Found, best: IndexedChunk, background: Background) -> float:
    others = [float(np.dot(chunk.vector, found.asked.vector)) for chunk in found.chunks if chunk is not best]
    return float(np.dot(best.vector, found.asked.vector)) - max([*others, background.mean])


LEXICAL_ONLY = "lexical"
NEAR = 30.0
"""Of 100 questions that the documents don't answer, how many may get the nearest quote, named as such. With it, .001 of
XQuAD's Spanish questions with an answer find nothing. A round number."""

# Factor of the threshold if the question sets a filter. Of 75 facts in generated chats (es, pt, en), with this factor
# .99 rather than .93 are answered if asked for by sender or time, and .05 rather than .03 with another fact's filter.
NARROWED = 0.5


@dataclass(frozen=True, slots=True)
class Gate:
    """The model's `weights` by signal, and `thresholds` as pairs (percentage of wrong answers, probability).

    `background` belongs to the embedder; None for a gate that uses only words. `crossed` is the gate for questions in a
    language that no passage has, where shared words mean little; None if this gate is used for such questions too.
    """

    weights: Mapping[str, float]
    intercept: float
    thresholds: tuple[tuple[float, float], ...]
    background: Background | None = None
    crossed: Gate | None = None
    wrong_answers: float = 10.0

    @property
    def threshold(self) -> float:
        """The lowest probability to answer with; below it the gate refuses."""
        targets, thresholds = zip(*self.thresholds, strict=True)
        return float(np.interp(self.wrong_answers, targets, thresholds))

    def aiming_at(self, wrong_answers: float) -> Gate:
        """Return a copy of this gate with another target: the percentage of wrong answers to allow."""
        crossed = self.crossed.aiming_at(wrong_answers) if self.crossed else None
        return replace(self, crossed=crossed, wrong_answers=wrong_answers)

    def suited_to(self, found: Found) -> Gate:
        """Return `crossed` if the question is in another language than the passages, else this gate."""
        return self.crossed if self.crossed and is_crossed(found) else self

    def confidence(self, found: Found, ranked: Sequence[Sentence]) -> float:
        """Return the probability, 0 to 1, that the first of the ranked sentences answers the question.

        The probability is 1 if the filter uses all words of the question, as in "What did Ana say yesterday?".
        """
        if found.topic is not None and not found.word_weights:
            return 1.0
        return self.suited_to(found).probability(read_signals(found, ranked, self.background))

    def passes(self, found: Found, confidence: float) -> bool:
        """Return whether the confidence is high enough to answer."""
        return confidence >= self.threshold_for(found)

    def is_near(self, found: Found, confidence: float) -> bool:
        """Return whether the confidence is high enough to show the quote as the nearest one."""
        return self.aiming_at(max(NEAR, self.wrong_answers)).passes(found, confidence)

    def threshold_for(self, found: Found) -> float:
        """Return the lowest probability to answer with; it is lower if the question's filter found the passages."""
        return self.suited_to(found).threshold * (1.0 if found.topic is None else NARROWED)

    def probability(self, signals: Signals) -> float:
        """Return the probability for these signals."""
        values = signals.as_dict()
        logit = self.intercept + sum(weight * values[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(min(logit, 50.0), -50.0)))

    def to_json(self) -> dict[str, Any]:
        """Return the gate as JSON for `from_json`. The target is left out, because it is a setting."""
        return {
            "weights": dict(self.weights),
            "intercept": self.intercept,
            "thresholds": [list(pair) for pair in self.thresholds],
            "background": asdict(self.background) if self.background else None,
            "crossed": self.crossed.to_json() if self.crossed else None,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Gate:
        """Read a gate. Raise KeyError, TypeError, AttributeError or ValueError for missing or invalid values."""
        given = values["background"]
        background = None if given is None else Background(float(given["mean"]), float(given["deviation"]))
        thresholds = tuple(sorted((float(target), float(threshold)) for target, threshold in values["thresholds"]))
        if not thresholds:
            raise ValueError("it has no thresholds")
        weights = {str(name): float(weight) for name, weight in values["weights"].items()}
        if unknown := weights.keys() - set(Signals.__slots__):
            raise ValueError(f"it has unknown signals: {', '.join(sorted(unknown))}")
        # Files of older versions have no `crossed` gate.
        crossed = cls.from_json(values["crossed"]) if values.get("crossed") else None
        return cls(weights, float(values["intercept"]), thresholds, background, crossed)


def is_crossed(found: Found) -> bool:
    """Return whether no passage is in the question's language; False if the language of a passage is unknown."""
    spoken = {result.document.language for result in found.results}
    return bool(found.asked.language) and "" not in spoken and found.asked.language not in spoken


def packaged_gates() -> dict[str, Gate]:
    """Return the packaged gates by the embedder's `provider:model`, and the gate that uses only words."""
    text = files("answerable.answering").joinpath("gates.json").read_text("utf-8")
    return {name: Gate.from_json(values) for name, values in json.loads(text).items()}
