"""What is computed from a table to answer a question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from answerable.computing.operations import Asked
from answerable.computing.source import Source


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition and the rows that meet it. `column` is shown with `value`; -1 for one on several columns.

    `is_time` is whether it is a time that the question names.
    """

    column: int
    value: str
    rows: frozenset[int]
    is_time: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compute: `asked` of the rows that meet all conditions.

    `column` is what is added up or compared, `group` what it is added up for ("by person"), `subject` the column
    that is asked for ("which plants"), -1 without. `explained` is the share of the question's words that the plan
    accounts for, `strength` ranks plans with the same share. `is_of_cells` is whether the question names a column or
    value, not only the table's title. `assumed` is the one word that the plan doesn't account for, if that may name the
    rows.
    """

    source: Source
    asked: Asked
    conditions: tuple[Condition, ...] = ()
    column: int = -1
    group: int = -1
    subject: int = -1
    explained: float = 1.0
    strength: float = 0.0
    is_of_cells: bool = True
    assumed: str = ""

    @property
    def rows(self) -> list[int]:
        """The rows that meet all conditions, in order."""
        return self._rows(self.conditions)

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
