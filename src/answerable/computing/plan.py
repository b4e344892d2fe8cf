"""What is computed from a table to answer a question."""

from __future__ import annotations

from dataclasses import dataclass

from answerable.computing.operations import Asked
from answerable.computing.source import Source


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition and the rows that meet it. `column` is shown with `value`; -1 for one on several columns."""

    column: int
    value: str
    rows: frozenset[int]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compute: `asked` of the rows that meet all conditions.

    `column` is what is added up or compared, `group` what it is added up for ("by person"), `subject` the column
    that is asked for ("which plants"), -1 without. `explained` is the share of the question's words that the plan
    accounts for, `strength` ranks plans with the same share. `assumed` is the one word that it doesn't account for, if
    that may be a name for the rows.
    """

    source: Source
    asked: Asked
    conditions: tuple[Condition, ...] = ()
    column: int = -1
    group: int = -1
    subject: int = -1
    explained: float = 1.0
    strength: float = 0.0
    assumed: str = ""

    @property
    def rows(self) -> list[int]:
        """The rows that meet all conditions, in order."""
        kept = set(range(len(self.source.table.rows)))
        for condition in self.conditions:
            kept &= condition.rows
        return sorted(kept)
