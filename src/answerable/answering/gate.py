"""Whether the evidence is good enough to answer from, as a probability.

A logistic model over three numbers that mean the same in a library of one passage and of thousands: how much of the
question, by the rarity of its words, the best sentence covers with its setting, how much its whole chunk covers, and
the sentence's cosine. Fitted on half the articles of XQuAD en and es, FaQuAD and SQuAD2 en, in libraries of 1 to 343
passages, against the same questions with their paragraph removed, with all of their article removed, and against
questions of one set asked of another. On the other half the areas under the curve with the paragraph removed are .960,
.955, .830 and .839 in the whole sets, and .994, .994, .947 and .959 in small libraries. At the threshold, 0 to 8 % of
the answerable questions of a whole set are refused (3 to 18 % in libraries of one to three passages), and 92 to 100 %
of the questions of another set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from answerable.answering.evidence import Sentence

THRESHOLD = 0.455


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


E5_SMALL = Gate(coverage=4.419, chunk_coverage=2.886, similarity=24.518, intercept=-24.397)
"""For vectors of multilingual-e5-small."""
