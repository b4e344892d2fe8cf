"""Choose the column of numbers that a question means, and its conditions on numbers and times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from answerable.computing.asked import Asked, Limit
from answerable.computing.matching import Asking, Condition, Match
from answerable.computing.source import Source
from answerable.computing.vocabulary import is_currency, measures, spoken, stems, stems_of, unit_words, words_of
from answerable.retrieval.times import NamedTime
from answerable.tables.compute import Comparison, select
from answerable.tables.table import Origin
from answerable.text.terms import words

WHOLE = 0.5
"""The strength of a plan that uses all rows of a table although the question names nothing in the table."""


def apply_limits(asking: Asking, found: Match) -> Iterator[Limit]:
    """Make conditions of the limits on numbers that the question sets; yield each limit that has a column."""
    for limit in asking.operation.limits:
        column = _limited(asking, found, limit)
        if column is None:
            return
        value = found.source.table.columns[column]
        rows = select(found.source.table, [Comparison(column, limit.operator, limit.number)])
        sign = {"ABOVE": ">", "AT_LEAST": "≥", "BELOW": "<", "AT_MOST": "≤"}[limit.operator.name]
        shown = f"{sign} {limit.number:g} {value.unit}".strip()
        found.conditions.append(Condition(column, shown, frozenset(rows), is_limit=True))
        yield limit


def _limited(asking: Asking, found: Match, limit: Limit) -> int | None:
    """Return the column of numbers that a limit refers to: the one named nearest to it, or the only one possible."""
    source = found.source
    numbers = [*source.quantities, *source.year_columns]
    named = [(abs(token.start - limit.span[0]), column) for column in numbers for token in found.named.get(column, ())]
    if named:
        return min(named)[1]
    if asking.operation.measure:
        return _only(_holding(source, asking.operation.measure, source.quantities))
    if asking.has_any("money", "currencies"):
        return _only(column for column in source.quantities if is_money(source, column))
    units = [column for column in source.quantities if unit_words(source.table.columns[column].unit) & asking.words]
    return _only(units or source.quantities)


def measured(asking: Asking, found: Match) -> int | None:
    """Return the column of a figure: the one named, measured ("oldest"), of money, or the only one with numbers.

    None if several columns may be meant.
    """
    source = found.source
    used = {condition.column for condition in found.conditions} | _asked_for(asking, source)
    numbers = [column for column in source.quantities if column not in used]
    if named := [column for column in found.columns if column in numbers]:
        whole = [
            each
            for each in named
            if all(stems(word) & asking.stems for word in words(spoken(source.table.columns[each].name)))
        ]
        return _only(named) if len(named) == 1 else _only(whole)
    if asking.operation.measure:
        return _only(_holding(source, asking.operation.measure, numbers))
    if units := [column for column in numbers if unit_words(source.table.columns[column].unit) & asking.words]:
        return _only(units)
    sums = _called(source, numbers, "sums")
    counts = [column for column in _called(source, numbers, "quantities") if column not in sums]
    if asking.operation.counts and counts:
        # "How many jars in total": a column that says how many there are.
        return _only(counts)
    if (asking.operation.asked is Asked.TOTAL or asking.operation.asks_amount) and len(sums) == 1:
        # Don't add up unit prices, the prices of single pieces.
        return sums[0]
    money = [column for column in numbers if is_money(source, column)]
    if money and (asking.operation.asks_amount or asking.has_any("money", "currencies")):
        return _only(money)
    return _only(numbers)


def _asked_for(asking: Asking, source: Source) -> set[int]:
    """Return the columns of bare numbers that are asked for, not compared: "which bus has the most passengers"."""
    is_compared = asking.operation.asked in (Asked.MOST, Asked.LEAST)
    called = source.columns_called(asking.operation.noun) if asking.operation.noun and is_compared else ()
    return {column for column in called if source.may_be_names(column)}


def _only(columns: Iterable[int]) -> int | None:
    found = list(columns)
    return found[0] if len(found) == 1 else None


def _called(source: Source, columns: Sequence[int], name: str) -> list[int]:
    """Return the columns whose names contain a word of this list."""
    names = stems_of(words_of("words", name))
    return [column for column in columns if source.column_stems[column] & names]


def without_loose_measure(asking: Asking, source: Source) -> Asking:
    """Return the question without a measure that fits any number ("highest"), if no column holds that measure."""
    name = asking.operation.measure
    if not name or not measures()[name].is_loose or _holding(source, name, source.quantities):
        return asking
    return replace(asking, operation=replace(asking.operation, measure=""))


def _holding(source: Source, measure: str, numbers: Sequence[int]) -> list[int]:
    """Return the columns that hold a measure: those with such a name, or else those with a unit of the measure."""
    wanted = measures()[measure]
    called = [column for column in numbers if wanted.has(source.column_stems[column], "")]
    return called or [column for column in numbers if wanted.has(frozenset(), source.table.columns[column].unit)]


def is_named(asking: Asking, found: Match, column: int) -> bool:
    """Return whether the question says that it means a column's numbers: by name, unit, or what they measure."""
    unit = found.source.table.columns[column].unit
    if asking.operation.measure or column in found.columns or unit_words(unit) & asking.words:
        return True
    return asking.has_any("money") and is_money(found.source, column)


