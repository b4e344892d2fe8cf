"""Whether the evidence is good enough to answer from, as a probability.

A logistic model over three numbers that mean the same in a library of one passage and of thousands: how much of the
question, by the rarity of its words, the best sentence covers with its setting, how much its whole chunk covers, and
the sentence's cosine. Fitted on half the articles of XQuAD en and es, FaQuAD and SQuAD2 en, in libraries of 1 to 343
passages, against the same question with its paragraph removed and against a library without its whole article; on the
other half the areas under the curve are .964, .957, .829 and .856 (paragraph removed) and .993, .992, .874 and .995
(article removed). The cosine's weight is held at 16, where the fit alone would take 31, since cosines shift with the
kind of text: chat messages lie below encyclopaedia sentences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from answerable.answering.evidence import Sentence

THRESHOLD = 0.44


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


E5_SMALL = Gate(coverage=3.756, chunk_coverage=1.487, similarity=16.0, intercept=-15.91)
"""For vectors of multilingual-e5-small."""
