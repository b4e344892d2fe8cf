"""A question as computing sees it: the operation, its times, and the words that are left to match with a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, cached_property

from answerable.computing.operations import Operation, Token, tokens
from answerable.computing.vocabulary import words_of
from answerable.computing.word_forms import stems_of
from answerable.retrieval.asked_when import NamedTime, asked_when
from answerable.tables.words import meanings
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import words

_SHORTEST_MONTH = 4
_INNER = re.compile(r"(?<=\w )\w+")
_NOT = re.compile(r"\w+n['’]t\b")
_IN = {"es": "en", "pt": "em"}


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
        return [token for token in self._uncovered if token.word not in words_of("words", "neutral")]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words of the question."""
        return stems_of(self.words)

    @cached_property
    def helping(self) -> list[Token]:
        """Those that mostly only help to ask but may say something of a row ("done"): no articles or pronouns."""
        small = frozenset[str]().union(*STOP_WORDS.values()) | words_of("words", "negations")
        helping = words_of("words", "neutral") - small
        return [token for token in self._uncovered if token.word in helping]

    @cached_property
    def names(self) -> list[Token]:
        """Small words and letters with a capital, other than at the beginning: "in IT", "vitamin C"."""
        known = {token.start for token in self.tokens}
        found = (Token(self.folded[slice(*match.span())], *match.span()) for match in _INNER.finditer(self.question))
        return [token for token in found if token.start not in known and self.question[token.start].isupper()]

    @cached_property
    def _uncovered(self) -> list[Token]:
        limits = [limit.span for limit in self.operation.limits]
        return tokens(self.folded, [*self.operation.spans, *limits])

    @cached_property
    def negations(self) -> list[int]:
        """Where the words that deny are; in Portuguese, "no" is "in the"."""
        negations = words_of("words", "negations") - ({"no"} if self.language == "pt" else frozenset())
        found = [token.start for token in tokens(self.folded, ()) if token.word in negations]
        return sorted([*found, *(match.start() for match in _NOT.finditer(self.folded))])

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the question."""
        return frozenset(words(self.folded))

    @cached_property
    def is_negative(self) -> bool:
        """Whether the question asks for what isn't so ("who hasn't paid")."""
        return bool(self.negations)

    def has_any(self, *names: str) -> bool:
        """Return whether the question has a word of one of these lists of `[words]`."""
        return any(not self.words.isdisjoint(words_of("words", name)) for name in names)

    def times(self, first: date, last: date) -> list[NamedTime]:
        """Return the times that the question names; `first` and `last` are the days of the rows."""
        years = first.year, last.year
        if years not in self._times:
            self._times[years] = self._times_of(first, last)
        return self._times[years]

    @cached_property
    def _times(self) -> dict[tuple[int, int], list[NamedTime]]:
        return {}

    def _times_of(self, first: date, last: date) -> list[NamedTime]:
        told = _of_a_month().sub(_IN[self.language], self.folded) if self.language in _IN else self.folded
        return asked_when(told, self.now, (first, last), self.language, is_past=True)


@cache
def _of_a_month() -> re.Pattern[str]:
    """Return the pattern of "de" in "la limpieza de agosto", which names a time where rows have days."""
    months = (month for month in meanings("values", "months") if len(month) >= _SHORTEST_MONTH)
    return re.compile(rf"(?<!\d\s)\bde(?=\s(?:{'|'.join(months)})\b)")
