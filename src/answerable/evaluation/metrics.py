"""Compute the figures of one question from its ranking, as trec_eval does.

A document is relevant if its grade is above 0. As in trec_eval, ties are ranked by id in descending code point order,
and scores are compared as 32-bit floats, so that the figures equal those of trec_eval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

CUTOFFS = (1, 5, 10, 100)
"""Cutoffs of recall."""


def order(scores: Mapping[str, float]) -> list[str]:
    """Return the ids of documents, best first."""
    by_id = sorted(scores, reverse=True)
    return sorted(by_id, key=lambda document: -np.float32(scores[document]))


def ndcg(ranking: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Return the normalised discounted cumulative gain at k (Järvelin & Kekäläinen 2002); the gain is the grade."""
    best = _gain(sorted((grade for grade in relevant.values() if grade > 0), reverse=True)[:k])
    return _gain([max(0, relevant.get(document, 0)) for document in ranking[:k]]) / best if best else 0.0


def recall(ranking: Sequence[str], relevant: Mapping[str, int], k: int) -> float:
    """Return the share of all relevant documents that are among the first k."""
    wanted = {document for document, grade in relevant.items() if grade > 0}
    return len(wanted.intersection(ranking[:k])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranking: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Return 1 / rank of the first relevant document, or 0. Its mean is MRR."""
    return next((1 / rank for rank, document in enumerate(ranking, 1) if relevant.get(document, 0) > 0), 0.0)


def average_precision(ranking: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Return the mean precision at the ranks of the relevant documents. Its mean over questions is MAP.

    The precision of a relevant document that wasn't found is 0.
    """
    wanted = sum(grade > 0 for grade in relevant.values())
    found, total = 0, 0.0
    for rank, document in enumerate(ranking, 1):
        if relevant.get(document, 0) > 0:
            found += 1
            total += found / rank
    return total / wanted if wanted else 0.0


def ranking_figures(ranking: Sequence[str], relevant: Mapping[str, int]) -> dict[str, float]:
    """Return every figure of a ranking by its name."""
    return {
        "ndcg@10": ndcg(ranking, relevant),
        **{f"recall@{k}": recall(ranking, relevant, k) for k in CUTOFFS},
        "mrr": reciprocal_rank(ranking, relevant),
        "map": average_precision(ranking, relevant),
    }


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
