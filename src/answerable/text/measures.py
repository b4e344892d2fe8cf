"""Read what the numbers of a text measure: units, amounts that compare across units, times of the clock and days.

An amount is a reading like `s=5400`, so that an hour and a half, 1.5 h and 90 minutes share one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from answerable.text.claims import Claim, Kind, number_value
from answerable.text.terms import STOP_WORDS, fold, months, unit_sizes, units

LONGEST = 12
"""Digits of a number that is measured or added; a longer one is an identifier. A guess, not measured."""

_UNIT = re.compile(r"[\s-]{0,2}(?:de\s)?([^\W\d_]+[23²³]?|[%€$£¥]|[°º][CF])")
_UNITS = re.compile(r"[^\W\d_]{0,3}[$€£¥]|[^\W\d_]+[23²³]?|%|[°º][CF]")
_CURRENCY = re.compile(r"(?<!\w)([A-Z]{3}|[^\W\d_]{0,3}[$€£¥])\s?$")
_DAY = re.compile(
    r"(?<!\d)(?:(?P<year>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})|(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})(?:[-/.](?P<y>\d{4}|\d\d))?)(?!\d)"
)
_IN_DATE = re.compile(r"(?:st|nd|rd|th|[ºª°.,\s/-]|\b(?:de|of|the)\b){0,6}", re.IGNORECASE)
_BEFORE, _AFTER = re.compile(r"([^\W\d_]+)\s$"), re.compile(r"\s([^\W\d_]+)(?:\s[^\W\d_]+)?")
_AND = re.compile(r"\s?[^\W\d_]+(?:,?\s(?:and|y|e|con|com)\s|\s)?")
_POINTED = re.compile(r"(\d{1,2})\.([0-5]\d)")
_NUMERAL = re.compile(rf"-?\d{{1,{LONGEST}}}(?:\.\d{{1,{LONGEST}}})?")


@dataclass(frozen=True, slots=True)
class Day:
    """A date of a text: its claims, and the pairs of day and month that it may mean."""

    claims: tuple[Claim, ...]
    pairs: frozenset[tuple[int, int]]


def units_in(text: str) -> frozenset[str]:
    """Return the units that a text names anywhere, each by its first spelling."""
    return frozenset().union(*(units().get(fold(word.lower()), ()) for word in _UNITS.findall(text)))


def unit_of(text: str, claim: Claim) -> frozenset[str]:
    """Return the units that the words beside a number may mean; none if they are no units."""
    if any(value.endswith("%") for value in claim.values):
        return frozenset({"%"})
    if is_time(claim):
        return frozenset({"h"} if "hora" in text[claim.start : claim.end].lower() else ())
    before, after = _CURRENCY.search(text[: claim.start]), _UNIT.match(text, claim.end)
    for match in filter(None, (before, after)):
        if found := units().get(fold(match[1].lower())):
            return found
    return frozenset()


def is_time(claim: Claim) -> bool:
    """Return whether a claim is certainly a time of the clock."""
    return any(value.startswith("time:") for value in claim.values)


def decimals(claim: Claim) -> list[Decimal]:
    """Return the numbers that a claim may mean, without percent signs."""
    numbers = (value.rstrip("%") for value in claim.values)
    return [Decimal(number) for number in numbers if _NUMERAL.fullmatch(number)]


def in_context(text: str, claims: Iterable[Claim], language: str) -> list[Claim]:
    """Add to each number its amounts, and the times that a bare hour may mean ("from eight to ten")."""
    found = []
    for claim in claims:
        if claim.kind is Kind.NUMBER and not is_time(claim):
            added = {
                f"{basic}={number_value(format(number * size, 'f'))}"
                for unit in unit_of(text, claim)
                for basic, size in unit_sizes().get(unit, ())
                for number in decimals(claim)
            }
            if not unit_of(text, claim) and _is_hour(text, claim, language):
                hours = {int(number) for number in decimals(claim) if number in range(1, 13)}
                added |= {f"time:{60 * (hour + later) % 1440}" for hour in hours for later in (0, 12)}
                # "from 17.30 on"
                pointed = _POINTED.fullmatch(text, claim.start, claim.end)
                added |= {f"time:{60 * int(pointed[1]) + int(pointed[2])}"} if pointed else set()
            claim = replace(claim, values=claim.values | added) if added else claim
        found.append(claim)
    for at in range(len(found) - 1):
        if whole := _whole(text, found[at], found[at + 1]):
            found[at : at + 2] = (replace(each, values=each.values | whole) for each in found[at : at + 2])
    return found


def _whole(text: str, one: Claim, other: Claim) -> frozenset[str]:
    """Return the amounts of two numbers that are one: "2 hours and 31 minutes", "três euros e vinte"."""
    if not (one.kind is other.kind is Kind.NUMBER and _AND.fullmatch(text, one.end, other.start)):
        return frozenset()
    large, small = unit_of(text, one), unit_of(text, other)
    pairs = [("s", Decimal(3600), Decimal(60))] if "h" in large and "min" in small else []
    if small <= {"cent"}:
        pairs += [(unit, Decimal(1), Decimal("0.01")) for unit in large if unit in ("€", "£", "$", "r$")]
    return frozenset(
        f"{basic}={number_value(format(first * many + second * few, 'f'))}"
        for basic, many, few in pairs
        for first in decimals(one)
        for second in decimals(other)
        if second < 100  # cents; minutes are fewer
    )


def _is_hour(text: str, claim: Claim, language: str) -> bool:
    """Return whether a number may be an hour: it counts nothing that follows, and is no day of a month."""
    before, after = _BEFORE.search(text[: claim.start]), _AFTER.match(text, claim.end)
    stops = STOP_WORDS.get(language, STOP_WORDS["en"])
    if not before or before[1].lower() not in stops:
        return False
    following = after[0].lower().split() if after else []
    return not following or (following[0] in stops and not any(fold(word) in months() for word in following))


def days_in(text: str, claims: Sequence[Claim]) -> list[Day]:
    """Return the dates of a text, in words or numbers, whose claims are given."""
    numbers = [claim for claim in claims if claim.kind is Kind.NUMBER]
    found = []
    for month in (claim for claim in claims if claim.kind is Kind.MONTH):
        near = [each for each in numbers if each.end <= month.start and _IN_DATE.fullmatch(text, each.end, month.start)]
        reached = month.end
        for each in numbers:
            if each.start >= reached and _IN_DATE.fullmatch(text, reached, each.start):
                near.append(each)
                reached = each.end
        days = {
            int(value)
            for each in near
            for value in each.values
            if value.isdecimal() and len(value) < 3 and 0 < int(value) <= 31
        }
        pairs = {(day, int(value.partition(":")[2])) for day in days for value in month.values}
        found.append(Day((month, *near), frozenset(pairs)))
    for match in _DAY.finditer(text):
        inside = tuple(each for each in numbers if match.start() <= each.start and each.end <= match.end())
        one, other = int(match["d"] or match["a"]), int(match["m"] or match["b"])
        orders = ((one, other),) if match["d"] else ((one, other), (other, one))
        pairs = {(day, month) for day, month in orders if 0 < day <= 31 and 0 < month <= 12}
        if pairs and (match["year"] or match["y"]):
            found.append(Day(inside, frozenset(pairs)))
    return found


def values_of_day(day: date) -> frozenset[str]:
    """Return the values of the claims that name a day."""
    return frozenset({str(day.day), str(day.year), f"month:{day.month}", f"weekday:{day.isoweekday()}"})
