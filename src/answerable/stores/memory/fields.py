"""Index of chunks by field value: a filter is evaluated by set operations instead of testing every chunk."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from answerable.filters import AllOf, AnyOf, Between, Exists, Filter, Not, OneOf, comparable, field_values

# A value, and whether it is a bool: in Python True == 1, in a filter it isn't.
_Key = tuple[bool, Any]


class FieldIndex:
    """Numbers of chunks by field and value. Filters give the same result as `filters.matches`."""

    def __init__(self) -> None:
        self._all: set[int] = set()
        self._fields: dict[str, dict[_Key, set[int]]] = {}
        self._sorted: dict[tuple[str, bool], list[tuple[Any, set[int]]]] = {}

    def add(self, number: int, fields: Mapping[str, Any]) -> None:
        """Add a chunk."""
        self._all.add(number)
        for field, key in _keys(fields):
            self._fields.setdefault(field, {}).setdefault(key, set()).add(number)
        self._sorted.clear()

    def remove(self, number: int, fields: Mapping[str, Any]) -> None:
        """Remove a chunk that was added with these fields."""
        self._all.discard(number)
        for field, key in _keys(fields):
            self._fields[field][key].remove(number)
            if not self._fields[field][key]:
                del self._fields[field][key]
        self._sorted.clear()

    def passing(self, filter: Filter) -> Collection[int]:
        """Return the numbers of the chunks that pass a filter."""
        match filter:
            case OneOf(field, values):
                by_value = self._fields.get(field, {})
                return _union(by_value.get(_key(value), ()) for value in values)
            case Exists(field):
                return _union(self._fields.get(field, {}).values())
            case Between():
                return self._between(filter)
            case AnyOf(filters):
                return _union(map(self.passing, filters))
            case AllOf(filters):
                passed: Collection[int] = self._all
                for inner in filters:
                    allowed = self.passing(inner)
                    if allowed is not self._all:
                        passed = self._all.intersection(passed, allowed)
                return passed
            case Not(inner):
                excluded = self.passing(inner)
                return self._all.difference(excluded) if excluded else self._all

    def _between(self, range: Between) -> Collection[int]:
        bounds = [bound for bound in (range.gt, range.gte, range.lt, range.lte) if bound is not None]
        are_moments = {isinstance(bound, datetime) for bound in bounds}
        if len(are_moments) != 1:
            return set() if bounds else self.passing(Exists(range.field))
        values = self._comparable(range.field, are_moments.pop())
        first, last = 0, len(values)
        if range.gt is not None or range.gte is not None:
            cut = bisect_right if range.gt is not None else bisect_left
            first = cut(values, range.gt if range.gt is not None else range.gte, key=lambda each: each[0])
        if range.lt is not None or range.lte is not None:
            cut = bisect_left if range.lt is not None else bisect_right
            last = cut(values, range.lt if range.lt is not None else range.lte, key=lambda each: each[0])
        return _union(numbers for _, numbers in values[first:last])

    def _comparable(self, field: str, are_moments: bool) -> list[tuple[Any, set[int]]]:
        """Return a field's numbers, or its dates if `are_moments`, in ascending order, each with its chunks."""
        if (field, are_moments) not in self._sorted:
            found = ((comparable(value), numbers) for (_, value), numbers in self._fields.get(field, {}).items())
            wanted = [each for each in found if each[0] is not None and isinstance(each[0], datetime) == are_moments]
            self._sorted[field, are_moments] = sorted(wanted, key=lambda each: each[0])
        return self._sorted[field, are_moments]


def _keys(fields: Mapping[str, Any]) -> set[tuple[str, _Key]]:
    return {(field, _key(value)) for field in fields for value in field_values(fields, field)}


def _key(value: Any) -> _Key:
    return type(value) is bool, value


def _union(found: Iterable[Collection[int]]) -> set[int]:
    return set(chain.from_iterable(found))
