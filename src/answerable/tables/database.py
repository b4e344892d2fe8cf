"""Compute with the rows of a table: SQLite in memory selects, groups and aggregates them. Sums are exact decimals."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import Enum
from typing import Any

from answerable.tables.conditions import (
    Cell,
    Comparison,
    Condition,
    Contains,
    Empty,
    Filled,
    OneOf,
    Operator,
    clauses,
    key_of,
    measure,
)
from answerable.tables.table import Kind, Table, Value

__all__ = [
    "Aggregate",
    "Comparison",
    "Condition",
    "Contains",
    "Empty",
    "Filled",
    "Group",
    "OneOf",
    "Operator",
    "Period",
    "Result",
    "compute",
    "select",
]


class Aggregate(str, Enum):
    """What is computed of rows."""

    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    MOST = "most"
    LEAST = "least"
    FIRST = "first"
    LAST = "last"
    DISTINCT = "distinct"


class Period(str, Enum):
    """What times are grouped by; the value is a format of their names."""

    DAY = "%Y-%m-%d"
    MONTH = "%Y-%m"
    YEAR = "%Y"


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one name, as indexes of `Table.rows` in order, and their figure for each unit.

    `name` is the usual spelling; of times it is their day, month or year (2024-03). "" has the rows without a value.
    """

    name: str
    figures: Mapping[str, float]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """A figure for each unit ("" without unit), and the rows that count towards it, as indexes of `Table.rows`.

    There is no figure if no row counts, and none for FIRST, LAST and the most and least of times: the rows are the
    answer. With groups, only they have figures; they are in the order of their figures in the unit that most
    have, the greatest first (for LEAST the smallest), equal ones in the order of the document.
    """

    figures: Mapping[str, float]
    rows: tuple[int, ...]
    groups: tuple[Group, ...] = ()


_FIGURES = {
    Aggregate.COUNT: "count(*)",
    Aggregate.DISTINCT: "count(DISTINCT t)",
    Aggregate.SUM: "exact_sum(v)",
    Aggregate.MEAN: "exact_mean(v)",
    Aggregate.MOST: "max(v)",
    Aggregate.LEAST: "min(v)",
    Aggregate.FIRST: "NULL",
    Aggregate.LAST: "NULL",
}
_RANKS = {
    Aggregate.MOST: "rank() OVER (PARTITION BY g, u ORDER BY v DESC)",
    Aggregate.LEAST: "rank() OVER (PARTITION BY g, u ORDER BY v)",
    Aggregate.FIRST: "row_number() OVER (PARTITION BY g ORDER BY at, n)",
    Aggregate.LAST: "row_number() OVER (PARTITION BY g ORDER BY at DESC, n DESC)",
}
_EXACT = Context(prec=100)


def select(table: Table, conditions: Sequence[Condition]) -> list[int]:
    """Return the rows that meet all conditions, as indexes of `table.rows`."""
    where = clauses(table, conditions)
    with closing(_database(where.columns, len(table.rows))) as database:
        found = database.execute(f"SELECT n FROM cells WHERE {where.sql} ORDER BY n", where.bound)
        return [row for (row,) in found]


def compute(
    table: Table,
    conditions: Sequence[Condition],
    aggregate: Aggregate,
    column: int | None = None,
    group: int | None = None,
    limit: int | None = None,
    period: Period = Period.DAY,
) -> Result:
    """Aggregate the rows that meet all conditions.

    Only rows with a value in `column` count. `group` is a column whose values name groups; times are grouped by
    `period`. MOST and LEAST take the rows with the greatest and the smallest number or time of `column`; FIRST and LAST
    the first and last by time if `column` has times, otherwise in the document. `limit` is the most groups; without
    `group` it is how many rows these four take (None: one). Raises ValueError if SUM or MEAN has no column of
    quantities, MOST or LEAST no column of numbers or times, or DISTINCT no column.
    """
    _check(table, aggregate, column)
    most = max(limit or 1, 1) if group is None else 1
    found = _groups(table, conditions, aggregate, column, group, most, period)
    if group is None:
        counts = aggregate in (Aggregate.COUNT, Aggregate.DISTINCT)
        return Result(found[0].figures, found[0].rows) if found else Result({"": 0.0} if counts else {}, ())
    kept = tuple(_sorted(found, aggregate is Aggregate.LEAST)[:limit])
    return Result({}, tuple(sorted(row for each in kept for row in each.rows)), kept)


def _sorted(groups: list[Group], least_first: bool) -> list[Group]:
    """Return groups by their figures in the unit that most of them have, those without it last."""
    units = Counter(unit for group in groups for unit in group.figures)
    unit = units.most_common(1)[0][0] if units else ""
    sign = 1 if least_first else -1
    return sorted(groups, key=lambda each: (unit not in each.figures, sign * each.figures.get(unit, 0.0), each.rows[0]))


