"""Compute with rows of a table: group and aggregate them. Sums are computed as exact decimals."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Context, Decimal
from enum import Enum
from typing import Any

from answerable.tables.table import Kind, Table, Value, folded
from answerable.tables.values import is_blank


class Aggregate(str, Enum):
    """What is computed from the rows."""

    COUNT = "count"
    DISTINCT = "distinct"
    SUM = "sum"
    MEAN = "average"
    MOST = "most"
    LEAST = "least"


class Period(str, Enum):
    """The periods by which times are grouped; the value is the `strftime` format of a period's name."""

    DAY = "%Y-%m-%d"
    MONTH = "%Y-%m"
    YEAR = "%Y"


@dataclass(frozen=True, slots=True)
class Group:
    """The rows with one group name, as indexes into `Table.rows` in order, and their figure for each unit.

    `name` is the most common spelling; for times, the day, month or year (2024-03). "" is for rows without a value.
    """

    name: str
    figures: Mapping[str, float]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """A figure for each unit ("" for none), and the rows that count towards it, as indexes into `Table.rows`.

    `figures` is empty if no row counts, and for MOST or LEAST of times: there the rows are the answer. With groups,
    only the groups have figures; they are ordered by their figures in the unit that most groups have, greatest first
    (for LEAST smallest first), equal groups in the order of the document.
    """

    figures: Mapping[str, float]
    rows: tuple[int, ...]
    groups: tuple[Group, ...] = ()


_EXACT = Context(prec=100)
"""Digits of a sum: more than the largest and the smallest number of a table have together."""


def compute(
    table: Table,
    rows: Sequence[int],
    aggregate: Aggregate,
    column: int = -1,
    group: int = -1,
    period: Period = Period.DAY,
    limit: int | None = None,
) -> Result:
    """Aggregate rows, given as indexes into `table.rows` in order.

    Only rows with a value in `column` count (-1: all). `group` is a column whose values are the group names (-1: none);
    times are grouped by `period`. MOST and LEAST take the rows with the greatest and the smallest number or time of
    `column`. `limit` is the largest number of groups; without `group`, the number of rows that these two take (None:
    one). Raises ValueError if SUM or MEAN has no column of quantities, MOST or LEAST no column of numbers or times, or
    DISTINCT no column.
    """
    _check(table, aggregate, column)
    by_name: dict[str, list[int]] = {}
    for row in rows:
        if _counts(table, row, aggregate, column):
            key = "" if group < 0 else _group_key(table.rows[row].values[group], period)
            by_name.setdefault(key, []).append(row)
    most = max(limit or 1, 1) if group < 0 else 1
    found: list[Group] = []
    for key, named in by_name.items():
        kept = _ranked(table, named, aggregate, column, most)
        found.append(Group(_name(table, key, kept, group), _figures(table, kept, aggregate, column), tuple(kept)))
    if group < 0:
        counts = aggregate in (Aggregate.COUNT, Aggregate.DISTINCT)
        return Result(found[0].figures, found[0].rows) if found else Result({"": 0.0} if counts else {}, ())
    # If several units are in equally many groups, the order follows the unit with the most rows in a single group.
    found.sort(key=lambda each: _most_of_a_unit(_by_unit(table, each.rows, aggregate, column)))
    shown = tuple(_sorted(found, aggregate is Aggregate.LEAST)[:limit])
    return Result({}, tuple(sorted(row for each in shown for row in each.rows)), shown)


def _check(table: Table, aggregate: Aggregate, column: int) -> None:
    of = None if column < 0 else table.columns[column]
    if aggregate in (Aggregate.SUM, Aggregate.MEAN) and not (of and of.kind is Kind.NUMBER and of.is_quantity):
        raise ValueError(f"{aggregate.value} takes a column of quantities")
    if aggregate in (Aggregate.MOST, Aggregate.LEAST) and (of is None or of.kind is Kind.TEXT):
        raise ValueError(f"{aggregate.value} takes a column of numbers or times")
    if aggregate is Aggregate.DISTINCT and of is None:
        raise ValueError("distinct takes a column")


def _is_measured(table: Table, aggregate: Aggregate, column: int) -> bool:
    """Return whether the numbers or times of a column are needed, rather than its texts."""
    return table.columns[column].kind is not Kind.TEXT and aggregate not in (Aggregate.COUNT, Aggregate.DISTINCT)


def _counts(table: Table, row: int, aggregate: Aggregate, column: int) -> bool:
    """Return whether a row has a value in the column; any row has if `column` is -1."""
    if column < 0:
        return True
    cell = table.rows[row].values[column]
    return _measure(cell) is not None if _is_measured(table, aggregate, column) else _key_of(cell.text) != ""


