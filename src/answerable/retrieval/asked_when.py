"""The time that a question names ("in March", "ayer", "entre 3 e 5 de maio de 2023") → periods.

A date that says when something was said narrows; one that says what it was about ("para el lunes", "the meeting of
12 May") doesn't. A month without its year is that month of every year that the documents span.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache

from answerable.retrieval.time_words import TIME_WORDS, Role, TimeWords

Period = tuple[datetime, datetime]

_ISO = r"(?P<year>[12]\d{3})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
_SLASHED = r"(?P<day>\d{1,2})(?P<sign>[/.-])(?P<month>\d{1,2})(?P=sign)(?P<year>[12]\d{3}|\d{2})"
_YEAR = r"(?P<year>(?:19|20)\d{2})"
_EARLIER_DAY = re.compile(r"(?<![\w/.-])(\d{1,2})(?:st|nd|rd|th)?(?: (?:and|to|y|e|al?|ao) (?:the |el |o )?| ?[-–] ?)$")
_LONGEST_AGO = 1200


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time in a question: `question[start:end]` are its words; the ends of periods are exclusive."""

    start: int
    end: int
    periods: tuple[Period, ...]


@dataclass(frozen=True, slots=True)
class _Time:
    """A time whose role isn't known yet.

    What `needs_past` (a weekday, a day or month of no year) may be in the future: a verb in the past says that it
    isn't. What `needs_role` (a month or a year alone) is a time only behind a word such as "in".
    """

    start: int
    end: int
    periods: tuple[Period, ...]
    needs_past: bool = False
    needs_role: bool = False
    is_range: bool = False


def asked_when(folded: str, now: datetime, span: tuple[date, date], language: str = "") -> list[NamedTime]:
    """The times that narrow a question, in order; `folded` is its text in lower case and without accents.

    `span` are the first and the last day of what is asked. The words of `language` are tried before those of others.
    """
    years = range(span[0].year, span[1].year + 1)
    for known in sorted(TIME_WORDS, key=lambda one: one != language):
        grammar = _grammar(known)
        if named := list(_named(_times(folded, grammar, now, years), folded, grammar, now)):
            return named
    return []


@dataclass(frozen=True, slots=True)
class _Grammar:
    words: TimeWords
    dates: tuple[re.Pattern[str], ...]
    relative: tuple[tuple[str, int, re.Pattern[str]], ...]
    ago: tuple[re.Pattern[str], ...]
    last: tuple[re.Pattern[str], ...]
    month: re.Pattern[str]
    weekday: re.Pattern[str]
    neutral: re.Pattern[str]
    role: re.Pattern[str]
    said: re.Pattern[str]
    link: re.Pattern[str]
    past: re.Pattern[str]


@lru_cache(maxsize=len(TIME_WORDS))
def _grammar(language: str) -> _Grammar:
    words = TIME_WORDS[language]
    before, after = words.gone

    def filled(pattern: str) -> str:
        pattern = pattern.replace("MONTH", _any_of(words.months)).replace("WEEKDAY", _any_of(words.weekdays))
        pattern = pattern.replace("NUMBER", rf"(?P<number>\d{{1,3}}|{_any_of(words.numbers)})")
        return pattern.replace("UNIT", f"(?P<unit>{_any_of(words.units)})")

    def whole(pattern: str) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w/.-])(?:{filled(pattern)})(?![\w/]|-\w)")

    roles_at = _any_of(word for word, role in words.roles.items() if role is Role.AT)
    return _Grammar(
        words,
        dates=tuple(map(whole, (_ISO, _SLASHED, *words.dates, _YEAR))),
        relative=tuple((name[:-1], int(name[-1]), whole(pattern)) for name, pattern in words.relative.items()),
        ago=tuple(map(whole, words.ago)),
        last=tuple(map(whole, words.last)),
        month=whole(f"(?P<before>{before})?(?P<month>MONTH)(?P<after>{after})?"),
        weekday=whole(f"(?P<before>{before})?(?P<weekday>WEEKDAY)(?P<after>{after})?"),
        neutral=re.compile(rf"(?<!\w)(?:{filled(words.neutral)})[\s,]+$"),
        role=re.compile(rf"(?<!\w)({_any_of(words.roles)})\s+$"),
        said=re.compile(rf"(?<!\w)(?:{words.said})\s+$"),
        link=re.compile(
            rf"\s*(?:(?P<range>(?:{words.range})\s|[-–])|(?:,|,?\s?(?:{words.also})\s))\s*"
            rf"(?:(?:{roles_at}|{filled(words.neutral)})\s+)*"
        ),
        past=re.compile(rf"(?<!\w)(?:{'|'.join(words.past.split())}|{words.said})(?!\w)"),
    )


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _times(folded: str, grammar: _Grammar, now: datetime, years: Sequence[int]) -> list[_Time]:
    """Times in order; where two overlap, the one that says more."""
    kept: list[_Time] = []
    for time in _candidates(folded, grammar, now, years):
        if not any(time.start < other.end and other.start < time.end for other in kept):
            kept.append(time)
    return sorted(kept, key=lambda time: time.start)