def _check(table: Table, aggregate: Aggregate, column: int | None) -> None:
    of = None if column is None else table.columns[column]
    if aggregate in (Aggregate.SUM, Aggregate.MEAN) and not (of and of.kind is Kind.NUMBER and of.is_quantity):
        raise ValueError(f"{aggregate.value} takes a column of quantities")
    if aggregate in (Aggregate.MOST, Aggregate.LEAST) and (of is None or of.kind is Kind.TEXT):
        raise ValueError(f"{aggregate.value} takes a column of numbers or times")
    if aggregate is Aggregate.DISTINCT and of is None:
        raise ValueError("distinct takes a column")


def _groups(
    table: Table,
    conditions: Sequence[Condition],
    aggregate: Aggregate,
    column: int | None,
    group: int | None,
    most: int,
    period: Period,
) -> list[Group]:
    """Return the figures and rows of each group, in no order; without `group` there is one, named ""."""
    where = clauses(table, conditions)
    columns = where.columns | _aggregated(table, aggregate, column)
    columns["g"] = (
        [""] * len(table.rows) if group is None else [_group_key(row.values[group], period) for row in table.rows]
    )
    is_time = column is not None and table.columns[column].kind is Kind.DATE
    figure = "NULL" if is_time and aggregate in _RANKS else _FIGURES[aggregate]
    ranked = f"SELECT *, {_RANKS.get(aggregate, '1')} AS place FROM cells WHERE counts AND {where.sql}"
    found: dict[str, tuple[dict[str, float], list[int]]] = {}
    with closing(_database(columns, len(table.rows))) as database:
        for key, unit, number, rows in database.execute(
            f"SELECT g, u, {figure}, group_concat(n) FROM ({ranked}) WHERE place <= ? GROUP BY g, u "
            "ORDER BY count(*) DESC, min(n)",
            (*where.bound, most),
        ):
            figures, indexes = found.setdefault(key, ({}, []))
            indexes += map(int, rows.split(","))
            if number is not None:
                figures[unit] = float(number)
    return [
        Group(_name(table, key, rows, group), figures, tuple(sorted(rows))) for key, (figures, rows) in found.items()
    ]


def _aggregated(table: Table, aggregate: Aggregate, column: int | None) -> dict[str, list[Cell]]:
    """Return what the aggregate needs of a column, row by row: text, value, unit, time, and whether the row counts."""
    size = len(table.rows)
    if column is None:
        return {"t": [""] * size, "v": [None] * size, "u": [""] * size, "at": [0] * size, "counts": [1] * size}
    cells = [row.values[column] for row in table.rows]
    kind = table.columns[column].kind
    is_measured = kind is not Kind.TEXT and aggregate not in (Aggregate.COUNT, Aggregate.DISTINCT)
    texts: list[Cell] = [key_of(cell.text) for cell in cells]
    values = [measure(cell) for cell in cells]
    counted = [value is not None for value in values] if is_measured else [text != "" for text in texts]
    return {
        "t": texts,
        "v": values,
        "u": [cell.unit if is_measured else "" for cell in cells],
        "at": values if kind is Kind.DATE else [0] * size,
        "counts": [int(each) for each in counted],
    }


def _group_key(value: Value, period: Period) -> str:
    return value.time.strftime(period.value) if value.time else key_of(value.text)


def _name(table: Table, key: str, rows: Iterable[int], group: int | None) -> str:
    """Return the usual spelling of a group's name."""
    if group is None or not key:
        return ""
    cells = [table.rows[row].values[group] for row in rows]
    if cells[0].time is not None:
        return key
    return " ".join(Counter(cell.text for cell in cells).most_common(1)[0][0].split())


def _database(columns: Mapping[str, Sequence[Cell]], size: int) -> sqlite3.Connection:
    """Return a database with one table, `cells`: `n` is the number of the row."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.create_aggregate("exact_sum", 1, _Sum)
    database.create_aggregate("exact_mean", 1, _Mean)
    database.execute(f"CREATE TABLE cells ({', '.join(['n', *columns])})")
    marks = ", ".join("?" * (len(columns) + 1))
    database.executemany(f"INSERT INTO cells VALUES ({marks})", zip(range(size), *columns.values(), strict=True))
    return database


class _Sum:
    """The exact sum of decimal numbers."""

    def __init__(self) -> None:
        self.sum = Decimal(0)
        self.count = 0

    def step(self, number: float) -> None:
        """Add a number."""
        self.sum = _EXACT.add(self.sum, Decimal(repr(number)))
        self.count += 1

    def finalize(self) -> Any:
        """Return the sum."""
        return float(self.sum)


class _Mean(_Sum):
    """The mean of decimal numbers."""

    def finalize(self) -> Any:
        """Return the mean."""
        return float(_EXACT.divide(self.sum, Decimal(self.count)))
