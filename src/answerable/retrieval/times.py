"""Times in a text ("3 May 2023", "hace dos semanas", "março") → periods, by the words of one language."""

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
class Time:
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


@dataclass(frozen=True, slots=True)
class Grammar:
    """The words of one language as patterns of their times, and of what stands before and between them."""

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
def grammar_of(language: str) -> Grammar:
    """The patterns of a language of TIME_WORDS."""
    words = TIME_WORDS[language]
    before, after = words.gone

    def filled(pattern: str) -> str:
        pattern = pattern.replace("MONTH", _any_of(words.months)).replace("WEEKDAY", _any_of(words.weekdays))
        pattern = pattern.replace("NUMBER", rf"(?P<number>\d{{1,3}}|{_any_of(words.numbers)})")
        return pattern.replace("UNIT", f"(?P<unit>{_any_of(words.units)})")

    def whole(pattern: str) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w/.-])(?:{filled(pattern)})(?![\w/]|-\w)")

    roles_at = _any_of(word for word, role in words.roles.items() if role is Role.AT)
    return Grammar(
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


def times_in(folded: str, grammar: Grammar, now: datetime, years: Sequence[int]) -> list[Time]:
    """Times in order; where two overlap, the one that says more."""
    kept: list[Time] = []
    for time in _candidates(folded, grammar, now, years):
        if not any(time.start < other.end and other.start < time.end for other in kept):
            kept.append(time)
    return sorted(kept, key=lambda time: time.start)


def _candidates(folded: str, grammar: Grammar, now: datetime, years: Sequence[int]) -> Iterator[Time]:
    words, today = grammar.words, now.date()
    for pattern in grammar.dates:
        for match in pattern.finditer(folded):
            yield from _dated(match, words, years)
    for unit, count, pattern in grammar.relative:
        for match in pattern.finditer(folded):
            yield Time(*match.span(), (_ago(today, unit, count),))
    for is_last, patterns in ((False, grammar.ago), (True, grammar.last)):
        for match in (match for pattern in patterns for match in pattern.finditer(folded)):
            unit = words.units[match["unit"]]
            count = words.numbers.get(match["number"]) or int(match["number"])
            if count <= _LONGEST_AGO:
                period = _ago(today, unit, count)
                yield Time(*match.span(), ((period[0], now) if is_last else period,))
    for match in grammar.month.finditer(folded):
        month, is_gone = words.months[match["month"]], bool(match["before"] or match["after"])
        if is_gone:
            year = today.year - (month >= today.month)
            yield Time(*match.span(), (_month(year, month),))
        else:
            yield Time(*match.span(), tuple(_month(year, month) for year in years), needs_past=True, needs_role=True)
    for match in grammar.weekday.finditer(folded):
        is_gone = bool(match["before"] or match["after"])
        back = (today.weekday() - words.weekdays[match["weekday"]] - 1) % 7 + 1
        yield Time(*match.span(), (_days(today - timedelta(back)),), needs_past=not is_gone)


def _dated(match: re.Match[str], words: TimeWords, years: Sequence[int]) -> Iterator[Time]:
    """A date with at least a year, or a day and a month."""
    groups = match.groupdict()
    start, day_text, month_text, year_text = match.start(), groups.get("day"), groups.get("month"), groups.get("year")
    if year_text:
        year = int(year_text) + (2000 if len(year_text) == 2 else 0)
    if not month_text:
        if year in years:
            yield Time(start, match.end(), (_period(date(year, 1, 1), date(year, 12, 31)),), needs_role=True)
        return
    month = words.months.get(month_text) or int(month_text)
    if not day_text:
        yield Time(start, match.end(), (_month(year, month),))
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
        yield Time(start, match.end(), tuple(periods), needs_past=not year_text, is_range=first != day)


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
