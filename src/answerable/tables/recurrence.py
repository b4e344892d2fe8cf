"""Rules of repeated events (RFC 5545) as text, `every 2 weeks on Monday, 10 times`, and the times that it means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import MAXYEAR, datetime, timedelta
from itertools import islice
from typing import NamedTuple

MONTHS = "January February March April May June July August September October November December".split()
_DAYS = {day[:2].upper(): day for day in "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()}
_WORKDAYS = "MO,TU,WE,TH,FR"
_UNITS = {unit: f"{unit}ly".upper() for unit in "second minute hour week month year".split()} | {"day": "DAILY"}
_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last", -2: "second to last"}
_DAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_TOLD = frozenset({"FREQ", "INTERVAL", "BYDAY", "BYSETPOS", "BYMONTHDAY", "BYMONTH", "UNTIL", "COUNT", "WKST", ""})
_MOST = 31  # days of a rule that are listed
_MOST_LEFT_OUT = 200  # days that are listed as exceptions


def recurrence(rule: str, left_out: Sequence[str] = (), until: str = "", day: int = -1) -> str:
    """Return a rule as `every 2 weeks on Monday and Friday, until 2024-12-31, 10 times, except 2024-05-01 19:00`.

    `until` is the day of UNTIL, `day` the weekday (0 is Monday) on which an event begins, and so is repeated.
    """
    parts = {
        name.strip(): value.strip() for piece in rule.upper().split(";") for name, _, value in [piece.partition("=")]
    }
    unit = next((unit for unit, name in _UNITS.items() if name == parts.get("FREQ")), None)
    if unit is None:
        return ""
    interval = parts.get("INTERVAL", "1")[:6]
    text = f"every {unit}" if interval in ("1", "") else f"every {interval} {unit}s"
    text += _on(parts) or (f" on {list(_DAYS.values())[day]}" if unit == "week" and day >= 0 else "")
    is_odd = "BYSETPOS" in parts and not _number(parts["BYSETPOS"])
    told = _TOLD - {"BYSETPOS"} if is_odd else _TOLD
    ends = [f"{name}={value}"[:50] for name, value in parts.items() if name not in told]
    ends += [f"until {until}"] if until else []
    ends += [f"{parts['COUNT'][:6]} times"] if "COUNT" in parts else []
    more = [f"{len(left_out) - _MOST_LEFT_OUT} more"] if len(left_out) > _MOST_LEFT_OUT else []
    ends += [f"except {', '.join([*left_out[:_MOST_LEFT_OUT], *more])}"] if left_out else []
    return ", ".join([text, *ends])


def _on(parts: Mapping[str, str]) -> str:
    position = _number(parts.get("BYSETPOS", ""))
    numbers = [_of_month(number.strip()) for number in parts.get("BYMONTHDAY", "").split(",")[:_MOST] if number]
    found = list(_DAY.finditer(parts.get("BYDAY", "")[:200]))
    is_one = len(found) == 1 and not numbers
    days = [_day(match, position if is_one else 0) for match in found]
    days = ["weekdays"] if parts.get("BYDAY") == _WORKDAYS else days
    text = " if it is ".join(filter(None, (_joined(days), _joined(numbers))))
    if text and position and not is_one:
        text = f"the {_ordinal(position)} {'weekday' if text == 'weekdays' else f'of {text}'}"
    months = [
        MONTHS[number - 1] for each in parts.get("BYMONTH", "").split(",")[:12] if 1 <= (number := _number(each)) <= 12
    ]
    return (f" on {text}" if text else "") + (f" in {_joined(months)}" if months else "")


def _day(match: re.Match[str], position: int) -> str:
    place = int(match[1]) if match[1] else position
    return f"the {_ordinal(place)} {_DAYS[match[2]]}" if place else _DAYS[match[2]]


def _ordinal(place: int) -> str:
    return _ORDINALS.get(place, f"{place}.")


def _of_month(number: str) -> str:
    return "the last day" if number == "-1" else f"day {number[:3]}"


def _number(text: str) -> int:
    text = text.strip().removeprefix("+")
    return int(text) if re.fullmatch(r"-?\d{1,4}", text) else 0


def _joined(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


_TEXT = re.compile(
    r"every (?:(?P<interval>[1-9]\d{0,5}) )?(?P<unit>day|week|month|year)s?(?: on (?P<days>[^=]{1,1000}?))?"
    rf"(?: in (?P<months>(?:(?:, | and )?(?:{'|'.join(MONTHS)})){{1,12}}))?(?:, until (?P<until>\d{{4}}-\d\d-\d\d))?"
    r"(?:, (?P<count>\d{1,6}) times)?(?:, except (?P<left_out>[\d:, UTC-]+))?"
)
_PLACED = re.compile(rf"(?:the ([\w .-]+?) )?({'|'.join(_DAYS.values())})")
_LENGTHS = {"day": 1, "week": 7, "month": 28, "year": 365}  # days
_CYCLE = 400  # years after which each day has the same date and weekday again
_YEARS_AHEAD = 5  # of an event without an end, whose later days nobody asks for


class Times(NamedTuple):
    """When an event takes place, whether these are all times, and how many steps, such as weeks, were looked at."""

    days: list[datetime]
    is_all: bool
    steps: int


def times_of(text: str, start: datetime, now: datetime, most_steps: int) -> Times | None:
    """Return the times of a repeated event; None if the text doesn't say them, or if they take more steps.

    Of an event without an end, they are those until five years from now.
    """
    from dateutil import rrule as rules  # type: ignore[import-untyped]

    found = _TEXT.fullmatch(text)
    by = _by(found) if found else None
    if not found or by is None:
        return None
    interval, unit = int(found["interval"] or 1), found["unit"]
    count = int(found["count"]) if found["count"] else None
    try:
        end = datetime(max(now.year, start.year) + _YEARS_AHEAD, 1, 1)
        if found["until"]:
            end = min(end, datetime.fromisoformat(found["until"]) + timedelta(days=1, seconds=-1))
        steps = max((end - start).days // (_LENGTHS[unit] * interval), 0) + 1
        if steps > most_steps:
            return None
        # dateutil looks for a day that never comes, such as 31 February, until the last year that there is.
        ahead = (MAXYEAR - max(start, end).year) // _CYCLE * _CYCLE
        first, last = (day.replace(year=day.year + ahead) for day in (start, end))
        rule = list(rules.rrule(getattr(rules, _UNITS[unit]), first, interval, until=last, **by))
        steps = steps if rule else (datetime.max - first).days // (_LENGTHS[unit] * interval) + 1
        # An event takes place when it begins, even if its rule says otherwise.
        days = list(islice(dict.fromkeys([start, *(day.replace(year=day.year - ahead) for day in rule)]), count))
    except (ValueError, OverflowError):
        return None
    left_out = set((found["left_out"] or "").replace(" UTC", "").split(", "))
    is_all = bool(found["until"]) or len(days) == count
    days = [day for day in days if left_out.isdisjoint((f"{day:%Y-%m-%d}", f"{day:%Y-%m-%d %H:%M}"))]
    return Times(days, is_all, steps)


def _by(found: re.Match[str]) -> dict[str, object] | None:
    """Return the days and months of a rule as `rrule` takes them; None if they are written in no way that is known."""
    from dateutil import rrule as rules

    text = found["days"] or ""
    months = [MONTHS.index(name) + 1 for name in re.findall(r"\w+", found["months"] or "") if name in MONTHS]
    by: dict[str, object] = {"bymonth": months} if months else {}
    places = {word: place for place, word in _ORDINALS.items()}
    chosen = re.fullmatch(r"the ([\w -]+) (?:weekday|of (.*))", text)
    if chosen and chosen[1] in places:
        by["bysetpos"] = places[chosen[1]]
        text = chosen[2] or "weekdays"
    if numbers := re.findall(r"\bday (-?\d+)|the last (day)", text):
        by["bymonthday"] = [int(number) if number else -1 for number, _ in numbers]
    if found_days := _PLACED.findall(text.replace("weekdays", ", ".join(list(_DAYS.values())[:5]))):
        if " of " in text or any(place and place not in places for place, _ in found_days):
            return None
        by["byweekday"] = [
            rules.weekday(list(_DAYS.values()).index(day), places.get(place)) for place, day in found_days
        ]
    return by if not text or numbers or found_days else None