def _candidates(folded: str, grammar: _Grammar, now: datetime, years: Sequence[int]) -> Iterator[_Time]:
    words, today = grammar.words, now.date()
    for pattern in grammar.dates:
        for match in pattern.finditer(folded):
            yield from _dated(match, words, years)
    for unit, count, pattern in grammar.relative:
        for match in pattern.finditer(folded):
            yield _Time(*match.span(), (_ago(today, unit, count),))
    for is_last, patterns in ((False, grammar.ago), (True, grammar.last)):
        for match in (match for pattern in patterns for match in pattern.finditer(folded)):
            unit = words.units[match["unit"]]
            count = words.numbers.get(match["number"]) or int(match["number"])
            if count <= _LONGEST_AGO:
                period = _ago(today, unit, count)
                yield _Time(*match.span(), ((period[0], now) if is_last else period,))
    for match in grammar.month.finditer(folded):
        month, is_gone = words.months[match["month"]], bool(match["before"] or match["after"])
        if is_gone:
            year = today.year - (month >= today.month)
            yield _Time(*match.span(), (_month(year, month),))
        else:
            yield _Time(*match.span(), tuple(_month(year, month) for year in years), needs_past=True, needs_role=True)
    for match in grammar.weekday.finditer(folded):
        is_gone = bool(match["before"] or match["after"])
        back = (today.weekday() - words.weekdays[match["weekday"]] - 1) % 7 + 1
        yield _Time(*match.span(), (_days(today - timedelta(back)),), needs_past=not is_gone)


def _dated(match: re.Match[str], words: TimeWords, years: Sequence[int]) -> Iterator[_Time]:
    """A date with at least a year, or a day and a month."""
    groups = match.groupdict()
    start, day_text, month_text, year_text = match.start(), groups.get("day"), groups.get("month"), groups.get("year")
    if year_text:
        year = int(year_text) + (2000 if len(year_text) == 2 else 0)
    if not month_text:
        if year in years:
            yield _Time(start, match.end(), (_period(date(year, 1, 1), date(year, 12, 31)),), needs_role=True)
        return
    month = words.months.get(month_text) or int(month_text)
    if not day_text:
        yield _Time(start, match.end(), (_month(year, month),))
        return
    day = int(day_text) if day_text.isdigit() else 1
    first = day
    if earlier := _EARLIER_DAY.search(match.string, 0, start):
        first, start = min(int(earlier[1]), day), earlier.start()
    periods = []
    for one in [year] if year_text else years:
        try:
            periods.append(_period(date(one, month, first), date(one, month, day)))
        except ValueError:
            continue
    if periods:
        yield _Time(start, match.end(), tuple(periods), needs_past=not year_text, is_range=first != day)


def _ago(today: date, unit: str, count: int) -> Period:
    """The day, week (from Monday), month, year or weekend so many ago."""
    if unit == "day":
        return _days(today - timedelta(count))
    if unit == "week":
        monday = today - timedelta(today.weekday() + 7 * count)
        return _period(monday, monday + timedelta(6))
    if unit == "weekend":
        saturday = today - timedelta(today.weekday() + 2)
        return _period(saturday, saturday + timedelta(1))
    if unit == "year":
        return _period(date(max(today.year - count, 1), 1, 1), date(max(today.year - count, 1), 12, 31))
    months = max(12 * today.year + today.month - 1 - count, 12)
    return _month(months // 12, months % 12 + 1)


def _month(year: int, month: int) -> Period:
    following = datetime(year + month // 12, month % 12 + 1, 1)
    return datetime(year, month, 1), following


def _days(day: date) -> Period:
    return _period(day, day)


def _period(first: date, last: date) -> Period:
    return datetime(first.year, first.month, first.day), datetime(last.year, last.month, last.day) + timedelta(1)


def _named(times: Sequence[_Time], folded: str, grammar: _Grammar, now: datetime) -> Iterator[NamedTime]:
    """Times as the words before and between them make them; none where they say what something was about."""
    is_past = bool(grammar.past.search(folded))
    index = 0
    while index < len(times):
        start, role = _role(times[index], folded, grammar)
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


def _role(time: _Time, folded: str, grammar: _Grammar) -> tuple[int, Role | None]:
    """What the words before a time make of it, and where they begin."""
    start = time.start
    while neutral := grammar.neutral.search(folded, 0, start):
        start = neutral.start()
    found = grammar.role.search(folded, 0, start)
    if found is None:
        return start, None
    role = grammar.words.roles[found[1]]
    if role is Role.OF and (time.is_range or grammar.said.search(folded, 0, found.start())):
        role = Role.AT
    return found.start(), role


def _ranges(firsts: Sequence[Period], lasts: Sequence[Period]) -> tuple[Period, ...]:
    """Each last end with the first end that is the nearest before it."""
    pairs = [(max((first for first in firsts if first[0] <= last[0]), default=None), last) for last in lasts]
    return tuple((first[0], last[1]) for first, last in pairs if first)


def _in_role(role: Role, periods: Sequence[Period], now: datetime) -> tuple[Period, ...]:
    if role in (Role.AT, Role.BETWEEN):
        return tuple(periods)
    # "Since March" is since one March, the last that there was.
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
