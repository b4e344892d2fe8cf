"""Filters on properties of chunks: `where={"type": "pdf", "date": {"gte": "2024-03-01"}}`.

    {"field": value}                    the field has this value
    {"field": [a, b]}                   the field has one of these values
    {"field": {"gte": a, "lt": b}}      the field is in a range of numbers or dates (gt, gte, lt, lte)
    {"field": {"exists": true}}         the field has any value
    {"and": […]}, {"or": […]}, {"not": …}

Fields: source, type, language, title, document_id, date, sender, page, heading, text_hash (of the passage's text, see
`text.indexed_text`), and any key of the document's metadata.
Strings are compared without case and accents. A chunk with several values (the senders of a chat window) matches if one
of the values does. An upper bound that is a date includes that day.
"""

from __future__ import annotations

import math
import reprlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, TypeAlias

from answerable.errors import FilterError

Scalar: TypeAlias = "str | int | float | bool"
Bound: TypeAlias = "float | datetime"

DEPTH = 50  # levels of nesting, which bounds the recursion; no filter written by a person has as many
# Characters: longer strings are not cached, and are not dates.
_REMEMBERED = 200

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80  # characters of a value in a message, about a line


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field has one of these values (strings normalised)."""

    field: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """The field has a value in a range; bounds are numbers or naive dates and times."""

    field: str
    gt: Bound | None = None
    gte: Bound | None = None
    lt: Bound | None = None
    lte: Bound | None = None


@dataclass(frozen=True, slots=True)
class Exists:
    """The field has a value."""

    field: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these filters match."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these filters matches."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """This filter does not match."""

    filter: Filter


Filter: TypeAlias = "OneOf | Between | Exists | AllOf | AnyOf | Not"


def parse_filter(where: Mapping[str, Any] | None) -> Filter | None:
    """Parse a filter; None for no filter. Raises FilterError."""
    return _parse(where, DEPTH)


def matches(filter: Filter | None, fields: Mapping[str, Any]) -> bool:
    """Return whether a chunk with these (normalised) fields passes."""
    match filter:
        case None:
            return True
        case OneOf(field, values):
            # In Python, True == 1. Distinguish them, as users and other stores do.
            wanted = {(type(value) is bool, value) for value in values}
            return any((type(value) is bool, value) in wanted for value in field_values(fields, field))
        case Between():
            return any(_lies_between(filter, value) for value in field_values(fields, filter.field))
        case Exists(field):
            return bool(field_values(fields, field))
        case AllOf(filters):
            return all(matches(inner, fields) for inner in filters)
        case AnyOf(filters):
            return any(matches(inner, fields) for inner in filters)
        case Not(inner):
            return not matches(inner, fields)


def normalize_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields as stores keep them: lists of normalised scalars, dates in ISO form. Drop all other values."""
    normal: dict[str, Any] = {}
    for name, value in fields.items():
        values = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
        kept = [normalize(item) for item in values if _is_scalar(item)]
        if kept:
            normal[name] = list(dict.fromkeys(kept))
    return normal


def normalize(value: Any) -> Scalar:
    """Return a value in comparable form: strings without case and accents, dates in ISO form."""
    if isinstance(value, datetime):
        return _naive(value).isoformat().lower()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        # Don't cache long strings: they would fill the memory, and are rarely compared twice.
        return _short_normal(value) if len(value) <= _REMEMBERED else _normal(value)
    if isinstance(value, (bool, int, float)):
        return value
    raise FilterError(f"A filter compares texts, numbers and dates, not {type(value).__name__}.")


def comparable(value: Any) -> Bound | None:
    """Return a normalised value for a range: a number, a naive date and time, or None if it cannot be compared."""
    if isinstance(value, str):
        return _parse_moment(value)
    return None if isinstance(value, bool) else _as_float(value)


def _normal(text: str) -> str:
    if text.isascii():
        return text.lower().strip()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark)).strip()


_short_normal = lru_cache(maxsize=10_000)(_normal)


def _parse(where: Any, depth: int) -> Filter | None:
    if not where:
        return None
    if not isinstance(where, Mapping):
        raise FilterError(f"A filter is a mapping such as {{'type': 'pdf'}}, not {type(where).__name__}.")
    if not depth:
        raise FilterError(f"The filter is nested more than {DEPTH} deep. Use fewer levels.")
    filters = tuple(_parse_entry(str(key), value, depth - 1) for key, value in where.items())
    return filters[0] if len(filters) == 1 else AllOf(filters)


