"""Which column of numbers a question means, and the limits that it sets on numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from answerable.computing.asking import Asking
from answerable.computing.matching import Match
from answerable.computing.measures import is_currency, measures, unit_words
from answerable.computing.operations import Asked, Limit
from answerable.computing.plan import Condition
from answerable.computing.source import Source
from answerable.computing.vocabulary import words_of
from answerable.computing.word_forms import spoken, stems, stems_of
from answerable.tables.database import Comparison, select
from answerable.text.terms import words


def apply_limits(asking: Asking, found: Match) -> Iterator[Limit]:
    """Make conditions of the limits of numbers that the question sets."""
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
    """Return the column of numbers that a limit is of: the one named nearest to it, or the one that it may be of."""
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
    """Return the column of numbers that a figure is made of: named, measured ("oldest"), of money, or the only one.

    Where several may be meant, none is.
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
        # "How many jars in total".
        return _only(counts)
    if (asking.operation.asked is Asked.TOTAL or asking.operation.asks_amount) and len(sums) == 1:
        # Not the prices of single pieces.
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
    """Return the columns that are called by a word of this list."""
    names = stems_of(words_of("words", name))
    return [column for column in columns if source.column_stems[column] & names]


def without_loose_measure(asking: Asking, source: Source) -> Asking:
    """Return the question without a measure whose adjective is said of any number, if the table has no such column."""
    name = asking.operation.measure
    if not name or not measures()[name].is_loose or _holding(source, name, source.quantities):
        return asking
    return replace(asking, operation=replace(asking.operation, measure=""))


def _holding(source: Source, measure: str, numbers: Sequence[int]) -> list[int]:
    """Return the columns that hold a measure: those called so, or else those with a unit of it."""
    wanted = measures()[measure]
    called = [column for column in numbers if wanted.has(source.column_stems[column], "")]
    return called or [column for column in numbers if wanted.has(frozenset(), source.table.columns[column].unit)]


def is_named(asking: Asking, found: Match, column: int) -> bool:
    """Return whether the question says that it means a column's numbers: by its name, unit or what it measures."""
    unit = found.source.table.columns[column].unit
    if asking.operation.measure or column in found.columns or unit_words(unit) & asking.words:
        return True
    return asking.has_any("money") and is_money(found.source, column)


def is_meant(asking: Asking, found: Match, column: int) -> bool:
    """Return whether the most and the least are of this column's numbers, and not of rows."""
    if is_named(asking, found, column):
        return True
    counts_rows = (
        found.titled or asking.has_any("times") or any(each in found.source.text_columns for each in found.named)
    )
    return not counts_rows


def is_quantity(source: Source, column: int) -> bool:
    """Return whether a column says how many there are: by its name, or as the only one of plain whole numbers."""
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
    """Return whether "paid" asks for an amount ("who paid most") although a column is called so."""
    tokens = found.named.get(column, ())
    is_of_amounts = bool(asking.operation.limits) or asking.operation.asked not in (Asked.COUNT, Asked.LIST, Asked.ANY)
    return is_of_amounts and all(token.word in words_of("words", "money") for token in tokens)
