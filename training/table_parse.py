"""Turn what the model reads of a question beside a table into a plan, with the model's confidence in all of it.

The model chooses the operation, the columns, and which values, limits and times are conditions; numbers and times are
taken from the question by `text.claims` and `retrieval.times`. Nothing here knows words of a language.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from itertools import accumulate, product
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
from training.table_text import Item, TableText, placed

DOUBTS = 4
"""Conditions, at most, of which also the second likeliest is tried: 16 sets. A guess, not measured."""
LEAST_LOG = -7.0
"""Logarithm of a probability below which nothing else is tried: a thousandth. A guess, not measured."""
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

    @property
    def key(self) -> object:
        """What tells plans apart that a question may mean."""
        figures = (self.operation, self.column, self.group, self.limit)
        sides = frozenset(side for each in self.conditions for side in each.sides)
        return *figures, self.period if self.group >= 0 else None, self.is_least, tuple(self.rows), sides

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
WHOLE = {
    "operation": len(OPERATIONS),
    "rank": len(RANKS),
    "grouping": len(GROUPINGS),
    "order": 2,
    "no": 2,
    "neither": 1,
}
TOKEN = {"column": 2, "limit": len(LIMITS), "use": len(USES), "chosen": 1}
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
class Choices:
    """What is chosen of the model's outputs; columns and values by the tokens at which they begin.

    `column` and `group` are places in the text's columns from 1, 0 for none. `limits` and `uses` are those that aren't
    the first of `LIMITS` and `USES`.
    """

    operation: int
    column: int = 0
    group: int = 0
    rank: int = 0
    grouping: int = 0
    order: int = 0
    limits: tuple[tuple[int, int], ...] = ()
    uses: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A plan, how sure the model is of all of its parts (the product of their probabilities), and what was chosen."""

    plan: Plan
    confidence: float
    choices: Choices


class _Doubt(Exception):
    """What the model says makes no plan."""


@dataclass(frozen=True, slots=True)
class _Option:
    value: int
    log: float


def parse(
    question: str,
    language: str,
    source: Source,
    read: TableText,
    reading: TableReading,
    now: datetime,
    most: int = 8,
    tried: int = 300,
) -> list[Parsed]:
    """Return the likeliest plans that a question may ask for on a table, at most `most`, the likeliest first."""
    parser = _Parse(question, language, source, read, reading, now)
    found, seen = list[Parsed](), set[object]()
    for log, choices in sorted(parser.choices(), key=lambda each: -each[0])[:tried]:
        try:
            plan = parser.plan(choices)
        except _Doubt:
            continue
        key = plan.key
        if key not in seen:
            seen.add(key)
            found.append(Parsed(plan, float(np.exp(log)), choices))
            if len(found) == most:
                break
    return found