def _parse_entry(key: str, value: Any, depth: int) -> Filter:
    if key in ("and", "or"):
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise FilterError(f"'{key}' takes a list of at least one filter.")
        filters = tuple(_parse_required(key, inner, depth) for inner in value)
        return AllOf(filters) if key == "and" else AnyOf(filters)
    if key == "not":
        return Not(_parse_required(key, value, depth))
    if isinstance(value, Mapping):
        return _parse_condition(key, value)
    values = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    if not values or not all(_is_scalar(item) for item in values):
        raise FilterError(f"{_shown(key)} takes a value, a list of values, or a range such as {{'gte': 3}}.")
    return OneOf(key, tuple(normalize(item) for item in values))


def _parse_required(key: str, value: Any, depth: int) -> Filter:
    filter = _parse(value, depth)
    if filter is None:
        raise FilterError(f"'{key}' contains an empty filter.")
    return filter


def _parse_condition(field: str, condition: Mapping[str, Any]) -> Filter:
    if set(condition) == {"exists"}:
        if not isinstance(condition["exists"], bool):
            raise FilterError(f"{_shown(field)} has exists: {_shown(condition['exists'])}; it must be true or false.")
        return Exists(field) if condition["exists"] else Not(Exists(field))
    unknown = set(condition) - {"gt", "gte", "lt", "lte"}
    if unknown or not condition:
        named = ", ".join(sorted(_shown(str(name))[1:-1] for name in unknown)[:3]) or "nothing"
        raise FilterError(
            f"{_shown(field)} has {named}; a condition takes gt, gte, lt, lte or exists, and any of several values "
            f"is a list: {{{_shown(field)}: [1, 2]}}."
        )
    if {"gt", "gte"} <= set(condition) or {"lt", "lte"} <= set(condition):
        raise FilterError(f"{_shown(field)} has two bounds on one side. Give one of gt and gte, one of lt and lte.")
    bounds: dict[str, Bound] = {}
    for name, value in condition.items():
        bound, is_day = _parse_bound(field, value)
        if is_day and isinstance(bound, datetime) and name in ("lte", "gt"):
            # Use the last moment of the day, since the calendar's last day has no next day.
            bound += timedelta(days=1, microseconds=-1)
        bounds[name] = bound
    if len({type(bound) for bound in bounds.values()}) > 1:
        raise FilterError(f"{_shown(field)} is compared with both a number and a date. Use one of the two.")
    return Between(field, **bounds)


def _parse_bound(field: str, value: Any) -> tuple[Bound, bool]:
    if isinstance(value, datetime):
        return _naive(value), False
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day), True
    if isinstance(value, (int, float)) and _is_scalar(value) and not isinstance(value, bool):
        return _as_float(value), False
    moment = _parse_moment(value) if isinstance(value, str) else None
    if moment is None:
        raise FilterError(
            f"{_shown(field)} is compared with {_shown(value)}, which is neither a number nor a date like 2024-03-31."
        )
    return moment, _is_day(value)


def _shown(value: object) -> str:
    """Return a value as it is shown in a message: short, printable, strings in quotation marks."""
    return _SHORT.repr(value)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text.strip().upper())
    except ValueError:
        return False
    return True


def _parse_moment(text: str) -> datetime | None:
    return _short_moment(text) if len(text) <= _REMEMBERED else None


@lru_cache(maxsize=10_000)
def _short_moment(text: str) -> datetime | None:
    try:
        return _naive(datetime.fromisoformat(text.strip().upper().replace("Z", "+00:00")))
    except ValueError:
        return None


def _naive(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        return moment
    try:
        return moment.astimezone(timezone.utc).replace(tzinfo=None)
    except OverflowError:
        # At the ends of the calendar, adding or subtracting hours overflows.
        return moment.replace(tzinfo=None)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_scalar(value: Any) -> bool:
    """Return whether a value can be compared: a string, a number (not NaN), a date."""
    return isinstance(value, (str, int, float, bool, date)) and value == value


def field_values(fields: Mapping[str, Any], field: str) -> Sequence[Any]:
    """Return the values of a field as a sequence, empty if it is missing."""
    value = fields.get(field)
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)


def _lies_between(range: Between, value: Any) -> bool:
    found = comparable(value)
    bounds = ((range.gt, 1, False), (range.gte, 1, True), (range.lt, -1, False), (range.lte, -1, True))
    for bound, direction, included in bounds:
        if bound is None:
            continue
        if found is None or isinstance(found, datetime) != isinstance(bound, datetime):
            return False
        distance = (found > bound) - (found < bound)  # type: ignore[operator]
        if distance * direction < 0 or (distance == 0 and not included):
            return False
    return True


def both(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the filter that passes only what passes both filters."""
    return {"and": [one, other]} if one else other
