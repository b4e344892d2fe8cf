"""Whether the evidence is good enough to answer from, as a probability, and where to draw the line.

A logistic model over `Signals`. Its weights and thresholds are fitted by `evaluation.calibration` and belong to an
embedder; `gates.json` has those that come with the package. The line is drawn by a target: of questions that the
documents don't answer, at most so many in a hundred get an answer.
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

# Of a narrowed search. With 75 facts in generated chats (es, pt, en), each asked for by its sender or time: answered at
# the usual threshold .93, at half of it .99; asked under the filter of another fact .03 and .05.
NARROWED = 0.5


@dataclass(frozen=True, slots=True)
class Gate:
    """`weights` are by signal; `thresholds` the probability below which to refuse, by percentage of wrong answers.

    `background` is that of the embedder, None where the gate looks at words only. `crossed` is the gate for questions
    in a language that none of the passages has: words say little there, so that all is weighed differently. None
    where there is one for both.
    """

    weights: Mapping[str, float]
    intercept: float
    thresholds: tuple[tuple[float, float], ...]
    background: Background | None = None
    crossed: Gate | None = None
    wrong_answers: float = 10.0

    @property
    def threshold(self) -> float:
        """The probability below which the answer is a refusal."""
        targets, thresholds = zip(*self.thresholds, strict=True)
        return float(np.interp(self.wrong_answers, targets, thresholds))

    def aiming_at(self, wrong_answers: float) -> Gate:
        """The same gate with another target, in percent."""
        crossed = self.crossed.aiming_at(wrong_answers) if self.crossed else None
        return replace(self, crossed=crossed, wrong_answers=wrong_answers)

    def suited_to(self, evidence: Evidence) -> Gate:
        """The gate for questions in the language of the passages, or the one for questions in another."""
        return self.crossed if self.crossed and is_crossed(evidence) else self

    def confidence(self, evidence: Evidence, ranked: Sequence[Sentence]) -> float:
        """How likely the first of the ranked sentences answers the question, 0 to 1.

        "What did Ana say yesterday?" is answered by whatever she said: the filter has seen to all of it.
        """
        if evidence.topic is not None and not evidence.word_weights:
            return 1.0
        return self.suited_to(evidence).probability(read_signals(evidence, ranked, self.background))

    def passes(self, evidence: Evidence, confidence: float) -> bool:
        """Whether to answer. Messages that passed a filter of the question's own have less left to prove."""
        return confidence >= self.suited_to(evidence).threshold * (1.0 if evidence.topic is None else NARROWED)

    def probability(self, signals: Signals) -> float:
        """The same from the signals."""
        values = signals.as_dict()
        logit = self.intercept + sum(weight * values[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(min(logit, 50.0), -50.0)))

    def to_json(self) -> dict[str, Any]:
        """What `from_json` reads. The target is the user's and isn't kept."""
        return {
            "weights": dict(self.weights),
            "intercept": self.intercept,
            "thresholds": [list(pair) for pair in self.thresholds],
            "background": asdict(self.background) if self.background else None,
            "crossed": self.crossed.to_json() if self.crossed else None,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Gate:
        """Raises KeyError, TypeError, AttributeError and ValueError when something is missing or of the wrong kind."""
        drawn = values["background"]
        background = None if drawn is None else Background(float(drawn["mean"]), float(drawn["deviation"]))
        thresholds = tuple(sorted((float(target), float(threshold)) for target, threshold in values["thresholds"]))
        if not thresholds:
            raise ValueError("it has no thresholds")
        weights = {str(name): float(weight) for name, weight in values["weights"].items()}
        if unknown := weights.keys() - set(Signals.__slots__):
            raise ValueError(f"it weighs {', '.join(sorted(unknown))}")
        # Gates that were kept before there was a second one have none.
        crossed = cls.from_json(values["crossed"]) if values.get("crossed") else None
        return cls(weights, float(values["intercept"]), thresholds, background, crossed)


def is_crossed(evidence: Evidence) -> bool:
    """Whether the question is in a language that none of the passages has, as far as their languages are known."""
    spoken = {result.document.language for result in evidence.results}
    return bool(evidence.language) and "" not in spoken and evidence.language not in spoken


def packaged_gates() -> dict[str, Gate]:
    """The gates that come with the package: by `provider:model` of the embedder, and one for words only."""
    text = files("answerable.answering").joinpath("gates.json").read_text("utf-8")
    return {name: Gate.from_json(values) for name, values in json.loads(text).items()}
