"""Passages in another language than the question, in a library of several languages.

A question is closer to passages in its own language, and shares words with them only: without a correction those would
crowd out a passage in another language that answers it. The sets and figures are in docs/quality.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from statistics import fmean

from answerable.filters import AllOf, Filter, OneOf
from answerable.retrieval.fetched import Scored

LEVELS = {"multilingual-e5-small": 0.045}
"""By model, the most that a cosine across languages lacks, compared with one within a language: .039 for random
passages of XQuAD's en, es and de, .052 for right ones; .024 to .037 for everyday documents."""
FIRST, LAST = 5, 25
"""The closest passages of each language by which both are compared: not the very first, which may answer."""
MORE = 0.005
"""A passage that answers lacks somewhat more than others do."""
NATIVES = 6
"""How many of the closest passages in the question's language tell how many of its words a passage shares."""

FIELD = "language"


@dataclass(frozen=True, slots=True)
class Foreign:
    """The numbers of chunks in another language than the question, and what is added to their cosines."""

    numbers: frozenset[int] = frozenset()
    level: float = 0.0

    def levelled(self, dense: Scored) -> list[tuple[int, float]]:
        """Level the cosines; best first, ties by number."""
        raised = [(number, cosine + self.of(number)) for number, cosine in dense]
        return sorted(raised, key=lambda pair: (-pair[1], pair[0]))

    def of(self, number: int) -> float:
        """Return what is added to the cosines of a chunk and its sentences."""
        return self.level if number in self.numbers else 0.0

    def shares(self, dense: Scored, closeness: Mapping[int, float], natives: Mapping[int, float]) -> dict[int, float]:
        """Return the share of the question's words that each chunk counts as having, by number.

        It is what the closest chunks in the question's own language have on average, times the chunk's closeness.
        `natives` are the shares of chunks with some of the words.
        """
        if not self.numbers:
            return {}
        nearest = list(islice((number for number, _ in dense if number not in self.numbers), NATIVES))
        usual = fmean(natives.get(number, 0.0) for number in nearest) if nearest else 0.0
        return {number: usual * max(closeness[number], 0.0) for number in self.numbers & closeness.keys()}


NONE = Foreign()


def level_foreign(dense: Scored, others: Scored, most: float) -> Foreign:
    """Return the chunks found in other languages and what to add to their cosines, 0 to `most`.

    Unrelated passages should be equally close in every language, so it is by how much those in the question's language
    are closer. A fixed amount would put every foreign passage before what answers in other words.
    """
    numbers = frozenset(number for number, _ in others)
    natives = [cosine for number, cosine in dense if number not in numbers]
    count = min(len(natives), len(others), LAST)
    if not count:
        return Foreign(numbers, most)
    first = min(FIRST, count // 2)
    lacking = fmean(natives[first:count]) - fmean(cosine for _, cosine in others[first:count])
    return Foreign(numbers, min(max(lacking + MORE, 0.0), most))


def foreign_filter(language: str, languages: Collection[str], where: Filter | None) -> Filter | None:
    """Return the filter for passages in other languages; None unless `languages` has this and another."""
    others = sorted({*languages} - {language, ""})
    if not others or not language or language not in languages:
        return None
    foreign = OneOf(FIELD, tuple(others))
    return foreign if where is None else AllOf((where, foreign))
