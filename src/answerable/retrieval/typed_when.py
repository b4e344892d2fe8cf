"""A time typed as a filter ("yesterday", "hace 3 días", "março", "2024-03") → its period."""

from __future__ import annotations

import re
from datetime import date, datetime

from answerable.retrieval.asked_when import role_of
from answerable.retrieval.narrowing import fold
from answerable.retrieval.time_grammar import Role, grammar_of
from answerable.retrieval.times import Period, times_in
from answerable.text.word_lists import LANGUAGES

_ISO_MONTH = re.compile(r"([12]\d{3})-(0?[1-9]|1[0-2])")
# Wider than any documents, and few enough to loop over.
_YEARS = range(1900, 2101)
# "Since March" and "in March" name March itself; "before March" does not.
_ROLES = (None, Role.AT, Role.SINCE, Role.UNTIL)


def typed_when(text: str, now: datetime) -> Period | None:
    """Return the period that the whole text names, its end exclusive, or None.

    A month, day or weekday without a year is the last one that has begun. Weeks begin on Monday.
    """
    plain = fold(" ".join(text.split()))
    if month := _ISO_MONTH.fullmatch(plain):
        year, number = int(month[1]), int(month[2])
        return datetime(year, number, 1), datetime(year + number // 12, number % 12 + 1, 1)
    for language in LANGUAGES:
        grammar = grammar_of(language)
        for time in times_in(plain, grammar, now, _YEARS):
            start, role = role_of(time, plain, grammar)
            if (start, time.end) == (0, len(plain)) and role in _ROLES:
                begun = [period for period in time.periods if period[0] <= now]
                return max(begun) if begun else min(time.periods)
    return None


def days_of(period: Period) -> tuple[date, date]:
    """Return the first and the last day of a period."""
    return period[0].date(), (period[1] - datetime.resolution).date()
