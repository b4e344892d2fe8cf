"""A question as computing sees it: the operation, its times, and the words that are left to match with a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, cached_property

from answerable.computing.operations import Operation, Token, tokens
from answerable.computing.vocabulary import words_of
from answerable.retrieval.asked_when import NamedTime, asked_when
from answerable.tables.words import meanings
from answerable.text.terms import fold, words

_SHORTEST_MONTH = 4
_IN = {"es": "en", "pt": "em"}
_INNER = re.compile(r"(?<=\w )\w{2,}")


@dataclass(frozen=True)
class Asking:
    """A question that asks for something to be computed. `folded` is its text in lower case without accents."""

    question: str
    folded: str
    language: str
    operation: Operation
    now: datetime

    @cached_property
    def tokens(self) -> list[Token]:
        """The words that don't belong to the operation, its limits, or those that only help to ask."""
        limits = [limit.span for limit in self.operation.limits]
        return tokens(self.folded, [*self.operation.spans, *limits])

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the question."""
        return frozenset(words(self.folded))

    @cached_property
    def names(self) -> frozenset[str]:
        """The words with a capital letter that don't begin the question."""
        return frozenset(fold(match[0].lower()) for match in _INNER.finditer(self.question) if match[0][0].isupper())

    @cached_property
    def is_negative(self) -> bool:
        """Whether the question asks for what isn't so ("who hasn't paid")."""
        negations = words_of("words", "negations")
        # In Portuguese, "no" is "in the".
        return not self.words.isdisjoint(negations - {"no"} if self.language == "pt" else negations)

    def has_any(self, *names: str) -> bool:
        """Return whether the question has a word of one of these lists of `[words]`."""
        return any(not self.words.isdisjoint(words_of("words", name)) for name in names)

    def times(self, first: date, last: date) -> list[NamedTime]:
        """Return the times that the question names; `first` and `last` are the days of the rows."""
        told = _of_a_month().sub(_IN[self.language], self.folded) if self.language in _IN else self.folded
        return asked_when(told, self.now, (first, last), self.language, is_past=True)


@cache
def _of_a_month() -> re.Pattern[str]:
    """Return the pattern of "de" in "la limpieza de agosto", which names a time where rows have days."""
    months = (month for month in meanings("values", "months") if len(month) >= _SHORTEST_MONTH)
    return re.compile(rf"(?<!\d\s)\bde(?=\s(?:{'|'.join(months)})\b)")
