"""Passages in another language than the question, in a library of several languages.

A question is closer to passages in its own language, and shares words with them only. Without a correction, Spanish
questions about English passages beside as many Spanish ones find the right passage among six in .69 of cases (1.00
without the Spanish ones); with it in .97. English questions about Spanish passages: .90, then .99. Questions about
passages in their own language lose .002 (es) and .006 (en) in such a library, nothing in a library of one language.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from answerable.filters import AllOf, Exists, Filter, Not, OneOf
from answerable.retrieval.fetched import Scored

GAPS = {"multilingual-e5-small": 0.045}
"""How much lower cosines are across languages, by model: the mean on XQuAD's pairs of en, es and de, .042 to .059."""
WORDS = 0.2
"""The share of the question's words that a close passage in another language counts as having."""

FIELD = "language"


@dataclass(frozen=True, slots=True)
class Foreign:
    """The numbers of chunks in another language than the question, and how much lower their cosines are."""

    numbers: frozenset[int] = frozenset()
    gap: float = 0.0

    def level(self, dense: Scored) -> list[tuple[int, float]]:
        """Add the gap to the cosines of these chunks; best first, ties by number."""
        levelled = [(number, cosine + self.gap_of(number)) for number, cosine in dense]
        return sorted(levelled, key=lambda pair: (-pair[1], pair[0]))

    def gap_of(self, number: int) -> float:
        """Return what to add to the cosines of a chunk."""
        return self.gap if number in self.numbers else 0.0


NONE = Foreign()


def foreign_filter(language: str, languages: Collection[str], where: Filter | None) -> Filter | None:
    """Return the filter for passages in other languages; None unless `languages` has this and another."""
    if not language or language not in languages or len(languages) < 2:
        return None
    foreign = (Exists(FIELD), Not(OneOf(FIELD, (language,))))
    return AllOf(foreign if where is None else (where, *foreign))
