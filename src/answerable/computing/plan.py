"""What is computed from a table to answer a question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from answerable.computing.operations import Asked
from answerable.computing.source import Source


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition and the rows that meet it. `column` is shown with `value`; -1 for one on several columns.

    `is_time` and `is_limit` tell that it is a time or a limit of numbers, `is_whole` that the cells are the value and
    no more. `start` is where its words begin in the question.
    """

    column: int
    value: str
    rows: frozenset[int]
    is_time: bool = False
    is_limit: bool = False
    is_whole: bool = False
    start: int = -1


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compute: `asked` of the rows that meet all conditions.

    `column` is what is added up or compared, `group` what it is added up for ("by person"), `subject` the column
    that is asked for ("which plants"), -1 without. `strength` is how much of the question is in the table, which
    ranks plans: all explain the whole question.
    """

    source: Source
    asked: Asked
    conditions: tuple[Condition, ...] = ()
    column: int = -1
    group: int = -1
    subject: int = -1
    strength: float = 0.0

    @property
    def rows(self) -> list[int]:
        """The rows that meet all conditions, in order."""
        return self._rows(self.conditions)

    @property
    def is_uncertain(self) -> bool:
        """Whether a row that may count, whenever it is, sums up others or is an event that repeats or is cancelled."""
        others = [condition for condition in self.conditions if not condition.is_time]
        return not self.source.uncertain.isdisjoint(self._rows(others))

    @property
    def lacks_rows_of_its_time(self) -> bool:
        """Whether rows meet all conditions but the times."""
        others = [condition for condition in self.conditions if not condition.is_time]
        return len(others) < len(self.conditions) and not self.rows and bool(self._rows(others))

    def _rows(self, conditions: Iterable[Condition]) -> list[int]:
        kept = set(range(len(self.source.table.rows)))
        for condition in conditions:
            kept &= condition.rows
        return sorted(kept)
