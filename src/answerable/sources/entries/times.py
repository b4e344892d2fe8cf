"""Times, durations and recurrence of calendars → text that people read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from answerable.sources.entries.lines import Property

_STAMP = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):?(\d\d):?(\d\d)?(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
_DURATION = re.compile(r"([+-]?)P(?:(\d{1,5})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,5})M)?(?:(\d{1,6})S)?)?")
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
_UNITS = {
    "SECONDLY": "second",
    "MINUTELY": "minute",
    "HOURLY": "hour",
    "DAILY": "day",
    "WEEKLY": "week",
    "MONTHLY": "month",
    "YEARLY": "year",
}
_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last", -2: "second to last"}
_DAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_WORKDAYS = "MO,TU,WE,TH,FR"
_MOST = 31


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, or a time on it as it is written: local to the entry, or in UTC."""

    time: datetime
    is_day: bool
    zone: str = ""

    def __str__(self) -> str:
        """Return the moment as `2024-03-05 10:15`, without the time if it is a day."""
        if self.is_day:
            return self.time.date().isoformat()
        return f"{self.time.isoformat(' ', 'minutes')}{f' {self.zone}' if self.zone else ''}"


def read_moment(value: str) -> Moment | None:
    """Return the moment of a DATE or DATE-TIME."""
    stamp = _STAMP.fullmatch(value.strip())
    if stamp is None:
        return None
    year, month, day, hour, minute, second = (int(number or 0) for number in stamp.groups()[:6])
    try:
        time = datetime(year, month, day, hour, minute, min(second, 59))
    except ValueError:
        return None
    return Moment(time, stamp[4] is None, {"Z": "UTC"}.get(stamp[7] or "", stamp[7] or "") if stamp[4] else "")


def end_of(start: Moment | None, end: Moment | None, duration: str) -> Moment | None:
    """Return the end of an event; the last day of one that has no times, which writes the day after."""
    try:
        if end is None and start is not None and (length := _DURATION.fullmatch(duration.strip())):
            weeks, days, hours, minutes, seconds = (int(number or 0) for number in length.groups()[1:])
            lasts = timedelta(days=days, weeks=weeks, hours=hours, minutes=minutes, seconds=seconds)
            end = Moment(start.time + lasts, start.is_day, start.zone)
        if start and end and start.is_day and end.is_day:
            last = end.time - timedelta(days=1)
            return Moment(last, True) if last > start.time else None
    except OverflowError:
        return None
    return end


def recurrence(rule: str, left_out: list[Property]) -> str:
    """Return a rule as `every 2 weeks on Monday and Friday, until 2024-12-31, 10 times, except 2024-05-01`."""
    parts = {}
    for piece in rule.upper().split(";"):
        name, _, value = piece.partition("=")
        parts[name.strip()] = value.strip()
    unit = _UNITS.get(parts.get("FREQ", ""))
    if unit is None:
        return ""
    interval = parts.get("INTERVAL", "1")[:6]
    text = f"every {unit}" if interval in ("1", "") else f"every {interval} {unit}s"
    text += _on(parts, unit)
    until = read_moment(parts.get("UNTIL", ""))
    ends = [f"until {until.time.date()}"] if until else []
    ends += [f"{parts['COUNT'][:6]} times"] if "COUNT" in parts else []
    days = [str(day) for each in left_out for value in each.value.split(",")[:_MOST] if (day := read_moment(value))]
    ends += [f"except {', '.join(days[:_MOST])}"] if days else []
    return ", ".join([text, *ends])


def _on(parts: Mapping[str, str], unit: str) -> str:
    position = _number(parts.get("BYSETPOS", ""))
    days = [_day(match, position) for match in _DAY.finditer(parts.get("BYDAY", "")[:200])]
    if parts.get("BYDAY") == _WORKDAYS and not position:
        days = ["weekdays"]
    numbers = [_ordinal_of_month(number) for number in parts.get("BYMONTHDAY", "").split(",")[:_MOST] if number]
    text = f" on {_joined(days)}" if days else f" on {_joined(numbers)}" if numbers else ""
    months = [
        _MONTHS[number - 1] for each in parts.get("BYMONTH", "").split(",")[:12] if 1 <= (number := _number(each)) <= 12
    ]
    return text + (f" in {_joined(months)}" if months else "")


def _day(match: re.Match[str], position: int) -> str:
    place = int(match[1]) if match[1] else position
    return f"the {_ORDINALS.get(place, f'{place}.')} {_DAYS[match[2]]}" if place else _DAYS[match[2]]


def _ordinal_of_month(number: str) -> str:
    return "the last day" if number.strip() == "-1" else f"day {number.strip()[:3]}"


def _number(text: str) -> int:
    text = text.strip().removeprefix("+")
    return int(text) if re.fullmatch(r"-?\d{1,4}", text) else 0


def _joined(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def birthday(value: str) -> str:
    """Return a birthday, which may have no year, as `1985-03-05` or `5 March`."""
    if moment := read_moment(value):
        return moment.time.date().isoformat()
    without_year = re.fullmatch(r"--(\d\d)-?(\d\d)", value.strip())
    if without_year and 1 <= int(without_year[1]) <= 12:
        return f"{int(without_year[2])} {_MONTHS[int(without_year[1]) - 1]}"
    return value.strip()