def _ranked(table: Table, rows: list[int], aggregate: Aggregate, column: int, most: int) -> list[int]:
    """Return, in order, the rows of a group that count: all, or those with the `most` greatest or smallest values.

    MOST and LEAST take rows separately for each unit, and take all rows whose values equal the last one taken.
    """
    if aggregate not in (Aggregate.MOST, Aggregate.LEAST):
        return rows
    kept: list[int] = []
    for same in _by_unit(table, rows, aggregate, column).values():
        ranks = sorted((_rank(table, row, column) for row in same), reverse=aggregate is Aggregate.MOST)
        last = ranks[min(most, len(ranks)) - 1]
        within = operator.ge if aggregate is Aggregate.MOST else operator.le
        kept += [row for row in same if within(_rank(table, row, column), last)]
    return sorted(kept)


def _figures(table: Table, rows: Sequence[int], aggregate: Aggregate, column: int) -> dict[str, float]:
    """Return a figure for each unit; the unit with the most rows comes first."""
    is_time = column >= 0 and table.columns[column].kind is Kind.DATE
    if is_time and aggregate in (Aggregate.MOST, Aggregate.LEAST):
        return {}
    units = _by_unit(table, rows, aggregate, column)
    in_order = sorted(units.items(), key=lambda each: (-len(each[1]), each[1][0]))
    return {unit: _figure(table, same, aggregate, column) for unit, same in in_order}


def _figure(table: Table, rows: Sequence[int], aggregate: Aggregate, column: int) -> float:
    if aggregate is Aggregate.COUNT or column < 0:
        return float(len(rows))
    cells = [table.rows[row].values[column] for row in rows]
    if aggregate is Aggregate.DISTINCT:
        return float(len({_key_of(cell.text) for cell in cells}))
    numbers = [cell.number for cell in cells if cell.number is not None]
    if aggregate in (Aggregate.MOST, Aggregate.LEAST):
        return max(numbers) if aggregate is Aggregate.MOST else min(numbers)
    total = Decimal(0)
    for number in numbers:
        total = _EXACT.add(total, Decimal(repr(number)))
    return float(total if aggregate is Aggregate.SUM else _EXACT.divide(total, Decimal(len(numbers))))


def _by_unit(table: Table, rows: Sequence[int], aggregate: Aggregate, column: int) -> dict[str, list[int]]:
    """Return the rows of each unit; all rows under the unit "" if values aren't measured."""
    if column < 0 or not _is_measured(table, aggregate, column):
        return {"": list(rows)} if rows else {}
    found: dict[str, list[int]] = {}
    for row in rows:
        found.setdefault(table.rows[row].values[column].unit, []).append(row)
    return found


def _most_of_a_unit(units: Mapping[str, Sequence[int]]) -> tuple[int, int]:
    """Return the sort key of a group: minus the number of rows of its most frequent unit, then its first row."""
    return min((-len(rows), rows[0]) for rows in units.values())


def _rank(table: Table, row: int, column: int) -> Any:
    """Return the sort key of a row: the number or time in the column."""
    measured = _measure(table.rows[row].values[column])
    # A column of dates may contain a number: numbers sort before dates.
    return isinstance(measured, datetime), measured


def _sorted(groups: list[Group], least_first: bool) -> list[Group]:
    """Return the groups by their figures in the unit that most groups have; groups without this unit come last."""
    units = Counter(unit for group in groups for unit in group.figures)
    unit = units.most_common(1)[0][0] if units else ""
    sign = 1 if least_first else -1
    return sorted(groups, key=lambda each: (unit not in each.figures, sign * each.figures.get(unit, 0.0), each.rows[0]))


def _measure(value: Value) -> float | datetime | None:
    return value.time or value.number


def _key_of(text: str) -> str:
    """Return a key that is equal for texts that count as the same; "" for a missing value."""
    return "" if is_blank(text) else folded(text).encode("utf-8", "replace").decode()


def _group_key(value: Value, period: Period) -> str:
    return value.time.strftime(period.value) if value.time else _key_of(value.text)


def _name(table: Table, key: str, rows: Sequence[int], group: int) -> str:
    """Return the most common spelling of a group's name."""
    if group < 0 or not key:
        return ""
    cells = [table.rows[row].values[group] for row in rows]
    if cells[0].time is not None:
        return key
    return " ".join(Counter(cell.text for cell in cells).most_common(1)[0][0].split())
