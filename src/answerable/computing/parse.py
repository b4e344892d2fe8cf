"""Turn what the model reads of a question beside a table into a plan, with the model's confidence in all of it.

The model chooses the operation, the columns, and which values, limits and times are conditions; numbers and times are
taken from the question by `text.claims` and `retrieval.times`. Nothing here knows words of a language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import accumulate, product
from typing import Any

import numpy as np

from answerable.computing.conditions import COMPARE
from answerable.computing.plan import MEASURED, Condition, Operation, Plan
from answerable.computing.source import Source
from answerable.computing.table_text import Item, TableText, placed
from answerable.computing.vocabulary import keys_of, spoken
from answerable.datatypes import FloatArray
from answerable.protocols import TableReading
from answerable.retrieval.times import asked_when, fold_in_place
from answerable.tables.compute import Period as Grouping
from answerable.tables.table import Kind
from answerable.text.claims import Kind as ClaimKind
from answerable.text.claims import find_claims

DOUBTS = 4
"""Conditions, at most, of which also the second likeliest is tried: of `training/written/tables/d.jsonl` .645 are right
with 0, .676 with 2, .680 with 4 and with 6."""
LEAST_LOG = -7.0
"""Logarithm of a probability below which nothing else is tried: .665 are right at -3, .680 at -7 and at -9."""
MOST_LIMIT = 20
"""The highest number of rows that a question may ask for ("the three dearest"); 5, 20 and 100 give the same."""

OPERATIONS = tuple(Operation)
RANKS = ("all", "first", "several")
GROUPINGS = (Grouping.DAY, Grouping.MONTH, Grouping.YEAR)
LIMITS = ("", "=", "!=", ">", ">=", "<", "<=", "empty", "filled")
"""What the model may say of a column: a limit on its numbers or times, or whether its cells are empty."""
USES = ("", "=", "!=")
"""What the model may say of a value."""
_RANKED = (Operation.MOST, Operation.LEAST, Operation.LIST)
"""What may be asked for a number of rows."""
_NEEDLESS = (Operation.COUNT, Operation.LIST, Operation.DIFFERENCE)
"""What may be computed without a column: a difference without one is of the numbers of rows."""

# The parts of the model's two outputs, with their sizes.
WHOLE = {"operation": len(OPERATIONS), "rank": len(RANKS), "grouping": len(GROUPINGS), "order": 2, "no": 2}
TOKEN = {"column": 2, "limit": len(LIMITS), "use": len(USES)}


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
    """A plan, how sure the model is of it, and what was chosen.

    Several choices may make the same plan: their probabilities, each the product of those of all parts, are added up.
    """

    plan: Plan
    confidence: float
    choices: Choices


class _Doubt(Exception):
    """What the model says makes no plan."""


@dataclass(frozen=True, slots=True)
class _Option:
    value: int
    log: float


_ANY = (_Option(0, 0.0),)
"""What is chosen where a plan has no use for it."""


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
    """Return the likeliest plans for a question on a table, those without rows left out; at most `most`, in order."""
    parser = _Parse(question, language, source, read, reading, now)
    found: dict[object, Parsed] = {}
    likeliest = sorted(parser.choices(), key=lambda each: -each[0])[:tried]
    for log, choices in likeliest:
        if log < likeliest[0][0] + LEAST_LOG:
            break
        try:
            plan = parser.plan(choices)
        except _Doubt:
            continue
        if not plan.rows:
            continue
        known = found.get(plan.key)
        likely = float(np.exp(log)) + (known.confidence if known else 0.0)
        found[plan.key] = replace(known, confidence=likely) if known else Parsed(plan, likely, choices)
    return sorted(found.values(), key=lambda each: -each.confidence)[:most]


class _Parse:
    def __init__(
        self, question: str, language: str, source: Source, read: TableText, reading: TableReading, now: datetime
    ) -> None:
        self._source, self._table = source, source.table
        self._columns, self._values = (placed(each, reading.starts.tolist()) for each in (read.columns, read.values))
        self._column_at = {at: item.column for item, at in self._columns}
        self._value_at = {at: item for item, at in self._values}
        self._whole = {name: _log(each) for name, each in parts(reading.whole, WHOLE).items() if name != "no"}
        self._no = parts(reading.whole, WHOLE)["no"]
        self._tokens = parts(reading.tokens, TOKEN)
        times = asked_when(fold_in_place(question), now, source.days, language, True) if source.days else []
        self._periods = [period for time in times for period in time.periods]
        self._time_words = ", ".join(question[time.start : time.end] for time in times)
        spans = [(time.start, time.end) for time in times]
        self._numbers = _numbers(question, language, spans)
        self._limited = cache(self._limited_by)
        asked = set(keys_of(question))
        self._words_of = {at: asked.intersection(keys_of(item.value)) for item, at in self._values}
        self._of_columns = {key for column in self._table.columns for key in keys_of(spoken(column.name))}
        # Words that are in cells, and in no column's name.
        self._of_cells = set[str]().union(*self._words_of.values()) - self._of_columns

    def choices(self) -> Iterator[tuple[float, Choices]]:
        """Yield what may be chosen, with the logarithm of its probability, in no order."""
        conditions = list(self._conditions())
        orders, groupings, ranks = (_options(self._whole[name], 2) for name in ("order", "grouping", "rank"))
        groups = self._column(1, tuple(Kind), True)[:2]
        for operation in _options(self._whole["operation"], len(OPERATIONS)):
            name = OPERATIONS[operation.value]
            if name is Operation.NONE or operation.log < LEAST_LOG:
                continue
            columns = self._column(0, MEASURED.get(name, tuple(Kind)), name in _NEEDLESS)[:4]
            for column, group in product(columns, groups):
                is_ranked = group.value or name in _RANKED
                is_time = group.value and self._kind(group.value) is Kind.DATE
                for rank, grouping in product(ranks if is_ranked else _ANY, groupings if is_time else _ANY):
                    for order in orders if group.value and RANKS[rank.value] != "all" else _ANY:
                        chosen = operation, column, group, rank, grouping, order
                        log = sum(each.log for each in chosen)
                        values = operation.value, column.value, group.value, rank.value, grouping.value, order.value
                        for more, limits, uses in conditions:
                            yield log + more, Choices(*values, limits, uses)

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

    def _column(self, which: int, kinds: Sequence[Kind], is_needless: bool) -> list[_Option]:
        """Return the columns to compute (0) or to group by (1), likeliest first, of those that fit; 0 is none."""
        logs = _log(np.array([self._no[which], *(self._tokens["column"][at, which] for _, at in self._columns)]))
        fit = [is_needless, *(self._fits(item.column, kinds) for item, _ in self._columns)]
        return [each for each in _options(np.where(fit, logs, -np.inf), 4) if np.isfinite(each.log)]

    def _fits(self, column: int, kinds: Sequence[Kind]) -> bool:
        """Return whether a column is of one of these kinds; what only identifies isn't added up."""
        own = self._table.columns[column]
        return own.kind in kinds and (own.is_quantity or own.kind is not Kind.NUMBER or Kind.DATE in kinds)

    def plan(self, choices: Choices) -> Plan:
        """Return the plan that was chosen. Raise _Doubt."""
        operation = OPERATIONS[choices.operation]
        column, group = (
            self._columns[place - 1][0].column if place else -1 for place in (choices.column, choices.group)
        )
        left = list(self._numbers)
        limits = [self._limit(self._column_at[at], LIMITS[limit], left) for at, limit in choices.limits]
        conditions = [*limits, *self._uses(operation, choices.uses)]
        if operation is Operation.DIFFERENCE and sum(bool(each.sides) for each in conditions) != 1:
            raise _Doubt
        if sum(each.values == (self._time_words,) for each in conditions) > 1:
            raise _Doubt
        is_ranked = group >= 0 or operation in _RANKED
        rank = RANKS[choices.rank] if is_ranked else "all"
        limit = None if rank == "all" else 1 if rank == "first" else self._several(left)
        if self._leaves_out(choices.uses, left):
            raise _Doubt
        grouping, is_least = GROUPINGS[choices.grouping], bool(choices.order)
        return Plan(self._source, operation.value, tuple(conditions), column, group, grouping, limit, is_least)

    def _leaves_out(self, uses: Sequence[tuple[int, int]], left: Sequence[float]) -> bool:
        """Return whether no condition has a word of the question that is in a cell, or a number left (but 1)."""
        used = set[str]().union(*(self._words_of[at] for at, _ in uses))
        numbers = {f"{number:g}" for number in left if number != 1}
        return bool(self._of_cells - used or numbers - used - self._of_columns)

    def _limit(self, column: int, name: str, left: list[float]) -> Condition:
        own = self._table.columns[column]
        is_time = own.kind is Kind.DATE or (own.is_year and bool(self._periods) and not left)
        number = None
        if name not in ("empty", "filled"):
            if not (self._periods if is_time else left and own.kind is Kind.NUMBER):
                raise _Doubt
            if not is_time:
                known = {row.values[column].number for row in self._table.rows} if name == "=" else set()
                number = next((each for each in left if each in known), left[0])
                left.remove(number)
        return self._limited(column, name, number)

    def _limited_by(self, column: int, name: str, number: float | None) -> Condition:
        cells = [row.values[column] for row in self._table.rows]
        if name in ("empty", "filled"):
            filled = self._source.filled[column]
            return Condition(column, name, (), filled if name == "filled" else frozenset(range(len(cells))) - filled)
        if number is None:
            times = [self._source.time(row, column) for row in self._table.rows]
            rows = (
                row
                for row, time in enumerate(times)
                if time and any(start <= time < end for start, end in self._periods)
            )
            return Condition(column, "=", (self._time_words,), frozenset(rows))
        holds = COMPARE[name]
        rows = (row for row, cell in enumerate(cells) if cell.number is not None and holds(cell.number, number))
        return Condition(column, name.replace("!=", "≠"), (f"{number:g}",), frozenset(rows))

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
            values = tuple(each.value for each in items)
            is_between = operation is Operation.DIFFERENCE and said == "=" and len(items) == 2
            sides = tuple(each.rows for each in items) if is_between else ()
            kept = rows if said == "=" else everything - rows
            found.append(Condition(column, said.replace("!=", "≠"), values, kept, sides))
        return found

    def _several(self, left: list[float]) -> int:
        """Return how many rows or groups the question asks for, and take it from the numbers."""
        count = next((each for each in left if each == int(each) and 1 < each <= MOST_LIMIT), None)
        if count is None:
            raise _Doubt
        left.remove(count)
        return int(count)


def _log(logits: FloatArray) -> FloatArray:
    shifted = logits - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def _options(logs: FloatArray, most: int) -> list[_Option]:
    return [_Option(int(each), float(logs[each])) for each in np.argsort(-logs)[:most]]


def _numbers(question: str, language: str, spans: Sequence[tuple[int, int]]) -> list[float]:
    """Return the numbers of a question, also those in words, that aren't within these spans."""
    found = []
    for claim in find_claims(question, language):
        if claim.kind is ClaimKind.NUMBER and not any(start <= claim.start < end for start, end in spans):
            values = (value.rstrip("%") for value in sorted(claim.values))
            numbers = [float(value) for value in values if value.replace(".", "", 1).lstrip("-").isdecimal()]
            # "300,000" may be 300 with decimals: three of them are rare.
            found += [max(numbers)] if numbers else []
    return found
