"""Dates and times as an app's interface writes them: `1/5/2024 2:03 PM`, `05.01.2024 14:03`, `Jan 05, 2024 2:03 PM`.

Whether the day or the month comes first is decided by all dates of a file, as for WhatsApp.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, time, timedelta

from answerable.sources.whatsapp.dates import DateOrder, DateText, decide_order, parse_clock, parse_date, resolve

_STAMP = re.compile(
    r"\s{0,3}(?P<date>\d{1,4}[-/. ]{1,2}\d{1,2}[-/. ]{1,2}\d{1,4})\.?,?\s{1,3}"
    r"(?P<clock>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)(?P<half>\s?[\w. ]{0,8})\s{0,3}"
)
_SHORT_DATE = re.compile(r"(?P<day>\d{1,2})[-. ](?P<month>[A-Za-z]{3})[-. ](?P<year>\d{2,4})\s(?P<rest>.{4,12})")
_NAMED = re.compile(
    r"(?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2}), (?P<year>\d{4}) {1,2}(?P<clock>\d{1,2}:[\d:]{2,5} [AP]M)"
)
_CLOCK = re.compile(r"\s{0,9}(\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)(.{0,10})")
_MONTHS = {name: number for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}


def read_stamps(stamps: Sequence[str]) -> list[datetime | None]:
    """Return the times that all stamps of a file mean; None where one isn't a time."""
    split = [_numbers(stamp) for stamp in stamps]
    order = decide_order([(found[0], 1) for found in split if found], [DateOrder.MDY, DateOrder.DMY, DateOrder.YMD])
    return [_joined(found, order) if found else named_moment(stamp) for found, stamp in zip(split, stamps, strict=True)]


def named_moment(stamp: str) -> datetime | None:
    """Return the time of a stamp with the month's English name."""
    if short := _SHORT_DATE.fullmatch(stamp.strip()):
        clock = clock_of(short["rest"])
        year = int(short["year"]) + (2000 if len(short["year"]) == 2 else 0)
        return _made(year, short["month"].title(), int(short["day"]), clock)
    found = _NAMED.match(stamp.strip())
    if not found:
        return None
    return _made(int(found["year"]), found["month"], int(found["day"]), clock_of(found["clock"]))


def _made(year: int, month: str, day: int, clock: timedelta | None) -> datetime | None:
    try:
        return None if clock is None else datetime(year, _MONTHS[month], day) + clock
    except (ValueError, KeyError, OverflowError):
        return None


def clock_of(text: str) -> timedelta | None:
    """Return the time of day in `2:03 PM` or `14:03`, since midnight."""
    found = _CLOCK.match(text)
    clock = parse_clock("", found[1], found[2]) if found else None
    return timedelta(seconds=clock.seconds) if clock else None


def _numbers(stamp: str) -> tuple[DateText, timedelta] | None:
    found = _STAMP.fullmatch(stamp)
    if not found:
        return None
    date = parse_date(found["date"])
    clock = clock_of(found["clock"] + found["half"])
    return (date, clock) if date and clock is not None else None


def _joined(found: tuple[DateText, timedelta], order: DateOrder) -> datetime | None:
    day = resolve(found[0], order)
    return datetime.combine(day, time()) + found[1] if day else None
