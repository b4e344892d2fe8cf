"""Read the date and time in the header of a WhatsApp message, in every language and calendar that phones offer.

A date is three numbers; `decide_order` determines from the whole file which number is the day and which the month.
Buddhist, Persian and Islamic years are converted. Islamic dates depend on the sighting of the moon, so a converted
Islamic date may be off by a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from answerable.datatypes import Name
from answerable.text.whatsapp_words import BLANKS, MARKS, WORDS


class DateOrder(Name):
    """The order of day, month and year."""

    DMY = "dmy"
    MDY = "mdy"
    YMD = "ymd"


class DateText(NamedTuple):
    """The three numbers of a date as written. `year_at` is the index of the year if it has four digits."""

    numbers: tuple[int, int, int]
    year_at: int | None
    first_is_padded: bool
    separator: str


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day. `half` is "am", "pm" or ""; `has_unknown_words`: unknown words are around it."""

    time: time
    parts: int
    half: str
    has_unknown_words: bool


_NUMBERS = re.compile(r"\d+")
_NOISE = re.compile(f"[{MARKS}{BLANKS}.,'’‘()،、・]+")
_BETWEEN_WORDS = re.compile(f"[{BLANKS},،、]+|(?<=[日号일])")
_SEPARATOR_PAIRS = {"年月": "年", "년월": "년"}
# Words for the halves of the day, in lower case, without dots and blanks. The languages are those of Unicode's CLDR.
_HALVES = dict.fromkeys(map(str.casefold, WORDS["morning"]), "am")
_HALVES |= dict.fromkeys(map(str.casefold, WORDS["afternoon"]), "pm")
# Words around a time that don't change it: "13.6.2018 klo 21.25", "13.06.18 um 21:25 Uhr".
_NEUTRAL = frozenset(map(str.casefold, WORDS["around_time"])) | {""}


def parse_date(text: str) -> DateText | None:
    """Return the three numbers of a date, or None if they can't be one."""
    numbers = _NUMBERS.findall(text)
    separators = [_NOISE.sub("", part) or "." for part in _NUMBERS.split(text)[1:3]]
    separator = separators[0] if separators[0] == separators[1] else _SEPARATOR_PAIRS.get("".join(separators))
    lengths = [len(number) for number in numbers]
    if separator is None or 3 in lengths or lengths.count(4) > 1:
        return None
    year_at = lengths.index(4) if 4 in lengths else None
    first, second, third = (int(number) for number in numbers)
    return DateText((first, second, third), year_at, lengths[0] == 2, separator)


def parse_clock(before: str, text: str, after: str) -> Clock | None:
    """Parse a time of day and the words around it; None if there is no such time."""
    numbers = [int(number) for number in _NUMBERS.findall(text)]
    hour, minute, second = (*numbers, 0)[:3]
    if hour > 24 or minute > 59 or second > 59:
        return None
    half, has_unknown_words = _read_words(_NUMBERS.split(text)[0] + before, after)
    if half == "noon":
        hour, half = (hour if hour >= 11 else hour + 12), "pm"
    elif half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    return Clock(time(hour % 24, minute, second), len(numbers), half, has_unknown_words)


@lru_cache(maxsize=4096)
def _read_words(*texts: str) -> tuple[str, bool]:
    """Return "am", "pm", "noon" or "", and whether there are also unknown words."""
    half, has_unknown_words = "", False
    for text in texts:
        words = [word for word in _BETWEEN_WORDS.split(text) if word]
        while words:
            # "p. m." counts as one word: the longest run of words that is known wins.
            for count in range(len(words), 0, -1):
                joined = _NOISE.sub("", "".join(words[:count])).casefold()
                if joined in _HALVES and not half:
                    half = "noon" if joined == "中午" else _HALVES[joined]
                elif joined not in _NEUTRAL:
                    continue
                del words[:count]
                break
            else:
                has_unknown_words = True
                del words[0]
    return half, has_unknown_words


def resolve(text: DateText, order: DateOrder) -> date | None:
    """Return the date that the numbers mean in this order, or None if there is no such date."""
    first, second, third = text.numbers
    if text.year_at == 0:
        # Kazakh writes year-day-month, which only a day above 12 reveals.
        month, day = (third, second) if second > 12 and third <= 12 else (second, third)
        return _calendar_date(first, month, day)
    if text.year_at == 1:
        day, month = (third, first) if order is DateOrder.MDY else (first, third)
        return _calendar_date(second, month, day)
    if text.year_at is None and order is DateOrder.YMD:
        return _calendar_date(first, second, third) if text.first_is_padded else None
    day, month = (second, first) if order is DateOrder.MDY else (first, second)
    return _calendar_date(third, month, day)


def _calendar_date(year: int, month: int, day: int) -> date | None:
    if year < 100:
        year += 2000 if year < 70 else 1900
    elif 2500 < year < 2700:
        year -= 543  # Buddhist years; WhatsApp has existed since 2552
    elif 1387 < year < 1430:
        return _from_persian(year, month, day)
    elif 1430 <= year < 1500:
        return _from_islamic(year, month, day)
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _from_persian(year: int, month: int, day: int) -> date | None:
    """Convert a Persian date: six months of 31 days, then of 30; 33-year leap cycles; exact for 1244 to 1500."""
    leap = (year * 8 + 29) % 33 < 8
    last_day = 31 if month <= 6 else 30 if month < 12 or leap else 29
    if not (1 <= month <= 12 and 1 <= day <= last_day):
        return None
    leaps = sum((earlier * 8 + 29) % 33 < 8 for earlier in range(1387, year))
    days = (year - 1387) * 365 + leaps + 30 * (month - 1) + min(month - 1, 6) + day - 1
    return date(2008, 3, 20) + timedelta(days=days)


def _from_islamic(year: int, month: int, day: int) -> date | None:
    """Convert a date of the tabular Islamic calendar, which has eleven leap days in thirty years."""
    if not (1 <= month <= 12 and 1 <= day <= 30):
        return None
    days = day + (59 * (month - 1) + 1) // 2 + (year - 1) * 354 + (3 + 11 * year) // 30
    return date.fromordinal(days + 227_014)


def decide_order(runs: Sequence[tuple[DateText, int]], preferred: Iterable[DateOrder]) -> DateOrder:
    """Return the order with the fewest impossible dates, then with the fewest steps back in time.

    `runs` are the dates in the order of the file, each with the number of consecutive messages on it; if several orders
    are equally good, the first one in `preferred` wins.
    """

    def score(order: DateOrder) -> tuple[int, int]:
        days = [(resolve(text, order), count) for text, count in runs]
        known = [day for day, _ in days if day]
        return sum(count for day, count in days if not day), sum(after < before for before, after in pairwise(known))

    return min(preferred, key=score)
