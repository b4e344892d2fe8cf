"""Whether the evidence is good enough to answer from, as a probability.

A logistic model over three numbers that mean the same in a library of one passage and of thousands: how much of the
question, by the rarity of its words, the best sentence covers with its setting, how much its whole chunk covers, and
the sentence's cosine. Fitted on half the articles of XQuAD en and es, FaQuAD and SQuAD2 en, es and pt, against the same
questions with their paragraph removed and against questions of one set asked of another. On the other half, the areas
under the curve with the paragraph removed are .967, .959, .829, .854, .800 and .820. At the threshold, .01 to .10 of
the answerable questions of a set are refused, and .96 to 1.00 of the questions of another set (FaQuAD asked of SQuAD2
pt: .83; that corpus does say something on some of them).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from answerable.answering.evidence import Sentence

THRESHOLD = 0.4


@dataclass(frozen=True, slots=True)
class Gate:
    """Weights of the features and the probability below which the answer is a refusal."""

    coverage: float
    chunk_coverage: float
    similarity: float
    intercept: float
    threshold: float = THRESHOLD

    def probability(self, best: Sentence) -> float:
        """How likely the best sentence answers the question, 0 to 1."""
        logit = (
            self.coverage * (best.coverage + best.context)
            + self.chunk_coverage * best.chunk_coverage
            + self.similarity * best.similarity
            + self.intercept
        )
        return 1 / (1 + math.exp(-max(min(logit, 50.0), -50.0)))


E5_SMALL = Gate(coverage=4.225, chunk_coverage=2.525, similarity=27.083, intercept=-26.588)
"""For vectors of multilingual-e5-small."""
