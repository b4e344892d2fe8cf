"""Turn what the model reads of a question beside a table into a plan, with the model's confidence in all of it.

The model chooses the operation, the columns, and which values, limits and times are conditions; numbers and times are
taken from the question by `text.claims` and `retrieval.times`. Nothing here knows words of a language.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from itertools import accumulate
from typing import Any

import numpy as np

from answerable.computing.source import Source
from answerable.datatypes import FloatArray, IntArray
from answerable.retrieval.times import Period, asked_when, fold_in_place
from answerable.tables.compute import Period as Grouping
from answerable.tables.table import Kind
from answerable.tables.values import is_blank
from answerable.text.claims import Kind as ClaimKind
from answerable.text.claims import find_claims
from training.table_text import TableText, placed

MOST_LIMIT = 20
"""The highest number of rows that a question may ask for ("the three dearest"). A round number, not measured."""


@dataclass(frozen=True, slots=True, eq=False)
class TableReading:
    """The model's logits: of the whole, shape (n,), and of each token of the table's text, shape (tokens, m).

    `starts` are the character offsets of the tokens.
    """

    whole: FloatArray
    starts: IntArray
    tokens: FloatArray


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a column, its value in words, and the rows that meet it.

    `is_time`: it is on a time that the question names. `sides` are the rows of each of two values, of which the
    difference is asked for.
    """

    column: int
    value: str
    rows: frozenset[int]
    is_time: bool = False
    sides: tuple[frozenset[int], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """An operation on the rows of a table that meet all conditions; see `parse.Operation`.

    `column` is added up, compared or looked up, `group` the column for whose values figures are computed; -1 if there
    is none. `period` groups times. `limit` is how many rows or groups are asked for (None: all, or the only one), the
    smallest ones if `is_least`.
    """

    source: Source
    operation: str
    conditions: tuple[Condition, ...] = ()
    column: int = -1
    group: int = -1
    period: Grouping = Grouping.DAY
    limit: int | None = None
    is_least: bool = False

    @property
    def rows(self) -> list[int]:
        """The rows that meet all conditions, in order."""
        return self._rows(self.conditions)

    def _rows(self, conditions: Sequence[Condition]) -> list[int]:
        kept = set(range(len(self.source.table.rows)))
        for condition in conditions:
            kept &= condition.rows
        return sorted(kept)


class Operation(str, Enum):
    """What a question asks to compute, in the order of the model's outputs."""

    NONE = "none"
    COUNT = "count"
    DISTINCT = "distinct"
    SUM = "sum"
    AVERAGE = "average"
    MOST = "most"
    LEAST = "least"
    LIST = "list"
    LOOKUP = "lookup"
    DIFFERENCE = "difference"


OPERATIONS = tuple(Operation)
RANKS = ("all", "first", "several")
GROUPINGS = (Grouping.DAY, Grouping.MONTH, Grouping.YEAR)
LIMITS = ("", "=", "!=", ">", ">=", "<", "<=", "empty", "filled")
"""What the model may say of a column: a limit on its numbers or times, or whether its cells are empty."""
USES = ("", "=", "!=")
"""What the model may say of a value."""

# The parts of the model's two outputs, with their sizes.
WHOLE = {"operation": len(OPERATIONS), "rank": len(RANKS), "grouping": len(GROUPINGS), "order": 2, "no": 2}
TOKEN = {"column": 2, "limit": len(LIMITS), "use": len(USES)}
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def parts(output: Any, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the named parts of the last axis of an output, `WHOLE` or `TOKEN`; the trainer's are torch tensors."""
    ends = list(accumulate(sizes.values()))
    return {name: output[..., end - size : end] for (name, size), end in zip(sizes.items(), ends, strict=True)}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A plan, and how sure the model is of all of its parts: the product of their probabilities."""

    plan: Plan
    confidence: float


class _Doubt(Exception):
    """What the model says makes no plan."""


def parse(
    question: str, language: str, source: Source, read: TableText, reading: TableReading, now: datetime
) -> Parsed | None:
    """Return the plan that a question asks for on a table; None if it asks for none."""
    try:
        return _Parse(question, language, source, read, reading, now).parsed()
    except _Doubt:
        return None


class _Parse:
    def __init__(
        self, question: str, language: str, source: Source, read: TableText, reading: TableReading, now: datetime
    ) -> None:
        self._source, self._table = source, source.table
        self._confidence = 1.0
        self._columns, self._values = (placed(each, reading.starts.tolist()) for each in (read.columns, read.values))
        self._whole = parts(reading.whole, WHOLE)
        self._tokens = parts(reading.tokens, TOKEN)
        times = asked_when(fold_in_place(question), now, source.days, language, True) if source.days else []
        self._periods = [period for time in times for period in time.periods]
        self._time_words = ", ".join(question[time.start : time.end] for time in times)
        spans = [(time.start, time.end) for time in times]
        self._numbers = _numbers(question, language, spans)

    def parsed(self) -> Parsed | None:
        """Return the plan, or None if the question asks for nothing that the table has."""
        operation = OPERATIONS[self._choose(self._whole["operation"])]
        if operation is Operation.NONE:
            return None
        column = self._column(0, _fits(operation))
        group = self._column(1, None)
        conditions = [*self._limits(), *self._uses(operation)]
        grouping = GROUPINGS[int(self._whole["grouping"].argmax())]
        rank = RANKS[int(self._whole["rank"].argmax())]
        limit = None if rank == "all" else 1 if rank == "first" else self._several()
        is_least = bool(self._whole["order"].argmax())
        plan = Plan(self._source, operation.value, tuple(conditions), column, group, grouping, limit, is_least)
        return Parsed(plan, self._confidence)

    def _choose(self, logits: FloatArray) -> int:
        """Return the number of the highest logit, and multiply its probability into the confidence."""
        likely = np.exp(logits - logits.max())
        best = int(likely.argmax())
        self._confidence *= float(likely[best] / likely.sum())
        return best

    def _column(self, which: int, kinds: Sequence[Kind] | None) -> int:
        """Return the column to compute (0) or to group by (1), -1 for none; `kinds` are those that fit."""
        logits = np.array([self._whole["no"][which], *(self._tokens["column"][at, which] for _, at in self._columns)])
        if kinds is not None:
            fit = [False, *(self._table.columns[item.column].kind in kinds for item, _ in self._columns)]
            if not any(fit):
                raise _Doubt
            logits = np.where(fit, logits, logits.min() - 10)
        best = self._choose(logits)
        return self._columns[best - 1][0].column if best else -1

    def _limits(self) -> list[Condition]:
        found = []
        left = list(self._numbers)
        for item, at in self._columns:
            if name := LIMITS[self._choose(self._tokens["limit"][at])]:
                found.append(self._limit(item.column, name, left))
        return found

    def _limit(self, column: int, name: str, left: list[float]) -> Condition:
        cells = [row.values[column] for row in self._table.rows]
        own = self._table.columns[column]
        if name in ("empty", "filled"):
            rows = frozenset(row for row, cell in enumerate(cells) if is_blank(cell.text) is (name == "empty"))
            return Condition(column, name, rows)
        if own.kind is Kind.DATE or (own.is_year and self._periods and not left):
            times = [self._source.time(row, column) for row in self._table.rows]
            if not self._periods:
                raise _Doubt
            rows = frozenset(row for row, time in enumerate(times) if time and _is_in(time, self._periods))
            return Condition(column, self._time_words, rows, is_time=True)
        if own.kind is not Kind.NUMBER or not left:
            raise _Doubt
        known = {cell.number for cell in cells}
        number = next((each for each in left if name == "=" and each in known), left[0])
        left.remove(number)
        rows = frozenset(
            row for row, cell in enumerate(cells) if cell.number is not None and _COMPARE[name](cell.number, number)
        )
        return Condition(column, f"{name} {number:g}", rows)

    def _uses(self, operation: Operation) -> list[Condition]:
        """Return the conditions on values; two values of a column mean either, or the sides of a difference."""
        by_column: dict[tuple[int, str], list[tuple[str, frozenset[int]]]] = {}
        for item, at in self._values:
            if use := USES[self._choose(self._tokens["use"][at])]:
                by_column.setdefault((item.column, use), []).append((item.value, item.rows))
        found = []
        everything = frozenset(range(len(self._table.rows)))
        for (column, use), named in by_column.items():
            rows = frozenset[int]().union(*(each for _, each in named))
            value = ", ".join(value for value, _ in named)
            sides = tuple(each for _, each in named) if operation is Operation.DIFFERENCE and use == "=" else ()
            rows, value = (rows, value) if use == "=" else (everything - rows, f"≠ {value}")
            found.append(Condition(column, value, rows, sides=sides))
        if operation is Operation.DIFFERENCE and sum(len(each.sides) == 2 for each in found) != 1:
            raise _Doubt
        return found

    def _several(self) -> int:
        """Return how many rows or groups the question asks for."""
        counts = (int(each) for each in self._numbers if each == int(each) and 1 < each <= MOST_LIMIT)
        count = next(counts, None)
        if count is None:
            raise _Doubt
        return count


def _fits(operation: Operation) -> Sequence[Kind] | None:
    match operation:
        case Operation.SUM | Operation.AVERAGE | Operation.DIFFERENCE:
            return (Kind.NUMBER,)
        case Operation.MOST | Operation.LEAST:
            return (Kind.NUMBER, Kind.DATE)
        case Operation.DISTINCT | Operation.LOOKUP:
            return tuple(Kind)
    return None


def _is_in(time: datetime, periods: Sequence[Period]) -> bool:
    return any(start <= time < end for start, end in periods)


def _numbers(question: str, language: str, spans: Sequence[tuple[int, int]]) -> list[float]:
    """Return the numbers of a question, also those in words, that aren't within these spans."""
    found = []
    for claim in find_claims(question, language):
        if claim.kind is ClaimKind.NUMBER and not any(start <= claim.start < end for start, end in spans):
            values = (value.rstrip("%") for value in sorted(claim.values))
            numbers = [float(value) for value in values if value.replace(".", "", 1).lstrip("-").isdecimal()]
            found += numbers[:1]
    return found