def is_meant(asking: Asking, found: Match, column: int) -> bool:
    """Return whether the most or the least refers to this column's numbers rather than to counts of rows."""
    if is_named(asking, found, column):
        return True
    counts_rows = (
        found.titled or asking.has_any("times") or any(each in found.source.text_columns for each in found.named)
    )
    return not counts_rows


def is_quantity(source: Source, column: int) -> bool:
    """Return whether a column says how many there are: by its name, or as the only column of plain whole numbers."""
    own, quantities = source.table.columns[column], words_of("words", "quantities")
    if not own.is_quantity or is_money(source, column) or (own.unit and own.unit.lower() not in quantities):
        return False
    if source.column_stems[column] & stems_of(quantities):
        return True
    numbers = [row.values[column].number for row in source.table.rows]
    return len(source.quantities) == 1 and all(number is None or number.is_integer() for number in numbers)


def is_money(source: Source, column: int) -> bool:
    """Return whether a column holds amounts of money, by its unit or name."""
    names = stems_of(words_of("words", "money"))
    return is_currency(source.table.columns[column].unit) or bool(names & source.column_stems[column])


def is_of_payment(asking: Asking, found: Match, column: int) -> bool:
    """Return whether "paid" asks for an amount ("who paid most"), although there is a column of this name."""
    tokens = found.named.get(column, ())
    is_of_amounts = bool(asking.operation.limits) or asking.operation.asked not in (Asked.COUNT, Asked.LIST, Asked.ANY)
    return is_of_amounts and all(token.word in words_of("words", "money") for token in tokens)


def in_periods(source: Source, time: NamedTime, column: int) -> Condition:
    """Return the condition that a column's date or year is within the periods of a time.

    An event of several days takes place on each of these days.
    """
    is_event = source.table.origin is Origin.CALENDAR
    ends = source.date_columns[1] if is_event and len(source.date_columns) > 1 else column
    rows = frozenset(
        number
        for number, row in enumerate(source.table.rows)
        if (when := source.time(row, column)) is not None
        and any(
            start <= when < end or (is_event and when < start <= (source.time(row, ends) or when))
            for start, end in time.periods
        )
    )
    shown = ", ".join(dict.fromkeys(_period(*period) for period in time.periods))
    return Condition(column, shown, rows, is_time=True)


def _period(start: datetime, end: datetime) -> str:
    if end == datetime.max:
        return f"≥ {_beginning(start)}"
    if start == datetime.min:
        return f"< {_beginning(end)}"
    days = (end - start).days
    if days == 1:
        return f"{start:%Y-%m-%d}"
    if start.day == end.day == 1 and days <= 31:
        return f"{start:%Y-%m}"
    if (start.month, start.day, end.month, end.day) == (1, 1, 1, 1):
        return f"{start:%Y}"
    last = datetime.fromordinal(end.toordinal() - 1)
    return f"{start:%Y-%m-%d} – {last:%Y-%m-%d}"


def _beginning(day: datetime) -> str:
    return f"{day:%Y}" if (day.month, day.day) == (1, 1) else f"{day:%Y-%m-%d}"
