"""Write computed answers: the figure, how it was computed, and the rows it was computed from, each cited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from answerable.computing.plan import AGGREGATES, Condition, Operation, Plan
from answerable.computing.source import Source
from answerable.computing.vocabulary import cut, word_lists
from answerable.datatypes import Answer, Citation, Reason
from answerable.tables.columns import unit_in_name
from answerable.tables.compute import Aggregate, compute
from answerable.tables.table import Column, Kind, Origin, Row, Value

SHOWN = 8
"""Rows that are written out below a figure; an answer that is itself a list has up to `LONGEST_LIST`."""
LONGEST_LIST = 60  # rows: about as many as people read through; a guess, not measured
COMPARED = 4  # rows that a question may name in order to compare them; a guess, not measured
MOST_CITATIONS = 300  # citations of an answer at most, which bounds its size; a guess, not measured
MOST_GROUPS = 12  # groups that are written out: the months of a year; a guess, not measured
LONGEST_CELL = 160  # characters to which a cell is cut: about two lines; a guess, not measured
_BLANK = " \n\t\u200e\u200f"


class Writer:
    """Writes answers in a language, or in English if the word lists lack the language."""

    def __init__(self, language: str) -> None:
        lists = word_lists("computed")
        self.language = language if language in lists else "en"
        self._words = lists[self.language]
        self._columns = lists["chat"][self.language]

    def answer(self, question: str, plan: Plan) -> Answer | None:
        """Compute the plan and write the answer; None if no row has the data for it."""
        rows, operation = plan.rows, Operation(plan.operation)
        if not rows:
            return None
        if plan.group >= 0:
            return self._by_group(question, plan, rows)
        match operation:
            case Operation.COUNT:
                rows = plan.filled
                return self._said(question, plan, "count", rows) if rows else None
            case Operation.LOOKUP if len(rows) == 1:
                figure = cut(plan.source.table.rows[rows[0]].values[plan.column].text, LONGEST_CELL)
                column = self.column(plan.source, plan.column)
                return self._said(question, plan, "single", rows, column=column, figure=figure)
            case Operation.LIST | Operation.LOOKUP:
                rows = rows[: plan.limit] if operation is Operation.LIST else rows
                return self._said(question, plan, "count", rows, LONGEST_LIST)
            case Operation.DIFFERENCE:
                return self._difference(question, plan, rows)
        return self._figured(question, plan, rows, operation)

    def _difference(self, question: str, plan: Plan, rows: Sequence[int]) -> Answer | None:
        sides = next(condition.sides for condition in plan.conditions if condition.sides)
        aggregate = Aggregate.SUM if plan.column >= 0 else Aggregate.COUNT
        sums = [compute(plan.source.table, sorted(side.intersection(rows)), aggregate, plan.column) for side in sides]
        if len(sums[0].figures) != 1 or sums[0].figures.keys() != sums[1].figures.keys():
            return None
        figures = {unit: abs(figure - sums[1].figures[unit]) for unit, figure in sums[0].figures.items()}
        column = self.column(plan.source, plan.column) or self._words["rows_name"][plan.source.is_chat]
        return self._said(question, plan, "difference", rows, column=column, figure=self.figures(figures))

    def _figured(self, question: str, plan: Plan, rows: Sequence[int], operation: Operation) -> Answer | None:
        source, aggregate = plan.source, AGGREGATES[plan.operation]
        is_extreme = operation in (Operation.MOST, Operation.LEAST)
        found = compute(source.table, rows, aggregate, plan.column, limit=plan.limit)
        if not found.rows or not (found.figures or is_extreme):
            return None
        counted, figure = list(found.rows), self.figures(found.figures)
        if is_extreme:
            own = source.table.columns[plan.column]
            if not found.figures or not own.is_quantity:
                figure = source.table.rows[counted[0]].values[plan.column].text
            if any(len(each.values) > 1 for each in plan.conditions) and len(rows) <= COMPARED:
                # "Which costs more, A or B?" asks to show both.
                counted += [row for row in rows if row not in counted]
        name = operation.value if len(counted) > 1 or is_extreme else "single"
        column = self.column(source, plan.column)
        return self._said(question, plan, name, counted, column=column, group=column, figure=figure)

    def _by_group(self, question: str, plan: Plan, rows: Sequence[int]) -> Answer | None:
        """Write a figure for each value of a column; if the most or the least is asked for, in that order."""
        source, is_counted = plan.source, plan.operation in ("count", "list", "lookup") or plan.column < 0
        aggregate = Aggregate.COUNT if is_counted else AGGREGATES[plan.operation]
        column = -1 if is_counted else plan.column
        found = compute(source.table, rows, aggregate, column, plan.group, plan.period)
        groups = [each for each in found.groups if each.name and (each.figures or is_counted)]
        if not groups:
            return None
        if plan.is_least if plan.limit else plan.operation == "least":
            groups.reverse()
        elif not plan.limit and source.table.columns[plan.group].kind is Kind.DATE:
            groups.sort(key=lambda each: each.name)
        name = "counted" if is_counted else "grouped"
        if plan.limit:
            name = "smallest" if plan.is_least else "largest"
        rows_name = self._words["rows_name"][source.is_chat]
        said = rows_name if is_counted else self.column(source, column)
        grouped_by = self.column(source, plan.group)
        line = self._words[name].format(of=self._of(plan), column=said, group=grouped_by, rows_name=rows_name)
        lines = [line, *(f"- {each.name}: {self.figures(each.figures)}" for each in groups[:MOST_GROUPS])]
        if len(groups) > MOST_GROUPS:
            lines.append(self._words["more"].format(n=len(groups) - MOST_GROUPS))
        counted = [number for each in groups for number in each.rows]
        return self._answer(question, lines, cited_rows(source, counted), [])

    def _said(
        self, question: str, plan: Plan, name: str, rows: Sequence[int], shown: int = SHOWN, **said: str
    ) -> Answer:
        """Return the answer: its line, of this name, then the first rows with their citation marks."""
        one, several = self._words["messages" if plan.source.is_chat else "rows"]
        counted = one if len(rows) == 1 else several.format(n=self.number(len(rows)))
        lines = [self._words[name].format(of=self._of(plan), rows=counted, **said)]
        citations: list[Citation] = []
        written = rows[:shown]
        if written:
            citations = plan.source.cite((row, row) for row in written)
            lines += [f"- {self.row(plan.source, row)} [{n}]" for n, row in enumerate(written, 1)]
        if len(rows) > shown:
            lines.append(self._words["more"].format(n=len(rows) - shown))
            citations += cited_rows(plan.source, rows[shown:], MOST_CITATIONS - len(citations))
        elif not rows:
            citations = cited_rows(plan.source, range(len(plan.source.table.rows)))
        return self._answer(question, lines, citations, written, said.get("figure", counted))

    def _answer(
        self, question: str, lines: list[str], citations: list[Citation], written: Sequence[int], figure: str = ""
    ) -> Answer:
        if citations and not written:
            marks = "".join(f" [{number}]" for number in range(1, min(len(citations), SHOWN) + 1))
            lines[0] += marks
        text = "\n".join(lines)
        found = Answer(question, text, True, Reason.ANSWERED, self.language, 1.0, tuple(citations))
        return replace(found, figure=figure)

    def unclear(self, question: str, sources: Sequence[Source]) -> Answer:
        """Return an answer that names the tables that a question may be about, with their columns."""
        lines = [self._words["unclear"]]
        for source in sources:
            columns = (self.column(source, number) for number in range(len(source.table.columns)))
            lines.append(f"- {source.name} ({', '.join(columns)})")
        return Answer(question, "\n".join(lines), False, Reason.UNCLEAR, self.language, 0.0)

    def _of(self, plan: Plan) -> str:
        """Return the table's name with the conditions, as in "members.csv, City: Madrid"."""
        conditions = [self._condition(plan.source, each) for each in plan.conditions]
        table = plan.source.table
        cut = [self._words["cut"].format(n=self.number(len(table.rows)))] if table.is_cut else []
        return ", ".join([plan.source.name, *cut, *conditions])

    def _condition(self, source: Source, condition: Condition) -> str:
        comparison = condition.comparison if condition.comparison != "=" else ""
        comparison = self._words["cells"].get(comparison, comparison)
        said = " ".join(filter(None, (comparison, ", ".join(condition.values))))
        return f"{self.column(source, condition.column)}: {said}"

    def column(self, source: Source, column: int) -> str:
        """Return a column's name, of a chat in this language; "" for column -1."""
        name = source.table.columns[column].name if column >= 0 else ""
        if source.table.origin is Origin.TABLE:
            return name
        return str(self._columns.get(name, name))

    def row(self, source: Source, number: int) -> str:
        """Return a row on one line: its cells with their columns' names; for a chat message, "sender (time): text"."""
        row, table = source.table.rows[number], source.table
        if source.is_chat:
            sender, time, text = row.values[:3]
            when = f"{time.time:%Y-%m-%d %H:%M}" if time.time else time.text
            shown = f"“{cut(text.text, LONGEST_CELL)}”" if text.text else self._attachment(source, row)
            return f"{sender.text} ({when}): {shown}"
        pairs = zip(table.columns, row.values, strict=True)
        return " · ".join(_cell(column, value) for column, value in pairs if value.text)

    @staticmethod
    def _attachment(source: Source, row: Row) -> str:
        """Return the kind of a message's attachment, with the text's placeholder for it: `photo “IMG-1.jpg”`."""
        sender, kind = row.values[0].text, row.values[3].text
        placeholder = source.document.content[row.start : row.end].partition(f"{sender}:")[2].strip(_BLANK)
        return f"{kind} “{cut(placeholder, LONGEST_CELL)}”" if placeholder else kind

    def figures(self, figures: Mapping[str, float]) -> str:
        """Return figures with their units, as one text."""
        return " + ".join(self.number(figure, unit) for unit, figure in figures.items())

    def number(self, figure: float, unit: str = "") -> str:
        """Return a number with at most two decimals, as this language writes it, and its unit."""
        text = f"{round(figure, 2):,.2f}"
        if text.endswith(".00"):
            text = text[:-3]
        if self.language != "en":
            text = text.translate(str.maketrans(",.", ".,"))
        return f"{text}{'' if unit in ('', '%') else ' '}{unit}"


def _cell(column: Column, value: Value) -> str:
    is_bare = value.number is not None and value.text.strip("-+.,0123456789 ") == ""
    # Don't add the unit if the column's name contains it: "Price (EUR): 12".
    unit = column.unit if is_bare and not unit_in_name(column.name, column.unit) else ""
    shown = f"{cut(value.text, LONGEST_CELL)}{' ' if unit not in ('', '%') else ''}{unit}"
    return f"{column.name}: {shown}" if column.name else shown


def cited_rows(source: Source, rows: Iterable[int], most: int = MOST_CITATIONS) -> list[Citation]:
    """Cite rows; consecutive rows of a table become one quote."""
    return source.cite(row_runs(source, rows)[:most])


def row_runs(source: Source, rows: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last row of each run of rows that follow each other in their document."""
    runs: list[tuple[int, int]] = []
    for row in sorted(set(rows)):
        if runs and runs[-1][1] == row - 1 and row not in source.starts and row not in source.breaks:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs
