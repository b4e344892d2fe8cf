"""Passages in another language than the question, in a library of several languages.

A question is closer to passages in its own language, and shares words with them only. Without a correction, Spanish
questions about English passages beside as many Spanish ones find the right passage among six in .69 of cases (1.00
without the Spanish ones); with it in .97. English questions about Spanish passages: .90, then .99. Questions about
passages in their own language lose .002 (es) and .006 (en) in such a library, nothing in a library of one language.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from answerable.datatypes import FloatArray
from answerable.filters import AllOf, Filter, OneOf
from answerable.retrieval.fetched import Scored

LEVELS = {"multilingual-e5-small": (1.128, -0.0534)}
"""Factor and summand, by model, that give cosines across languages the means of those within one, on XQuAD's en, es
and de: .822 becomes .874 for right passages, .714 becomes .753 for random ones."""
WORDS = 0.2
"""The share of the question's words that a close passage in another language counts as having."""

FIELD = "language"


@dataclass(frozen=True, slots=True)
class Foreign:
    """The numbers of chunks in another language than the question; `factor` and `summand` level their cosines."""

    numbers: frozenset[int] = frozenset()
    factor: float = 1.0
    summand: float = 0.0

    def level(self, dense: Scored) -> list[tuple[int, float]]:
        """Level the cosines; best first, ties by number."""
        levelled = [
            (number, self.factor * cosine + self.summand if number in self.numbers else cosine)
            for number, cosine in dense
        ]
        return sorted(levelled, key=lambda pair: (-pair[1], pair[0]))

    def level_all(self, number: int, cosines: FloatArray) -> FloatArray:
        """Level the cosines of one chunk's sentences."""
        return np.asarray(self.factor * cosines + self.summand) if number in self.numbers else cosines


NONE = Foreign()


def foreign_filter(language: str, languages: Collection[str], where: Filter | None) -> Filter | None:
    """Return the filter for passages in other languages; None unless `languages` has this and another."""
    others = sorted({*languages} - {language, ""})
    if not others or not language or language not in languages:
        return None
    foreign = OneOf(FIELD, tuple(others))
    return foreign if where is None else AllOf((where, foreign))