class _Parse:
    def __init__(
        self, question: str, language: str, source: Source, read: TableText, reading: TableReading, now: datetime
    ) -> None:
        self._source, self._table = source, source.table
        self._columns, self._values = (placed(each, reading.starts.tolist()) for each in (read.columns, read.values))
        self._column_at = {at: item.column for item, at in self._columns}
        self._value_at = {at: item for item, at in self._values}
        self._whole = {
            name: _log(each) for name, each in parts(reading.whole, WHOLE).items() if name not in ("no", "neither")
        }
        self._no = parts(reading.whole, WHOLE)["no"]
        self._tokens = parts(reading.tokens, TOKEN)
        times = asked_when(fold_in_place(question), now, source.days, language, True) if source.days else []
        self._periods = [period for time in times for period in time.periods]
        self._time_words = ", ".join(question[time.start : time.end] for time in times)
        spans = [(time.start, time.end) for time in times]
        self._numbers = _numbers(question, language, spans)

    def choices(self) -> Iterator[tuple[float, Choices]]:
        """Yield what may be chosen, with the logarithm of its probability, in no order."""
        conditions = list(self._conditions())
        orders, groupings, ranks = (_options(self._whole[name], 2) for name in ("order", "grouping", "rank"))
        groups = self._column(1, None)[:2]
        for operation in _options(self._whole["operation"], len(OPERATIONS)):
            name = OPERATIONS[operation.value]
            if name is Operation.NONE or operation.log < LEAST_LOG:
                continue
            for column, group in product(self._column(0, _fits(name))[:4], groups):
                is_ranked = group.value or name in (Operation.MOST, Operation.LEAST, Operation.LIST)
                is_time = group.value and self._kind(group.value) is Kind.DATE
                for rank in ranks if is_ranked else ranks[:1]:
                    for order in orders if group.value and RANKS[rank.value] != "all" else orders[:1]:
                        for grouping in groupings if is_time else groupings[:1]:
                            log = operation.log + column.log + group.log
                            log += rank.log if is_ranked else 0.0
                            log += order.log if group.value and RANKS[rank.value] != "all" else 0.0
                            log += grouping.log if is_time else 0.0
                            rest = (column.value, group.value, rank.value, grouping.value, order.value)
                            for more, limits, uses in conditions:
                                yield log + more, Choices(operation.value, *rest, limits, uses)

    def _kind(self, place: int) -> Kind:
        return self._table.columns[self._columns[place - 1][0].column].kind

    def _conditions(self) -> Iterator[tuple[float, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]]:
        """Yield the likeliest sets of conditions: the likeliest of each column and value, and others of a few."""
        sure, doubts = 0.0, list[tuple[float, str, int, _Option, _Option]]()
        chosen: dict[tuple[str, int], int] = {}
        places = [("limit", at) for _, at in self._columns] + [("use", at) for _, at in self._values]
        for name, at in places:
            best, other = _options(_log(self._tokens[name][at]), 2)
            sure += best.log
            chosen[name, at] = best.value
            doubts.append((other.log - best.log, name, at, best, other))
        doubts.sort(key=lambda each: -each[0])
        doubts = [each for each in doubts[:DOUBTS] if each[0] > LEAST_LOG]
        for flipped in product((False, True), repeat=len(doubts)):
            log, own = sure, dict(chosen)
            for is_flipped, (lost, name, at, _, other) in zip(flipped, doubts, strict=True):
                if is_flipped:
                    log += lost
                    own[name, at] = other.value
            said = sorted((name, at, value) for (name, at), value in own.items() if value)
            yield (
                log,
                tuple((at, value) for name, at, value in said if name == "limit"),
                tuple((at, value) for name, at, value in said if name == "use"),
            )

    def _column(self, which: int, kinds: Sequence[Kind] | None) -> list[_Option]:
        """Return the columns to compute (0) or to group by (1), likeliest first; `kinds` are those that fit."""
        logits = np.array([self._no[which], *(self._tokens["column"][at, which] for _, at in self._columns)])
        if kinds is not None:
            fit = [False, *(self._table.columns[item.column].kind in kinds for item, _ in self._columns)]
            if not any(fit):
                return []
            logits = np.where(fit, logits, -1e9)
        return [each for each in _options(_log(logits), 4) if each.log > -1e6]

    def plan(self, choices: Choices) -> Plan:
        """Return the plan that was chosen. Raise _Doubt."""
        operation = OPERATIONS[choices.operation]
        column, group = (
            self._columns[place - 1][0].column if place else -1 for place in (choices.column, choices.group)
        )
        left = list(self._numbers)
        limits = [self._limit(self._column_at[at], LIMITS[limit], left) for at, limit in choices.limits]
        conditions = [*limits, *self._uses(operation, choices.uses)]
        if operation is Operation.DIFFERENCE and sum(len(each.sides) == 2 for each in conditions) != 1:
            raise _Doubt
        is_ranked = group >= 0 or operation in (Operation.MOST, Operation.LEAST, Operation.LIST)
        rank = RANKS[choices.rank] if is_ranked else "all"
        limit = None if rank == "all" else 1 if rank == "first" else self._several(left)
        grouping, is_least = GROUPINGS[choices.grouping], bool(choices.order)
        return Plan(self._source, operation.value, tuple(conditions), column, group, grouping, limit, is_least)

    def _limit(self, column: int, name: str, left: list[float]) -> Condition:
        cells = [row.values[column] for row in self._table.rows]
        own = self._table.columns[column]
        if name in ("empty", "filled"):
            rows = frozenset(row for row, cell in enumerate(cells) if is_blank(cell.text) is (name == "empty"))
            return Condition(column, name, rows)
        if own.kind is Kind.DATE or (own.is_year and self._periods and not left):
            return self._of_time(column, name)
        if own.kind is not Kind.NUMBER or not left:
            raise _Doubt
        known = {cell.number for cell in cells}
        number = next((each for each in left if name == "=" and each in known), left[0])
        left.remove(number)
        rows = frozenset(
            row for row, cell in enumerate(cells) if cell.number is not None and _COMPARE[name](cell.number, number)
        )
        return Condition(column, f"{name} {number:g}", rows)

    def _of_time(self, column: int, name: str) -> Condition:
        if not self._periods:
            raise _Doubt
        times = [self._source.time(row, column) for row in self._table.rows]
        rows = frozenset(row for row, time in enumerate(times) if time and _is_in(time, self._periods))
        return Condition(column, f"= {self._time_words}", rows, is_time=True)

    def _uses(self, operation: Operation, uses: Sequence[tuple[int, int]]) -> list[Condition]:
        """Return the conditions on values; two values of a column mean either, or the sides of a difference."""
        by_column: dict[tuple[int, str], list[Item]] = {}
        for at, use in uses:
            item = self._value_at[at]
            by_column.setdefault((item.column, USES[use]), []).append(item)
        found = []
        everything = frozenset(range(len(self._table.rows)))
        for (column, said), items in by_column.items():
            rows = frozenset[int]().union(*(each.rows for each in items))
            value = f"{said.replace('!=', '≠')} {' or '.join(each.value for each in items)}"
            sides = tuple(each.rows for each in items) if operation is Operation.DIFFERENCE and said == "=" else ()
            found.append(Condition(column, value, rows if said == "=" else everything - rows, sides=sides))
        return found

    def _several(self, left: Sequence[float]) -> int:
        """Return how many rows or groups the question asks for."""
        counts = (int(each) for each in left if each == int(each) and 1 < each <= MOST_LIMIT)
        count = next(counts, None)
        if count is None:
            raise _Doubt
        return count


def _log(logits: FloatArray) -> FloatArray:
    shifted = logits - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def _options(logs: FloatArray, most: int) -> list[_Option]:
    return [_Option(int(each), float(logs[each])) for each in np.argsort(-logs)[:most]]


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
