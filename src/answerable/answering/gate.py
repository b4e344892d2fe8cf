"""The refusal gate: the probability that the evidence answers the question, and the lowest probability to accept.

The probability comes from a logistic model over `Signals`, whose scales don't depend on the library's size. The model
is fitted for each embedder by `evaluation.calibration`; the packaged gates are in `gates.json`. The threshold follows
from a target: the maximum percentage of unanswerable questions that get an answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from answerable.answering.found import Found
from answerable.answering.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Signals:
    """What the gate knows of the best sentence.

    `words`: the share of the question's words in the sentence, similar forms too; rare words count more. If the
    question's filter found the passages, those of its context count, since a message often replies to one that names
    the topic. `meaning`: the sentence's cosine with the question. `reading`: the sentence's reading, a logit; 0 without
    a reader.

    Fitted on all kinds of sets but one (papers, NoMIRACL, across languages, encyclopaedias) and measured on that one,
    these three have a mean area of .855; with ten more (names, margins, standing among others …) it was .840.
    """

    words: float
    meaning: float
    reading: float = 0.0


UNREAD = -8.0
"""The reading (a logit) assumed for a sentence that the reader model hasn't read."""


def read_signals(found: Found, ranked: Sequence[Sentence]) -> Signals:
    """Return the signals of the first of the ranked sentences (at least one)."""
    best, is_read = ranked[0], any(sentence.reading is not None for sentence in ranked)
    unread = UNREAD if is_read else 0.0
    words = best.near_coverage if found.topic is None else max(best.near_coverage, best.coverage + best.context)
    return Signals(words, best.similarity, unread if best.reading is None else best.reading)


LEXICAL_ONLY = "lexical"
NEAR = 30.0
"""Of 100 questions that the documents don't answer, how many may get the nearest quote, named as such. With it, .001 of
XQuAD's Spanish questions with an answer find nothing. A round number."""

NARROWED = 0.35
"""Factor of the threshold if the question's filter found the passages: who asks what Lucía said about the hotel gets
what she said, which the reader hardly takes for an answer. Chosen between two questions of the tests; of a stranger's
eight, four of four get what was said, and one of four that wasn't gets an answer."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The model's `weights` by signal, and `thresholds` as pairs (percentage of wrong answers, probability).

    `crossed` is the gate for questions in a language that no passage has, where shared words mean little; None if this
    gate is used for such questions too.
    """

    weights: Mapping[str, float]
    intercept: float
    thresholds: tuple[tuple[float, float], ...]
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
        return self.suited_to(found).probability(read_signals(found, ranked))

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
        logit = self.intercept + sum(weight * getattr(signals, name) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(min(logit, 50.0), -50.0)))

    def to_json(self) -> dict[str, Any]:
        """Return the gate as JSON for `from_json`. The target is left out, because it is a setting."""
        return {
            "weights": dict(self.weights),
            "intercept": self.intercept,
            "thresholds": [list(pair) for pair in self.thresholds],
            "crossed": self.crossed.to_json() if self.crossed else None,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Gate:
        """Read a gate. Raise KeyError, TypeError, AttributeError or ValueError for missing or invalid values."""
        thresholds = tuple(sorted((float(target), float(threshold)) for target, threshold in values["thresholds"]))
        if not thresholds:
            raise ValueError("it has no thresholds")
        weights = {str(name): float(weight) for name, weight in values["weights"].items()}
        if unknown := weights.keys() - set(Signals.__slots__):
            raise ValueError(f"it has unknown signals: {', '.join(sorted(unknown))}")
        # Files of older versions have no `crossed` gate.
        crossed = cls.from_json(values["crossed"]) if values.get("crossed") else None
        return cls(weights, float(values["intercept"]), thresholds, crossed)


def is_crossed(found: Found) -> bool:
    """Return whether no passage is in the question's language; False if the language of a passage is unknown."""
    spoken = {result.document.language for result in found.results}
    return bool(found.asked.language) and "" not in spoken and found.asked.language not in spoken


def packaged_gates() -> dict[str, Gate]:
    """Return the packaged gates by the embedder's `provider:model`, and the gate that uses only words."""
    text = files("answerable.answering").joinpath("gates.json").read_text("utf-8")
    return {name: Gate.from_json(values) for name, values in json.loads(text).items()}
