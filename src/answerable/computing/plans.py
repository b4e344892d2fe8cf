"""Compute a plan on a table: conditions on rows, an operation and a group, which a model gives as data.

Nothing of a plan is executed. The result says the plan in words and has the rows that it rests on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, islice
from typing import Any

from answerable.answering.found import ComputedPassage, passage_of_lines
from answerable.computing.answers import MOST_CITATIONS, Writer, cited_rows, compute_rows, row_runs
from answerable.computing.conditions import (
    column_called,
    columns_in_words,
    cut,
    read_condition,
)
from answerable.computing.plan import AGGREGATES
from answerable.computing.source import Source
from answerable.datatypes import Citation
from answerable.errors import PlanError
from answerable.tables.compute import Aggregate, Group, Period, Result
from answerable.tables.table import Kind, folded

SHOWN = 20  # rows or groups that are written out unless the plan has a limit; a guess, not measured
LONGEST = 8_000  # characters of the rows that are written out, some 2,500 tokens; a guess, not measured
EXAMPLES = 2  # rows that show how a table's cells are written; a guess, not measured

_SAID = {
    "count": "number of rows with",
    "distinct": "different values of",
    "sum": "sum of",
    "average": "average of",
    "most": "greatest",
    "least": "smallest",
    "list": "rows with",
}
_PERIODS = {"day": Period.DAY, "month": Period.MONTH, "year": Period.YEAR}


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """What was computed from a table: the plan in words, the result, and rows or groups, a line each.

    Each line has the citations of the rows that it rests on, at most `MOST_CITATIONS`.
    """

    lines: tuple[tuple[str, tuple[Citation, ...]], ...]


@dataclass(frozen=True)
class PlannedSource:
    """A table of the library, on which plans are computed."""

    source: Source

    @property
    def id(self) -> str:
        """An id that no other table of the library has."""
        parts = self.source.parts or (self.source,)
        return " ".join(f"{each.document.library}/{each.document.id}/{each.table.span}" for each in parts)

    @property
    def description(self) -> str:
        """Its name, columns with kinds and units, number of rows, and its first rows, a line each."""
        rows, writer = self.source.table.rows, Writer("en")
        head = f"{_name(self.source)}: {len(rows)} rows; {columns_in_words(self.source.table)}"
        return "\n  - ".join([head, *(cut(writer.row(self.source, row)) for row in range(len(rows))[:EXAMPLES])])

    def compute(self, plan: Mapping[str, Any], language: str) -> ComputedPassage | str:
        """Return what a plan computes, with the rows that it rests on; else what is wrong with the plan."""
        try:
            return passage_of_lines(self.answer(plan, language).lines, language)
        except PlanError as error:
            return str(error)

    def answer(self, plan: Mapping[str, Any], language: str) -> TableAnswer:
        """Return what a plan computes. Raise PlanError."""
        lines = _Computation(self.source, plan, language).lines()
        return TableAnswer(tuple((line, tuple(cited)) for line, cited in lines))


class _Computation:
    """A plan, read by the columns of a table. Raise PlanError."""

    def __init__(self, source: Source, plan: Mapping[str, Any], language: str) -> None:
        self._source, self._writer, self._table = source, Writer(language), source.table
        operation = plan["operation"]
        self._name = operation["name"]
        self._column = column_called(self._table, operation.get("column", ""))
        self._group = column_called(self._table, plan.get("group", ""))
        self._period = plan.get("period", "day")
        for given, known in ((self._name, AGGREGATES), (self._period, _PERIODS)):
            if given not in known:
                raise PlanError(f"{given!r} is none of {', '.join(known)}")
        self._limit = plan.get("limit")
        self._conditions = [read_condition(self._table, each) for each in plan.get("filters", ())]
        kind = self._table.columns[self._column].kind if self._column >= 0 else None
        needed = {"sum": "numbers", "average": "numbers", "most": "numbers or dates", "least": "numbers or dates"}
        fits = kind is Kind.NUMBER or (kind is Kind.DATE and self._name in ("most", "least"))
        if (self._name in needed and not fits) or (self._name == "distinct" and kind is None):
            of = f" of {needed[self._name]}" if self._name in needed else ""
            of += f", not {self._named(self._column)}" if kind else ""
            raise PlanError(f"{self._name} needs a column{of}; {columns_in_words(self._table)}")
        sort = plan.get("sort", "")
        self._sort, self._is_reversed = column_called(self._table, sort.removeprefix("-")), sort.startswith("-")
        if self._name == "list" and self._group >= 0:
            raise PlanError("list takes no group: give count, or leave the group out")

    def lines(self) -> list[tuple[str, Sequence[Citation]]]:
        """Return the plan in words, the result, and rows or groups; each line with the rows that it is based on."""
        met = self._met()
        # Totals would count twice, unless only these are asked for.
        counted = [row for row in met if row not in self._source.sums] or met
        found = self._result(counted)
        rows = self._in_order(found.rows)
        # A result without rows rests on all rows.
        cited = cited_rows(self._source, rows or counted or range(len(self._table.rows)))
        heads = [f"Plan: {self._words()}", f"Result: {self._said(found, rows, counted)}"]
        heads += self._notes(len(met) - len(counted), counted)
        rest = self._of_groups(found.groups, cited) or self._of_rows(rows, cited)
        return [*((head, cited) for head in heads), *rest]

    def _met(self) -> list[int]:
        rows, tests = self._table.rows, self._conditions
        return [n for n, row in enumerate(rows) if all(each.test(row.values[each.column]) for each in tests)]

    def _result(self, rows: Sequence[int]) -> Result:
        table, aggregate, group = self._table, AGGREGATES[self._name], self._group
        if self._name in ("sum", "average"):
            # Numbers that only identify something are added up too, if the plan says so: its words show the column.
            table = replace(table, columns=tuple(replace(column, is_quantity=True) for column in table.columns))
        if self._name == "distinct" and group < 0:
            aggregate, group = Aggregate.COUNT, self._column
        limit = self._limit if group < 0 else None
        found = compute_rows(table, rows, aggregate, self._column, group, _PERIODS[self._period], limit)
        if group < 0 or table.columns[group].kind is not Kind.DATE:
            return found
        return replace(found, groups=tuple(sorted(found.groups, key=lambda each: each.name)))

    def _said(self, found: Result, rows: Sequence[int], counted: Sequence[int]) -> str:
        number = self._rows(len(rows))
        if found.groups and self._group < 0:
            return f"{self._writer.number(len(found.groups))} different values, in {number}"
        if found.groups:
            groups = len(found.groups)
            return f"{self._writer.number(groups)} group{'s' * (groups != 1)}, of {number}"
        if self._name in ("count", "list"):
            return number
        if not rows:
            return f"none: of {self._rows(len(counted))}, none has a value in {self._named(self._column)}"
        if self._name in ("sum", "average"):
            all_rows = f" of {self._writer.number(len(counted))}" if len(rows) < len(counted) else ""
            return f"{self._writer.figures(found.figures)}, from {number}{all_rows}"
        return f"{self._figures(found.figures, rows[0])} ({number})"

    def _figures(self, figures: Mapping[str, float], row: int) -> str:
        """Return figures in words; the greatest or the smallest date, year or id as the row with it writes it."""
        is_written = figures and (self._name not in ("most", "least") or self._table.columns[self._column].is_quantity)
        return self._writer.figures(figures) if is_written else self._table.rows[row].values[self._column].text

    def _notes(self, totals: int, rows: Sequence[int]) -> list[str]:
        notes = [f"Left out: {self._rows(totals)} with a total."] if totals else []
        if self._name in ("sum", "average") and self._column not in self._source.quantities:
            notes.append(f"{self._named(self._column)} seems to identify rows, not to measure.")
        if self._table.is_cut:
            notes.append(f"Only the first {self._rows(len(self._table.rows))} of the table were read.")
        if repeated := len(self._table.uncounted.intersection(rows)):
            notes.append(f"{self._rows(repeated)} are events that repeat or are cancelled, each taken once.")
        return notes

    def _in_order(self, rows: Sequence[int]) -> Sequence[int]:
        """Return rows from the greatest or from the smallest value, if that is asked for; else as they are."""
        is_extreme = self._name in ("most", "least")
        column = self._column if is_extreme else self._sort
        if column < 0:
            return rows
        cells = {row: self._table.rows[row].values[column] for row in rows}

        def size(row: int) -> tuple[datetime, float, str]:
            return cells[row].time or datetime.min, cells[row].number or 0.0, folded(cells[row].text)

        return sorted(rows, key=size, reverse=self._name == "most" if is_extreme else self._is_reversed)

    def _of_groups(self, groups: Sequence[Group], cited: Sequence[Citation]) -> list[tuple[str, Sequence[Citation]]]:
        is_counted = self._column < 0 or self._name == "count" or self._group < 0
        lines = []
        for each in groups:
            number = self._rows(len(each.rows))
            figure = number if is_counted else f"{self._figures(each.figures, each.rows[0])} ({number})"
            lines.append(f"- {cut(each.name) or '(empty)'}: {figure}")
        shown = self._bounded(lines)
        # All are cited at once, since each time the lines of the whole document are counted.
        runs = [row_runs(self._source, each.rows)[:MOST_CITATIONS] for each in groups[: len(shown)]]
        citations = iter(self._source.cite(chain.from_iterable(runs)))
        found: list[tuple[str, Sequence[Citation]]] = [
            (line, tuple(islice(citations, len(several)))) for line, several in zip(shown, runs, strict=True)
        ]
        return found + self._more(len(lines) - len(shown), cited)

    def _of_rows(self, rows: Sequence[int], cited: Sequence[Citation]) -> list[tuple[str, Sequence[Citation]]]:
        most = range(len(rows))[: self._limit or SHOWN]
        shown = self._bounded([f"- {cut(self._writer.row(self._source, rows[place]))}" for place in most])
        citations = self._source.cite((row, row) for row in rows[: len(shown)])
        found: list[tuple[str, Sequence[Citation]]] = [
            (line, [citation]) for line, citation in zip(shown, citations, strict=True)
        ]
        return found + self._more(len(rows) - len(shown), cited)

    def _bounded(self, lines: Sequence[str]) -> list[str]:
        """Return the lines up to the limit and to `LONGEST` characters."""
        kept: list[str] = []
        for line in lines[: self._limit or SHOWN]:
            if kept and sum(map(len, kept)) + len(line) > LONGEST:
                break
            kept.append(line)
        return kept

    def _more(self, count: int, cited: Sequence[Citation]) -> list[tuple[str, Sequence[Citation]]]:
        return [(f"… and {self._writer.number(count)} more", cited)] if count else []

    def _words(self) -> str:
        said = _SAID[self._name]
        what = f"{said} {self._named(self._column)}" if self._column >= 0 else said.removesuffix(" with")
        if self._group >= 0:
            is_date = self._table.columns[self._group].kind is Kind.DATE
            what += f" for each {self._named(self._group)}{f' ({self._period})' if is_date else ''}"
        where = " and ".join(each.words for each in self._conditions) or "all"
        return f"{what}; table: {_name(self._source)}; rows: {where}"

    def _named(self, column: int) -> str:
        return self._table.columns[column].name

    def _rows(self, count: int) -> str:
        noun = "message" if self._source.is_chat else "row"
        return f"{self._writer.number(count)} {noun}{'s' * (count != 1)}"


def _name(source: Source) -> str:
    title = "" if source.parts or source.is_chat else source.table.title
    return ", ".join(dict.fromkeys(filter(None, (source.name, title))))
