"""BM25 (Robertson & Zaragoza 2009), the same in every store: a weight per term and chunk, times the term's rarity.

The average length is a constant, so that a chunk's weights never change when others come and go. On the development
sets nDCG@10 with 100 terms is within .002 of the true average or above it (SciFact .689 against .687, Cranfield .391
against .392, XQuAD es .965/.965, FaQuAD .918/.918, SQuAD2 en .926/.926, es .864/.864, pt .887/.887).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

K1 = 1.2
B = 0.75
AVERAGE_LENGTH = 100


def term_weights(counts: Mapping[str, int]) -> dict[str, float]:
    """What each term of a chunk adds to the score of a question that has it, before its rarity."""
    length = sum(counts.values())
    damping = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return {term: count * (K1 + 1) / (count + damping) for term, count in counts.items()}


def rarity(chunks: int, chunks_with_term: int) -> float:
    """Inverse document frequency, never negative."""
    return math.log(1 + (chunks - chunks_with_term + 0.5) / (chunks_with_term + 0.5))


def highest_score(rarities: Iterable[float]) -> float:
    """What no chunk's score exceeds, of a question whose words have these rarities."""
    return (K1 + 1) * sum(rarities)
