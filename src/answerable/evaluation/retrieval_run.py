"""Questions → what is found: how high up the documents stand that bear on them, and the passages with the answer."""

from __future__ import annotations

import time
from dataclasses import dataclass

from answerable.evaluation.asked import Asked
from answerable.evaluation.metrics import order, ranking_figures
from answerable.evaluation.wording import holds
from answerable.library import Library

DEPTH = 100
"""How many passages are looked at; a document ranks by its best."""
PASSAGES = 10
"""Among how many of them the answer is looked for."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The figures of a question that apply to it, and the seconds that the search took."""

    figures: dict[str, float]
    seconds: float


def search(library: Library, asked: Asked) -> Searched:
    """Searches for a question; a question without an answer has no figures."""
    started = time.perf_counter()
    results = library.search(asked.text, DEPTH)
    seconds = time.perf_counter() - started
    figures: dict[str, float] = {}
    if asked.is_unanswerable:
        return Searched(figures, seconds)
    if asked.relevant:
        scores: dict[str, float] = {}
        for result in results:
            scores[result.document.id] = max(result.score, scores.get(result.document.id, result.score))
        figures |= ranking_figures(order(scores), asked.relevant)
    if asked.answers:
        found = any(holds(result.chunk.content, asked.answers, asked.language) for result in results[:PASSAGES])
        figures[f"answer_found@{PASSAGES}"] = float(found)
    return Searched(figures, seconds)
