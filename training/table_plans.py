"""Questions on tables with their plans, written by hand in `written/tables/`: read, and compared with a parsed plan.

A line is a table, `{"title", "language", "csv", "questions"}`, a question `{"q", "plan", "answer"}` with `"language"`
if it isn't the table's. A plan is `{"op", "column", "filters", "other", "group", "period", "limit", "order"}`, or null
with `"why"` if the table doesn't answer the question.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from answerable.computing.conditions import column_called, read_condition
from answerable.computing.parse import GROUPINGS
from answerable.computing.plan import Condition, Plan
from answerable.computing.source import Source
from answerable.errors import PlanError
from answerable.sources.records import read_records
from answerable.tables.compute import Period
from answerable.tables.find import find_tables
from answerable.tables.table import Kind

NOW = datetime(2025, 11, 28, 12)
"""The time to which "last month" of a written question refers."""
PERIODS: Mapping[str, Period] = dict(zip(("day", "month", "year"), GROUPINGS, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question on a table; `written` is the plan as it was written, None if there is none."""

    text: str
    language: str
    source: Source
    written: Mapping[str, Any] | None


def load(paths: Iterable[Path]) -> Iterator[Question]:
    """Yield the questions on the tables that we read as one table."""
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            each = json.loads(line)
            document = read_records(each["csv"], f"{each['title'].replace('/', '-')}.csv")
            tables = find_tables(document)
            if len(tables) == 1:
                source = Source(document, tables[0])
                for one in each["questions"]:
                    yield Question(one["q"], one.get("language", each["language"]), source, one["plan"])


def plan_of(question: Question) -> Plan | None:
    """Return the written plan. Raise PlanError if it isn't one of this table."""
    written, source = question.written, question.source
    if written is None:
        return None
    conditions = [_condition(source, each) for each in written.get("filters", ())]
    if written["op"] == "difference":
        ours = frozenset(Plan(source, "list", tuple(conditions)).rows)
        others = [_condition(source, each) for each in written.get("other", ())]
        theirs = frozenset(Plan(source, "list", tuple(others)).rows)
        conditions = [Condition(-1, "=", (), ours | theirs, (ours, theirs))]
    return Plan(
        source,
        written["op"],
        tuple(conditions),
        column_called(source.table, written.get("column", "")),
        column_called(source.table, written.get("group", "")),
        PERIODS[written.get("period", "day")],
        written.get("limit"),
        written.get("order") == "least",
    )


def rows_of(source: Source, written: Mapping[str, str]) -> tuple[int, frozenset[int]]:
    """Return the column of a written filter, and the rows that meet it. Raise PlanError."""
    column = column_called(source.table, written["column"])
    try:
        condition = read_condition(source.table, written)
    except PlanError:
        # Rows of totals aren't in the table any more.
        if written["op"] == "!=" and source.table.columns[column].kind is Kind.TEXT:
            return column, frozenset(range(len(source.table.rows)))
        raise
    return condition.column, condition.rows


def _condition(source: Source, written: Mapping[str, str]) -> Condition:
    column, rows = rows_of(source, written)
    return Condition(column, written["op"], (written.get("value", ""),), rows)


def say_the_same(found: Plan | None, right: Plan | None) -> bool:
    """Return whether two plans on a table give the same answer."""
    if found is None or right is None:
        return found is right
    return bool(found.rows) and found.key == right.key
