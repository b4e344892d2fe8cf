"""Compute a plan on a table: conditions on rows, an operation and a group, which a model gives as data.

Nothing of a plan is executed. The result says the plan in words and has the rows that it rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, islice
from typing import Any, TypeAlias

from answerable.answering.found import ComputedPassage, passage_of_lines
from answerable.computing.answers import MOST_CITATIONS, Writer, cited_rows, row_runs
from answerable.computing.conditions import column_called, columns_in_words, read_condition
from answerable.computing.plan import AGGREGATES, MEASURED, Plan, words_of
from answerable.computing.source import Source
from answerable.computing.vocabulary import cut
from answerable.datatypes import Citation, Span
from answerable.errors import PlanError
from answerable.tables.compute import Aggregate, Group, Period, Result, compute
from answerable.tables.table import Column, Kind, folded

SHOWN = 20  # rows or groups that are written out unless the plan has a limit; a guess, not measured
LONGEST = 8_000  # characters of the rows that are written out, some 2,500 tokens; a guess, not measured
EXAMPLES = 2  # rows that show how a table's cells are written; a guess, not measured

_PERIODS = {"day": Period.DAY, "month": Period.MONTH, "year": Period.YEAR}
Line: TypeAlias = tuple[str, Sequence[Citation]]


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
        head = f"{self.source.full_name}: {len(rows)} rows; {columns_in_words(self.source.table)}"
        return "\n  - ".join([head, *(cut(writer.row(self.source, row)) for row in range(len(rows))[:EXAMPLES])])

    def compute(self, plan: Mapping[str, Any], language: str) -> ComputedPassage | str:
        """Return what a plan computes, with the rows that it rests on; else what is wrong with the plan."""
        try:
            return passage_of_lines(self.answer(plan, language).lines, language)
        except PlanError as error:
            return str(error)

    def answer(self, plan: Mapping[str, Any], language: str) -> TableAnswer:
        """Return what a plan computes. Raise PlanError."""
        sort = plan.get("sort", "")
        written = _Written(read_plan(self.source, plan), Writer(language))
        lines = written.lines(column_called(self.source.table, sort.removeprefix("-")), sort.startswith("-"))
        return TableAnswer(tuple((line, tuple(cited)) for line, cited in lines))


def read_plan(source: Source, given: Mapping[str, Any]) -> Plan:
    """Read a plan by the columns of a table. Raise PlanError."""
    table, operation = source.table, given["operation"]
    name, period = operation["name"], given.get("period", "day")
    column, group = column_called(table, operation.get("column", "")), column_called(table, given.get("group", ""))
    for each, known in ((name, AGGREGATES), (period, _PERIODS)):
        if each not in known:
            raise PlanError(f"{each!r} is none of {', '.join(known)}")
    conditions = tuple(read_condition(table, each) for each in given.get("filters", ()))
    kind = table.columns[column].kind if column >= 0 else None
    kinds = MEASURED.get(name, ())
    if (kinds and kind not in kinds) or (name == "distinct" and kind is None):
        of = f" of {' or '.join(f'{each.value}s' for each in kinds)}" if kinds else ""
        of += f", not {table.columns[column].name}" if kind else ""
        raise PlanError(f"{name} needs a column{of}; {columns_in_words(table)}")
    if name == "list" and group >= 0:
        raise PlanError("list takes no group: give count, or leave the group out")
    return Plan(source, name, conditions, column, group, _PERIODS[period], given.get("limit"))


class _Written:
    """A plan in words, its result, and rows or groups."""

    def __init__(self, plan: Plan, writer: Writer) -> None:
        self._plan, self._writer, self._source, self._table = plan, writer, plan.source, plan.source.table

    def lines(self, sort: int, is_reversed: bool) -> list[Line]:
        """Return the lines, each with the rows that it is based on; rows that are listed, sorted by a column (-1)."""
        met, source = self._plan.rows, self._source
        # Totals would count twice, unless only these are asked for.
        counted = [row for row in met if row not in source.sums] or met
        found = self._result(counted)
        if self._plan.operation in ("most", "least"):
            sort, is_reversed = self._plan.column, self._plan.operation == "most"
        rows = self._in_order(found.rows, sort, is_reversed)
        # A result without rows rests on all rows.
        cited = cited_rows(source, rows or counted or range(len(self._table.rows)))
        words = words_of(replace(self._plan, limit=None))
        heads = [f"Plan: {words}", f"Result: {self._said(found, rows, counted)}"]
        heads += list(self._notes(len(met) - len(counted), counted))
        listed: Iterator[tuple[str, list[Span]]] = (
            (
                f"- {cut(each.name) or '(empty)'}: {self._of_group(each)}",
                row_runs(source, each.rows)[:MOST_CITATIONS],
            )
            for each in found.groups
        )
        if not found.groups:
            listed = ((f"- {cut(self._writer.row(source, row))}", [(row, row)]) for row in rows)
        return [*((head, cited) for head in heads), *self._listed(listed, len(found.groups or rows), cited)]

    def _result(self, rows: Sequence[int]) -> Result:
        plan, table, aggregate, group = self._plan, self._table, AGGREGATES[self._plan.operation], self._plan.group
        if plan.operation in ("sum", "average"):
            # Numbers that only identify something are added up too, if the plan says so: its words show the column.
            table = replace(table, columns=tuple(replace(column, is_quantity=True) for column in table.columns))
        if plan.operation == "distinct" and group < 0:
            aggregate, group = Aggregate.COUNT, plan.column
        found = compute(table, rows, aggregate, plan.column, group, plan.period, plan.limit if group < 0 else None)
        if group < 0 or table.columns[group].kind is not Kind.DATE:
            return found
        return replace(found, groups=tuple(sorted(found.groups, key=lambda each: each.name)))

    def _said(self, found: Result, rows: Sequence[int], counted: Sequence[int]) -> str:
        plan, number, groups = self._plan, self._rows(len(rows)), len(found.groups)
        if groups and plan.group < 0:
            return f"{self._writer.number(groups)} different values, in {number}"
        if groups:
            return f"{self._writer.number(groups)} group{'s' * (groups != 1)}, of {number}"
        if plan.operation in ("count", "list"):
            return number
        if not rows:
            return f"none: of {self._rows(len(counted))}, none has a value in {self._column.name}"
        if plan.operation in ("sum", "average"):
            all_rows = f" of {self._writer.number(len(counted))}" if len(rows) < len(counted) else ""
            return f"{self._writer.figures(found.figures)}, from {number}{all_rows}"
        return f"{self._figures(found.figures, rows[0])} ({number})"

    def _figures(self, figures: Mapping[str, float], row: int) -> str:
        """Return figures in words; the greatest or the smallest date, year or id as the row with it writes it."""
        is_extreme = self._plan.operation in ("most", "least")
        is_written = figures and (not is_extreme or self._column.is_quantity)
        return self._writer.figures(figures) if is_written else self._table.rows[row].values[self._plan.column].text

    def _notes(self, totals: int, rows: Sequence[int]) -> Iterator[str]:
        if totals:
            yield f"Left out: {self._rows(totals)} with a total."
        if self._plan.operation in ("sum", "average") and self._plan.column not in self._source.quantities:
            yield f"{self._column.name} seems to identify rows, not to measure."
        if self._table.is_cut:
            yield f"Only the first {self._rows(len(self._table.rows))} of the table were read."
        if repeated := len(self._table.uncounted.intersection(rows)):
            yield f"{self._rows(repeated)} are events that repeat or are cancelled, each taken once."

    def _in_order(self, rows: Sequence[int], column: int, is_reversed: bool) -> Sequence[int]:
        if column < 0:
            return rows
        cells = {row: self._table.rows[row].values[column] for row in rows}

        def size(row: int) -> tuple[datetime, float, str]:
            return cells[row].time or datetime.min, cells[row].number or 0.0, folded(cells[row].text)

        return sorted(rows, key=size, reverse=is_reversed)

    def _of_group(self, group: Group) -> str:
        number = self._rows(len(group.rows))
        is_counted = self._plan.column < 0 or self._plan.operation == "count" or self._plan.group < 0
        return number if is_counted else f"{self._figures(group.figures, group.rows[0])} ({number})"

    def _listed(self, listed: Iterator[tuple[str, list[Span]]], count: int, cited: Sequence[Citation]) -> list[Line]:
        """Return the first lines, up to the limit and to `LONGEST` characters, with their runs of rows cited."""
        shown, characters = list[tuple[str, list[Span]]](), 0
        for line, runs in islice(listed, self._plan.limit or SHOWN):
            characters += len(line)
            if shown and characters > LONGEST:
                break
            shown.append((line, runs))
        # All are cited at once, since each time the lines of the whole document are counted.
        citations = iter(self._source.cite(chain.from_iterable(runs for _, runs in shown)))
        lines: list[Line] = [(line, tuple(islice(citations, len(runs)))) for line, runs in shown]
        more = count - len(shown)
        return [*lines, (f"… and {self._writer.number(more)} more", cited)] if more else lines

    @property
    def _column(self) -> Column:
        return self._table.columns[self._plan.column]

    def _rows(self, count: int) -> str:
        noun = "message" if self._source.is_chat else "row"
        return f"{self._writer.number(count)} {noun}{'s' * (count != 1)}"
