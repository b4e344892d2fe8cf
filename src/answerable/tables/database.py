"""Compute figures from tables with SQLite, in memory; values are parameters, names of columns are our own."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from enum import Enum

from answerable.tables.table import Kind, Table
from answerable.text.terms import fold


class Operator(Enum):
    """How a value is compared; the value is SQL."""

    ABOVE = ">"
    AT_LEAST = ">="
    BELOW = "<"
    AT_MOST = "<="


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column's number, time or folded text compares like this with a value."""

    column: int
    operator: Operator
    value: float | datetime | str


class Aggregate(Enum):
    """What is computed from rows; FIRST and LAST are those with the earliest and latest time."""

    COUNT = "count"
    DISTINCT = "distinct"
    SUM = "sum"
    MEAN = "mean"
    MOST = "most"
    LEAST = "least"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Group:
    """The figure of the rows with the same value in a column."""

    name: str
    figure: float
    unit: str
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """A figure for each unit (different currencies are never added), and the numbers of the rows behind them.

    Of groups, the one with the highest figure is first.
    """

    figures: Mapping[str, float] = field(default_factory=dict)
    rows: tuple[int, ...] = ()
    groups: tuple[Group, ...] = ()


def select(table: Table, conditions: Sequence[Comparison]) -> list[int]:
    """Return the numbers of the rows that meet all conditions, in order."""
    kept = list(range(len(table.rows)))
    for condition in conditions:
        with closing(_loaded(table, kept, condition.column, None)) as database:
            query = f"SELECT row FROM cells WHERE value IS NOT NULL AND value {condition.operator.value} ? ORDER BY row"
            kept = [row for (row,) in database.execute(query, (_sql(condition.value),))]
    return kept


_SQL = {
    Aggregate.COUNT: "COUNT(*)",
    Aggregate.DISTINCT: "COUNT(DISTINCT value)",
    Aggregate.SUM: "EXACT_SUM(value)",
    Aggregate.MEAN: "EXACT_MEAN(value)",
    Aggregate.MOST: "MAX(value)",
    Aggregate.LEAST: "MIN(value)",
    Aggregate.FIRST: "MIN(value)",
    Aggregate.LAST: "MAX(value)",
}
_EXTREMES = (Aggregate.MOST, Aggregate.LEAST, Aggregate.FIRST, Aggregate.LAST)


def compute(
    table: Table,
    rows: Sequence[int],
    aggregate: Aggregate,
    column: int | None = None,
    group: int | None = None,
) -> Result:
    """Compute a figure of these rows of a table; with `group`, one for each value of that column.

    All but COUNT need a `column`, and rows with an empty cell there don't count. Of FIRST and LAST, the figure is 0:
    the rows are the answer.
    """
    with closing(_loaded(table, rows, column, group)) as database:
        filled = "WHERE value IS NOT NULL" if column is not None else ""
        query = f"SELECT unit, MIN(shown), {_SQL[aggregate]}, GROUP_CONCAT(row) FROM cells {filled} GROUP BY unit, name"
        found = [
            Group(shown or "", figure, unit, tuple(sorted(map(int, numbers.split(",")))))
            for unit, shown, figure, numbers in database.execute(query)
        ]
        if aggregate in _EXTREMES:
            same = "SELECT row FROM cells WHERE unit = ? AND value = ? ORDER BY row"
            best = [row for each in found for (row,) in database.execute(same, (each.unit, each.figure))]
            found = [replace(each, figure=each.figure if isinstance(each.figure, float | int) else 0) for each in found]
            return Result({each.unit: each.figure for each in found}, tuple(best))
    if group is not None:
        found = [each for each in found if each.name]
        found.sort(key=lambda each: (-each.figure, each.rows[0]))
    counted = sorted(row for each in found for row in each.rows)
    figures = {} if group is not None else {each.unit: each.figure for each in found}
    return Result(figures, tuple(counted), tuple(found) if group is not None else ())


def _loaded(table: Table, rows: Sequence[int], column: int | None, group: int | None) -> sqlite3.Connection:
    """Return a database with a line for each of these rows: its number, value, unit, and the name of its group."""
    database = sqlite3.connect(":memory:")
    database.create_aggregate("EXACT_SUM", 1, _ExactSum)  # type: ignore[arg-type]
    database.create_aggregate("EXACT_MEAN", 1, _ExactMean)  # type: ignore[arg-type]
    database.execute("CREATE TABLE cells (row INTEGER PRIMARY KEY, value, unit TEXT, name TEXT, shown TEXT)")
    database.executemany("INSERT INTO cells VALUES (?, ?, ?, ?, ?)", (_line(table, row, column, group) for row in rows))
    return database


def _line(
    table: Table, row: int, column: int | None, group: int | None
) -> tuple[int, float | str | None, str, str, str]:
    values = table.rows[row].values
    shown = "" if group is None else values[group].text
    name = " ".join(fold(shown.lower()).split())
    if column is None:
        return row, None, "", name, shown
    kind, value = table.columns[column].kind, values[column]
    if kind is Kind.NUMBER:
        return row, value.number, value.unit, name, shown
    if kind is Kind.DATE:
        return row, None if value.time is None else _sql(value.time), "", name, shown
    return row, _sql(value.text) or None, "", name, shown


def _sql(value: float | datetime | str) -> float | str:
    """Return a value as SQLite compares it: times in ISO form, text in lower case without accents."""
    if isinstance(value, datetime):
        return value.isoformat()
    return " ".join(fold(value.lower()).split()) if isinstance(value, str) else value


class _ExactSum:
    """Adds decimal numbers: binary fractions would make .30000000000000004 of .1 and .2."""

    def __init__(self) -> None:
        self._total, self._count = Decimal(0), 0

    def step(self, number: float) -> None:
        """Add a number."""
        self._total += Decimal(repr(number))
        self._count += 1

    def finalize(self) -> float:
        """Return the sum."""
        return float(self._total)


class _ExactMean(_ExactSum):
    def finalize(self) -> float:
        return float(self._total / self._count)
