"""Plans in words, several in one text, for the model that reads them beside a question and chooses one, or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from answerable.computing.vocabulary import spoken
from answerable.tables.table import Kind
from training.table_parse import Plan
from training.table_text import Item, TableText

LONGEST_RESULT = 48
"""Characters of a result that are read. A guess, not measured."""
_SAID = {
    "count": "number of rows",
    "distinct": "number of different {}",
    "sum": "total {}",
    "average": "average {}",
    "most": "highest {}",
    "least": "lowest {}",
    "list": "rows",
    "lookup": "{}",
    "difference": "difference of {}",
}


def plans_text(plans: Sequence[Plan]) -> TableText:
    """Return plans as one text, each an item among the columns, with its place in `plans` as the column."""
    name = " ".join(plans[0].source.name.split())[:40] if plans else ""
    text, items = f"{name}: ", list[Item]()
    for number, plan in enumerate(plans):
        items.append(Item(len(text), number))
        text += f"{words_of(plan)}; "
    return TableText(text, tuple(items), ())


def words_of(plan: Plan) -> str:
    """Return a plan in English around the table's own names, with the number of rows and what comes out."""
    return f"{''.join(_words(plan))} ({len(plan.rows)} rows{_result(plan)})"


def _words(plan: Plan) -> Iterator[str]:
    what = _SAID[plan.operation].format(_named(plan, plan.column))
    if plan.group < 0:
        yield f"the {plan.limit} {what}" if plan.limit and plan.limit > 1 else what
    else:
        is_time = plan.source.table.columns[plan.group].kind is Kind.DATE
        group = plan.period.name.lower() if is_time else _named(plan, plan.group)
        order = "lowest" if plan.is_least else "highest"
        count = "" if plan.limit == 1 else f"{plan.limit} "
        yield f"{count}{group} with the {order} {what}" if plan.limit else f"{what} for each {group}"
    for number, each in enumerate(plan.conditions):
        name = f"{_named(plan, each.column)} " if each.column >= 0 else ""
        yield f"{' where' if not number else ' and'} {name}{each.value}"


def _named(plan: Plan, column: int) -> str:
    return " ".join(spoken(plan.source.table.columns[column].name).split())[:40] if column >= 0 else ""


def _result(plan: Plan) -> str:
    """Return the cells of the first row that are asked for: what is looked up, or what names the row."""
    if plan.group >= 0 or plan.operation not in ("list", "lookup", "most", "least") or not plan.rows:
        return ""
    rows, cells = plan.rows, plan.source.table.rows
    column = plan.column if plan.operation == "lookup" else 0
    if plan.operation in ("most", "least"):
        values = [(cells[row].values[plan.column], row) for row in rows]
        sized = [(value.number if value.time is None else value.time.timestamp(), row) for value, row in values]
        known = [(size, row) for size, row in sized if size is not None]
        if not known:
            return ""
        rows = [(max if plan.operation == "most" else min)(known)[1]]
    said = ", ".join(cells[row].values[column].text for row in rows[:3])
    return f": {' '.join(said.split())[:LONGEST_RESULT]}"
