"""Read the conditions of a plan by the columns of its table.

Numbers are compared as numbers, dates as days, months or years, and texts without case and accents.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from answerable.computing.plan import Condition
from answerable.computing.vocabulary import cut
from answerable.errors import PlanError
from answerable.tables.table import Column, Kind, Table, Value, folded
from answerable.tables.values import DayOrder, is_blank, read_date, read_value

NAMED = 40  # columns or values that are named; a guess, not measured
LONGEST_NAME = 60  # characters of a column or a value that is named; a guess, not measured

COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MONTH = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_TYPED = re.compile(r"(.+?)\s*(!=|>=|<=|=|>|<|~)\s*(.*)", re.DOTALL)
Test = Callable[[Value], bool]


def conditions_of(texts: Iterable[str]) -> list[dict[str, str]]:
    """Return conditions typed by hand as those of a plan; see `Library.table`. Raise PlanError."""
    found = []
    for text in texts:
        typed = _TYPED.fullmatch(text.strip())
        if typed is None:
            raise PlanError(f"{text!r} is no condition. Type a column, one of = != < <= > >= ~, and a value.")
        column, op, value = typed.groups()
        given = {"column": column, "op": "contains" if op == "~" else op, "value": value}
        if not value and op in ("=", "!="):
            given = {"column": column, "op": "empty", "value": str(op == "=").lower()}
        found.append(given)
    return found


def read_condition(table: Table, given: Mapping[str, str]) -> Condition:
    """Read a condition by the column that it is on. Raise PlanError."""
    column, op = column_called(table, given["column"]), given["op"]
    text = " ".join(given.get("value", "").split())
    if column < 0:
        raise PlanError(f"a filter needs a column; {columns_in_words(table)}")
    if op == "empty":
        is_empty = text.lower() != "false"
        return _condition(
            table, column, "empty" if is_empty else "filled", "", lambda at: is_blank(at.text) is is_empty
        )
    if not text:
        raise PlanError(f"{op} needs a value; to find cells without one, give empty")
    if op == "contains":
        key = folded(text)
        return _condition(table, column, op, text, lambda cell: key in folded(cell.text))
    holds = _comparison(table, column, "=" if op == "!=" else op, text)
    return _condition(table, column, op, text, (lambda cell: not holds(cell)) if op == "!=" else holds)


def _condition(table: Table, column: int, op: str, text: str, test: Test) -> Condition:
    rows = frozenset(number for number, row in enumerate(table.rows) if test(row.values[column]))
    return Condition(column, op, (text,) if text else (), rows)


def _comparison(table: Table, column: int, op: str, text: str) -> Test:
    """Return the test that a cell compares with a value, read by the kind of the column."""
    match table.columns[column].kind:
        case Kind.NUMBER:
            return _of_number(table, column, op, text)
        case Kind.DATE:
            return _of_date(table.columns[column].name, op, text)
    return _of_text(table, column, op, text)


def _of_number(table: Table, column: int, op: str, text: str) -> Test:
    wanted, compare = read_value(text), COMPARE[op]
    units = {row.values[column].unit for row in table.rows} - {""}
    if wanted.number is None:
        # A column of prices may have words, such as "free".
        if op == "=":
            return _of_text(table, column, op, text)
        raise PlanError(f"{table.columns[column].name} has numbers, and {text!r} isn't one")
    if wanted.unit and wanted.unit not in units:
        has = f"the units are {_some(units)}" if units else "there is no unit"
        raise PlanError(f"no cell of {table.columns[column].name} is in {wanted.unit}: {has}")
    return lambda cell: (
        cell.number is not None and compare(cell.number, wanted.number) and wanted.unit in ("", cell.unit)
    )


def _of_date(name: str, op: str, text: str) -> Test:
    span = _span(text)
    if span is None:
        raise PlanError(f"{name} has dates: give a day as 2024-03-31, a month as 2024-03, or a year")
    start, end = span
    tests: Mapping[str, Callable[[datetime], bool]] = {
        "=": lambda time: start <= time < end,
        "<": lambda time: time < start,
        "<=": lambda time: time < end,
        ">": lambda time: time >= end,
        ">=": lambda time: time >= start,
    }
    return lambda cell: cell.time is not None and tests[op](cell.time)


def _span(text: str) -> tuple[datetime, datetime] | None:
    """Return the first moment of a year, month, day or minute, and that of the next."""
    try:
        if found := _MONTH.fullmatch(text):
            year, month = int(found[1]), int(found[2] or 1)
            start = datetime(year, month, 1)
            is_last = month == 12 or not found[2]
            return start, datetime.max if year == 9999 else datetime(year + is_last, 1 if is_last else month + 1, 1)
        moment = read_date(text, DayOrder.DAY_FIRST)
        if moment is None:
            return None
        return moment.time, moment.time + (timedelta(days=1) if moment.is_day else timedelta(minutes=1))
    except (ValueError, OverflowError):
        return None


def _of_text(table: Table, column: int, op: str, text: str) -> Test:
    key, compare = folded(text), COMPARE[op]
    if op == "=" and not any(folded(row.values[column].text) == key for row in table.rows):
        values = dict.fromkeys(row.values[column].text for row in table.rows if row.values[column].text)
        raise PlanError(
            f"no cell of {table.columns[column].name} is {text!r} (contains, or ~, finds a part of a text); "
            f"there are: {_some(values)}"
        )
    return lambda cell: not is_blank(cell.text) and compare(folded(cell.text), key)


def column_called(table: Table, name: str) -> int:
    """Return the number of the only column whose name is, or begins with, this; -1 for no name. Raise PlanError."""
    key = folded(name)
    if not key:
        return -1
    names = [folded(column.name) for column in table.columns]
    found = [place for place, each in enumerate(names) if each == key]
    found = found or [place for place, each in enumerate(names) if each.startswith(key)]
    if len(found) != 1:
        raise PlanError(f"there is {'no' if not found else 'more than one'} column {name!r}; {columns_in_words(table)}")
    return found[0]


def columns_in_words(table: Table) -> str:
    """Return a phrase that names the columns with their kinds and units, at most `NAMED`."""
    return f"the columns are: {_some(map(_column_in_words, table.columns))}"


def _column_in_words(column: Column) -> str:
    kind = "year" if column.is_year else column.kind.value if column.is_quantity else "number that identifies"
    return f"{column.name} ({', '.join(filter(None, (kind, column.unit)))})"


def _some(names: Iterable[str]) -> str:
    listed = list(islice((cut(each, LONGEST_NAME) for each in names), NAMED + 1))
    return ", ".join(listed[:NAMED]) + (", …" if len(listed) > NAMED else "")
