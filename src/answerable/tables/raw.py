"""A table before its columns are typed: names, and rows of text with their places."""

from __future__ import annotations

from dataclasses import dataclass, field

from answerable.tables.table import Origin, Row, Table
from answerable.tables.values import is_total, typed
from answerable.text.terms import fold

MOST_CELLS = 400_000
"""Cells beyond these are left out: a table of that size belongs into a database."""
MOST_COLUMNS = 200


@dataclass
class RawTable:
    """Names of columns, and for each row its start, end and cells."""

    names: list[str]
    rows: list[tuple[int, int, list[str]]] = field(default_factory=list)
    title: str = ""
    origin: Origin = Origin.TABLE

    def typed(self, language: str) -> Table:
        """Return the table with typed columns; rows that repeat the header are left out, a total is set apart."""
        names = self.names[:MOST_COLUMNS]
        width = len(names)
        kept = [row for row in self.rows[: MOST_CELLS // max(width, 1)] if not _repeats(row[2], names)]
        grid = [[*cells[:width], *[""] * (width - len(cells))] for _, _, cells in kept]
        columns, values = typed(names, grid, language)
        rows = [Row(start, end, tuple(cells)) for (start, end, _), cells in zip(kept, values, strict=True)]
        total = None
        if len(rows) > 1 and self.origin is Origin.TABLE and (first := _first_text(rows[-1])) and is_total(first):
            total = rows.pop()
        return Table(self.origin, self.title, tuple(columns), tuple(rows), total)


def _repeats(cells: list[str], names: list[str]) -> bool:
    return [fold(cell.strip().lower()) for cell in cells] == [fold(name.strip().lower()) for name in names]


def _first_text(row: Row) -> str:
    return next((value.text for value in row.values if value.text), "")
