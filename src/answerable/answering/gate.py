"""The refusal gate: the probability that the evidence answers the question, and the lowest one to accept.

The probability comes from a logistic model over `Signals`, fitted for each embedder by `evaluation.calibration`; the
packaged gates are in `gates.json`. The threshold follows from a target: the maximum percentage of unanswerable
questions that get an answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from answerable.answering.evidence import Sentence
from answerable.answering.signals import Background, Signals, read_signals
from answerable.protocols import Evidence

LEXICAL_ONLY = "lexical"

# Factor of the threshold for a narrowed search. Of 75 facts in generated chats (es, pt, en), asked for by sender or
# time, it answers .99 rather than .93; asked under the filter of another fact, .05 rather than .03.
NARROWED = 0.5


@dataclass(frozen=True, slots=True)
class Gate:
    """`weights` by signal, and `thresholds` as pairs (percentage of wrong answers, probability).

    `background` belongs to the embedder; None for a gate that uses only words. `crossed` is the gate for questions in a
    language that no passage has, for which common words mean little; None if this gate serves such questions too.
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
        """Return a copy of this gate with another target: the percentage of wrong answers to let pass."""
        crossed = self.crossed.aiming_at(wrong_answers) if self.crossed else None
        return replace(self, crossed=crossed, wrong_answers=wrong_answers)

    def suited_to(self, evidence: Evidence) -> Gate:
        """Return `crossed` if the question is in another language than the passages, else this gate."""
        return self.crossed if self.crossed and is_crossed(evidence) else self

    def confidence(self, evidence: Evidence, ranked: Sequence[Sentence]) -> float:
        """Return the probability, 0 to 1, that the first of the ranked sentences answers the question.

        The probability is 1 if the filter uses all words of the question, as in "What did Ana say yesterday?".
        """
        if evidence.topic is not None and not evidence.word_weights:
            return 1.0
        return self.suited_to(evidence).probability(read_signals(evidence, ranked, self.background))

    def passes(self, evidence: Evidence, confidence: float) -> bool:
        """Return whether to answer. The threshold is lower for passages found with a filter from the question."""
        return confidence >= self.suited_to(evidence).threshold * (1.0 if evidence.topic is None else NARROWED)

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
        # Older files have no second gate.
        crossed = cls.from_json(values["crossed"]) if values.get("crossed") else None
        return cls(weights, float(values["intercept"]), thresholds, background, crossed)


def is_crossed(evidence: Evidence) -> bool:
    """Return whether no passage is in the question's language; False if the language of a passage is unknown."""
    spoken = {result.document.language for result in evidence.results}
    return bool(evidence.language) and "" not in spoken and evidence.language not in spoken


def packaged_gates() -> dict[str, Gate]:
    """Return the packaged gates by the embedder's `provider:model`, and the gate that uses only words."""
    text = files("answerable.answering").joinpath("gates.json").read_text("utf-8")
    return {name: Gate.from_json(values) for name, values in json.loads(text).items()}
