"""Times in a question ("in March", "ayer", "entre 3 e 5 de maio de 2023") → the periods to search.

Only the time at which something was said narrows the search, not a time that was talked about ("para el lunes", "the
meeting of 12 May"). A month without a year is that month of every year of the documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from answerable.retrieval.time_grammar import Grammar, Role, grammar_of
from answerable.retrieval.times import Period, Time, times_in
from answerable.text.word_lists import LANGUAGES

BEFORE = 40
"""How many characters before a time are looked at for words that belong to it."""


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time in a question, named by `question[start:end]`; the ends of periods are exclusive."""

    start: int
    end: int
    periods: tuple[Period, ...]


def asked_when(
    folded: str, now: datetime, span: tuple[date, date], language: str = "", is_past: bool | None = None
) -> list[NamedTime]:
    """Return the times that narrow a question, in order; `folded` is its text in lower case without accents.

    `span` is the first and the last day of the documents. `language` is tried first, then the others. `is_past` says
    whether days without a year lie in the past; by default a verb in the question does.
    """
    years = range(span[0].year, span[1].year + 1)
    for known in sorted(LANGUAGES, key=lambda one: one != language):
        grammar = grammar_of(known)
        if named := list(_named(times_in(folded, grammar, now, years), folded, grammar, now, is_past)):
            return named
    return []


def _named(
    times: Sequence[Time], folded: str, grammar: Grammar, now: datetime, is_past: bool | None
) -> Iterator[NamedTime]:
    """Apply roles ("since") and ranges ("from … to"); drop times that were only talked about."""
    if is_past is None:
        is_past = bool(grammar.past.search(folded))
    index = 0
    while index < len(times):
        start, role = role_of(times[index], folded, grammar)
        needs_past, needs_role = times[index].needs_past, times[index].needs_role
        end, periods = times[index].end, times[index].periods
        index += 1
        while index < len(times) and (link := grammar.link.fullmatch(folded, end, times[index].start)):
            following = times[index]
            index += 1
            end, needs_past = following.end, needs_past and following.needs_past
            if link["range"] or role is Role.BETWEEN:
                periods = _ranges(periods, following.periods)
                role = Role.FOR if role is Role.FOR else Role.AT
            else:
                periods += following.periods
        if (role is not None or not needs_role) and (is_past or not needs_past):
            periods = _in_role(role or Role.AT, periods, now)
            if periods:
                yield NamedTime(start, end, periods)


def role_of(time: Time, folded: str, grammar: Grammar) -> tuple[int, Role | None]:
    """Return where the words that belong to a time begin, and the role that they give it ("since", "before")."""
    start = time.start
    while start > time.start - BEFORE and (neutral := _ends(grammar.neutral, folded, start)):
        start = neutral.start()
    found = _ends(grammar.role, folded, start)
    if found is None:
        return start, None
    role = grammar.roles[found[1]]
    if role is Role.OF and (time.is_range or _ends(grammar.said, folded, found.start())):
        role = Role.AT
    return found.start(), role


def _ends(pattern: re.Pattern[str], folded: str, end: int) -> re.Match[str] | None:
    """Match a pattern that ends at `end`; searched for from the beginning, each time would cost as much as the text."""
    return pattern.search(folded, max(end - BEFORE, 0), end)


def _ranges(firsts: Sequence[Period], lasts: Sequence[Period]) -> tuple[Period, ...]:
    """Return the ranges from each of `lasts` back to the nearest of `firsts` before it."""
    pairs = [(max((first for first in firsts if first[0] <= last[0]), default=None), last) for last in lasts]
    return tuple((first[0], last[1]) for first, last in pairs if first)


def _in_role(role: Role, periods: Sequence[Period], now: datetime) -> tuple[Period, ...]:
    if role in (Role.AT, Role.BETWEEN):
        return tuple(periods)
    # "Since March" means the most recent March.
    begun = [period for period in periods if period[0] <= now]
    if not begun:
        return ()
    start, end = max(begun)
    match role:
        case Role.SINCE:
            return ((start, datetime.max),)
        case Role.AFTER:
            return ((end, datetime.max),)
        case Role.UNTIL:
            return ((datetime.min, end),)
        case Role.BEFORE:
            return ((datetime.min, start),)
    return ()
