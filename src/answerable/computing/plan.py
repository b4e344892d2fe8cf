"""A plan on a table, as data: conditions on rows, an operation, a group and how many are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from answerable.computing.source import Source
from answerable.computing.vocabulary import keys_of
from answerable.tables.compute import Aggregate, Period
from answerable.tables.table import Kind


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


AGGREGATES: Mapping[str, Aggregate] = {**{each.value: each for each in Aggregate}, "list": Aggregate.COUNT}
"""How the operations that need computing are computed."""
MEASURED: Mapping[str, tuple[Kind, ...]] = {
    **dict.fromkeys((Operation.SUM, Operation.AVERAGE, Operation.DIFFERENCE), (Kind.NUMBER,)),
    **dict.fromkeys((Operation.MOST, Operation.LEAST), (Kind.NUMBER, Kind.DATE)),
}
"""The kinds of columns of the operations that don't compute with every kind."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a column, in words, and the rows that meet it.

    `comparison` is `=`, `≠`, `>`, …, `contains`, `empty` or `filled`. Several `values` mean any of them. `sides` are
    the rows of each of two values, of which the difference is asked for.
    """

    column: int
    comparison: str
    values: tuple[str, ...]
    rows: frozenset[int]
    sides: tuple[frozenset[int], ...] = ()


_SAID = {
    "count": "number of rows with",
    "distinct": "different values of",
    "sum": "sum of",
    "average": "average of",
    "most": "greatest",
    "least": "smallest",
    "list": "rows with",
    "lookup": "rows with",
    "difference": "difference of",
}
_COMPARED = {"empty": "is empty", "filled": "is not empty"}
_SHOWN = ("list", "lookup")
_OF_EACH = ("sum", "average", "most", "least")


@dataclass(frozen=True, slots=True)
class Plan:
    """An operation on the rows of a table that meet all conditions; see `Operation`.

    `column` is added up, compared or looked up, `group` the column for whose values figures are computed; -1 if there
    is none. `period` groups times. `limit` is how many rows or groups are asked for (None: all, or the only one), the
    smallest ones if `is_least`.
    """

    source: Source
    operation: str
    conditions: tuple[Condition, ...] = ()
    column: int = -1
    group: int = -1
    period: Period = Period.DAY
    limit: int | None = None
    is_least: bool = False

    @property
    def rows(self) -> list[int]:
        """The rows that meet all conditions, in order."""
        kept = set(range(len(self.source.table.rows)))
        for condition in self.conditions:
            kept &= condition.rows
        return sorted(kept)

    def misses_words_of(self, question: str) -> bool:
        """Return whether a column like the plan's has more of a question's words, or as many, if not all of the plan's.

        Asked for the price per month, the model may take "Price per week", and not "Price per night".
        """
        asked, names = set(keys_of(question)), [set(keys_of(each.name)) for each in self.source.table.columns]
        own = names.pop(self.column) if self.column >= 0 else set[str]()
        said = [each & asked for each in names if not own.isdisjoint(each)]
        is_open = not own.isdisjoint(asked) and not own <= asked
        return any(own & asked < each or (is_open and own & asked == each) for each in said)

    @property
    def key(self) -> object:
        """What tells the answers of plans apart.

        Of one row, all answers show the row; and a list also says how many rows there are.
        """
        rows, operation, column, limit = tuple(self.rows), self.operation, self.column, self.limit
        if self.group >= 0:
            order = "least" if limit and self.is_least else "most"
            name = order if limit == 1 else operation
            if name in ("most", "least") and operation in _OF_EACH and self._are_different(self.group):
                return name, column, 1, rows
            is_counted = operation in ("count", *_SHOWN)
            period = self.period if self.source.table.columns[self.group].kind is Kind.DATE else None
            return ("count", -1) if is_counted else (operation, column), self.group, period, order, rows
        if operation in _SHOWN or (len(rows) == 1 and operation in _OF_EACH):
            return rows, limit if operation == "list" and len(rows) > 1 else None
        if operation == "count" or (operation == "distinct" and self._are_different(column)):
            return tuple(self.filled), None
        if operation in ("most", "least"):
            return operation, column, limit or 1, rows
        sides = frozenset(side.intersection(rows) for each in self.conditions for side in each.sides)
        return operation, column, rows, sides

    @property
    def filled(self) -> list[int]:
        """The rows with something in `column`, which is all that a count counts; all rows if there is no column."""
        return [row for row in self.rows if self.column < 0 or row in self.source.filled[self.column]]

    def _are_different(self, column: int) -> bool:
        texts = [self.source.texts[column][row] for row in self.rows]
        return len(set(texts)) == len(texts)


def words_of(plan: Plan) -> str:
    """Return a plan in English around the table's own names."""
    source, columns, said = plan.source, plan.source.table.columns, _SAID[plan.operation]
    what = f"{said} {columns[plan.column].name}" if plan.column >= 0 else said.removesuffix(" with").removesuffix(" of")
    if plan.group >= 0:
        own = columns[plan.group]
        group = f"{own.name}{f' ({plan.period.name.lower()})' if own.kind is Kind.DATE else ''}"
        order = "smallest" if plan.is_least else "greatest"
        what = f"{plan.limit} {group} with the {order} {what}" if plan.limit else f"{what} for each {group}"
    elif plan.limit and plan.limit > 1:
        what = f"the {plan.limit} {what}"
    where = " and ".join(_condition_in_words(plan, each) for each in plan.conditions) or "all"
    return f"{what}; table: {source.full_name}; rows: {where}"


def _condition_in_words(plan: Plan, condition: Condition) -> str:
    name = plan.source.table.columns[condition.column].name if condition.column >= 0 else ""
    comparison = _COMPARED.get(condition.comparison, condition.comparison)
    return " ".join(filter(None, (name, comparison, " or ".join(condition.values))))
