"""Read a date, with or without a time of day, from a cell: ISO 8601, numbers in any order, names of months."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from answerable.tables.words import folded, meanings, word_set

LONGEST = 60
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})[:h.](?P<minute>\d\d)(?:[:.](?P<second>\d\d)(?:[.,]\d{1,9})?)? ?(?P<half>[ap]\.? ?m\.?)?"
    r"(?: ?(?:h|hs|hrs|horas|z|utc|gmt|[+-]\d\d:?\d\d))?\.?"
)
_NUMBERS = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})")
_YEAR_AND_MONTH = re.compile(r"(\d{4})[-/](\d{1,2})")
_MONTH_AND_YEAR = re.compile(r"(\d{1,2})[-/.](\d{4})")
_HOUR_ONLY = re.compile(r"(\d{1,2}) ?([ap])\.? ?m\.?")


class DayOrder(str, Enum):
    """Which of two numbers is the day, where the year comes last."""

    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"


class Moment(NamedTuple):
    """A time; `is_day`: without a time of day."""

    time: datetime
    is_day: bool


def read_date(text: str, order: DayOrder) -> Moment | None:
    """Return the time that a text denotes, or None if it isn't a date. Of a month alone it is the first day."""
    if len(text) > LONGEST or not any(map(str.isdigit, text)):
        return None
    return _read(text, order)


def decide_order(texts: Iterable[str], preferred: DayOrder) -> DayOrder:
    """Return the order in which most of a column's dates exist, then the one with fewer steps back in time."""
    pairs = []
    for text in texts:
        found = _NUMBERS.match(text.strip())
        if found and len(found[1]) <= 2:
            pairs.append((int(found[1]), int(found[3]), int(found[4])))
    if not pairs:
        return preferred
    day_first, month_first = sum(first > 12 for first, _, _ in pairs), sum(second > 12 for _, second, _ in pairs)
    if day_first != month_first:
        return DayOrder.DAY_FIRST if day_first > month_first else DayOrder.MONTH_FIRST
    by_day = _steps_back([(year, month, day) for day, month, year in pairs])
    by_month = _steps_back([(year, month, day) for month, day, year in pairs])
    if by_day == by_month:
        return preferred
    return DayOrder.DAY_FIRST if by_day < by_month else DayOrder.MONTH_FIRST


def _steps_back(days: list[tuple[int, int, int]]) -> int:
    # A list may run backwards in time, so that it is as orderly that way.
    back = sum(after < before for before, after in pairwise(days))
    forth = sum(after > before for before, after in pairwise(days))
    return min(back, forth)


@lru_cache(maxsize=4096)
def _read(text: str, order: DayOrder) -> Moment | None:
    text = folded(text)
    date = _NUMBERS.match(text)
    if date:
        day = _by_numbers(date, order)
        return _with_clock(day, text[date.end() :]) if day else None
    if whole := _YEAR_AND_MONTH.fullmatch(text):
        return _month(int(whole[1]), int(whole[2]))
    if whole := _MONTH_AND_YEAR.fullmatch(text):
        return _month(int(whole[2]), int(whole[1]))
    return _by_names(text)


def _month(year: int, month: int) -> Moment | None:
    first = _day(year, month, 1) if year >= 1000 else None
    return Moment(first, True) if first else None


def _by_numbers(found: re.Match[str], order: DayOrder) -> datetime | None:
    first, second, third = int(found[1]), int(found[3]), int(found[4])
    if len(found[1]) == 4:
        return _day(first, second, third) if len(found[4]) <= 2 else None
    if len(found[1]) > 2 or len(found[4]) not in (2, 4):
        return None
    day, month = (second, first) if order is DayOrder.MONTH_FIRST else (first, second)
    # One date against the order of the column: it can't be meant otherwise.
    if month > 12 >= day:
        day, month = month, day
    return _day(_full_year(third, len(found[4])), month, day)


def _full_year(year: int, digits: int) -> int:
    return year if digits == 4 else year + (2000 if year < 70 else 1900)


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day)
    except ValueError:
        return None


def _with_clock(day: datetime, rest: str) -> Moment | None:
    """Return the moment on a day that the text after the date tells; None if it tells something else."""
    rest = rest.strip(" ,;-()")
    if rest.startswith("t") and rest[1:2].isdigit():
        rest = rest[1:]
    while rest and not rest[0].isdigit():
        word, _, after = rest.partition(" ")
        if word.strip(",.") not in word_set("values", "days", "joints") | word_set("values", "days", "names"):
            return None
        rest = after.lstrip(" ,")
    if not rest:
        return Moment(day, True)
    clock = _CLOCK.fullmatch(rest)
    if clock is None:
        alone = _HOUR_ONLY.fullmatch(rest)
        return _at(day, int(alone[1]), 0, 0, alone[2]) if alone else None
    return _at(day, int(clock["hour"]), int(clock["minute"]), int(clock["second"] or 0), (clock["half"] or "")[:1])


def _at(day: datetime, hour: int, minute: int, second: int, half: str) -> Moment | None:
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return Moment(day.replace(hour=hour, minute=minute, second=second), False)


def _by_names(text: str) -> Moment | None:
    """Read "5 de marzo de 2024", "Tuesday, March 5th, 2024 10:30", "05-mar-24", "mar 2024"."""
    for pattern in _with_names():
        if found := pattern.match(text):
            month = meanings("values", "months").get(found["month"])
            number = found["year"]
            parts = found.groupdict()
            day = month and _day(_full_year(int(number), len(number)), int(month), int(parts.get("day") or 1))
            if day and (moment := _with_clock(day, text[found.end() :])):
                return moment
    return None


@cache
def _with_names() -> tuple[re.Pattern[str], ...]:
    joint = _one_of("joints")
    weekday = rf"(?:{_one_of('names')}\.?,? (?:{joint} ){{0,2}})?"
    day = rf"(?P<day>\d{{1,2}})(?:\.? ?{_one_of('ordinals')}\b)?"
    month = r"(?P<month>[a-z]{3,10})\b\.?"
    between = rf"(?:[ ./-]|,){{0,3}}(?:\b{joint}[ .]){{0,2}}"
    year = r"(?P<year>\d{4}|\d\d)(?![\d:])"
    month_alone = rf"{month}{between}(?P<year>\d{{4}})(?!\d)"
    orders = (f"{weekday}{day}{between}{month}{between}{year}", f"{weekday}{month}{between}{day}{between}{year}")
    return tuple(map(re.compile, (month_alone, *orders)))


def _one_of(name: str) -> str:
    return f"(?:{'|'.join(sorted(map(re.escape, word_set('values', 'days', name)), key=len, reverse=True))})"
