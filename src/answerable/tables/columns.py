"""Decide whether a column holds numbers, dates or text, and how to read its cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from answerable.tables.table import Column, Kind, Value, folded, word_set
from answerable.tables.values import (
    Customs,
    Written,
    currency_or_unit,
    decide_order,
    is_blank,
    number_value,
    prevailing_mark,
    read_date,
    split_number,
    unit_form,
)

MOST = 0.9  # share of a column's cells that decide its kind; the others are errors and remarks; a guess, not measured
PRICES = 0.6
"""The least share of numbers among the cells of a price column, in which some cells have a word such as "free"."""
_FEW_WORDS = 2  # different words, at most, such as "free", in a price column; a guess, not measured
_LONG = 8  # rows of a numbered column at least: fewer may be numbered by chance; a guess, not measured
_FEW_UNITS = 3  # unknown units that a column of quantities may have at most; a guess, not measured
_LONGEST_NAME = 200  # characters of a column's name that are compared: comparing words takes time
_WORDS = re.compile(r"[^\W\d_]+|n[°º]|#")
_BRACKETED = re.compile(r"[(\[]([^()\[\]]{1,20})[)\]]\s*$")
_SAME_LENGTH = 9  # digits, at least, of numbers of equal length that are ids, phones or bar codes
_YEARS = range(1000, 3000)


def read_columns(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    customs: Customs,
    is_mark_known: bool = False,
    apart: Collection[int] = (),
) -> tuple[tuple[Column, ...], list[tuple[Value, ...]]]:
    """Return the columns of a grid of cell texts, and its rows as values; every row has a text for every column.

    `customs` decide what the cells leave open. `is_mark_known`: their decimal mark applies to all columns that show no
    other mark. The rows `apart`, such as totals, are read, but don't decide what a column holds.
    """
    if not rows:
        return tuple(Column(name, Kind.TEXT) for name in names), []
    cells = list(zip(*rows, strict=True))
    written = [[split_number(text, customs.dollar) for text in column] for column in cells]
    shown = "" if is_mark_known else prevailing_mark([each.mark for column in written for each in column if each])
    order = decide_order((text for column in cells for text in column), customs.order)
    customs = replace(customs, decimal=shown or customs.decimal, order=order)
    read = [
        _read_column(name, column, numbers, customs, bool(shown) or is_mark_known, apart)
        for name, column, numbers in zip(names, cells, written, strict=True)
    ]
    return tuple(column for column, _ in read), list(zip(*(values for _, values in read), strict=True))


def _read_column(
    name: str,
    texts: Sequence[str],
    written: Sequence[Written | None],
    customs: Customs,
    is_mark_known: bool,
    apart: Collection[int],
) -> tuple[Column, list[Value]]:
    filled = [place for place, text in enumerate(texts) if not is_blank(text) and place not in apart]
    numbers = [each for place in filled if (each := written[place])]
    words = {folded(word) for word in _WORDS.findall(name[:_LONGEST_NAME])}
    others = {folded(texts[place]) for place in filled if not written[place]}
    is_mostly_numbers = len(numbers) >= MOST * len(filled) or _are_prices(numbers, len(filled), others)
    if filled and is_mostly_numbers and not _names_things(words, numbers):
        return _number_column(name, texts, written, _marked(numbers, customs, is_mark_known), words)
    order = decide_order((texts[place] for place in filled), customs.order)
    moments = [read_date(text.strip(), order) for text in texts]
    if filled and sum(moments[place] is not None for place in filled) >= MOST * len(filled):
        values = [
            Value(text, time=moment.time, is_day=moment.is_day) if moment else Value(text)
            for text, moment in zip(texts, moments, strict=True)
        ]
        return Column(name, Kind.DATE), values
    return Column(name, Kind.TEXT), [Value(text) for text in texts]


def _are_prices(numbers: Sequence[Written], filled: int, others: Collection[str]) -> bool:
    """Whether cells are amounts of one currency, apart from a word or two in some of them ("free", "on request")."""
    units = {each.unit for each in numbers}
    is_currency = len(units) == 1 and units <= word_set("values", "codes", "iso")
    return is_currency and len(numbers) >= PRICES * filled and len(others) <= _FEW_WORDS


def _names_things(words: set[str], numbers: Sequence[Written]) -> bool:
    """Whether numbers only identify things (phones, postal codes, accounts), or many different words follow them."""
    if words & word_set("values", "codes_of_things"):
        return True
    lengths = {len(each.digits) for each in numbers}
    if len(lengths) == 1 and min(lengths) >= _SAME_LENGTH and not any(each.unit for each in numbers):
        return all(each.digits.isdigit() for each in numbers)
    units = {each.unit for each in numbers if each.unit}
    unknown = {folded(unit) for unit in units if not currency_or_unit(unit, "USD")}
    return len(unknown) > max(_FEW_UNITS, len(numbers) // 4) or (len(numbers) > 1 and len(unknown) == len(numbers))


def _marked(numbers: Sequence[Written], customs: Customs, is_mark_known: bool) -> Customs:
    """Return the customs with this column's decimal mark: that of its numbers, of other columns, or of its currency."""
    own = prevailing_mark([each.mark for each in numbers])
    if own or is_mark_known:
        return replace(customs, decimal=own or customs.decimal)
    currency = next((each.unit for each in numbers if each.unit in word_set("values", "codes", "iso")), "")
    marks = {mark for each in numbers for mark in ".," if mark in each.digits}
    if currency and len(marks) == 1:
        # Amounts of money don't have three decimals, so the mark groups thousands.
        return replace(customs, decimal="," if marks == {"."} else ".")
    if currency in word_set("values", "codes", "comma"):
        return replace(customs, decimal=",")
    return replace(customs, decimal=".") if currency in word_set("values", "codes", "point") else customs


def _number_column(
    name: str, texts: Sequence[str], written: Sequence[Written | None], customs: Customs, words: set[str]
) -> tuple[Column, list[Value]]:
    values = [
        number_value(text, each, customs.decimal) if each else Value(text)
        for text, each in zip(texts, written, strict=True)
    ]
    is_year = bool(words & word_set("values", "years")) and all(
        value.number is None or (value.number in _YEARS and not value.unit) for value in values
    )
    is_number_of_row = _is_numbering(values) or (
        words and words <= word_set("values", "numbering") and _is_rising(values)
    )
    if is_year or is_number_of_row or words & word_set("values", "ids"):
        return Column(name, Kind.NUMBER, is_quantity=False, is_year=is_year), values
    values = _with_common_spelling(values)
    units = {value.unit for value in values if value.unit}
    unit = unit_in_name(name, customs.dollar) if not units else units.pop() if len(units) == 1 else ""
    if unit:
        values = [
            replace(value, unit=unit) if value.number is not None and not value.unit else value for value in values
        ]
    return Column(name, Kind.NUMBER, unit), values


def _is_numbering(values: Sequence[Value]) -> bool:
    """Whether the numbers in a long column count the rows one by one."""
    numbers = [value.number for value in values]
    return len(numbers) >= _LONG and all(
        before is not None and after == before + 1 for before, after in pairwise(numbers)
    )


def _is_rising(values: Sequence[Value]) -> bool:
    numbers = [value.number for value in values if value.number is not None]
    return all(after > before for before, after in pairwise(numbers))


def _with_common_spelling(values: list[Value]) -> list[Value]:
    """Spell each unit ("kg", "Kg"; "día", "días") as most cells spell it."""
    counts = Counter(value.unit for value in values if value.unit)
    usual: dict[str, str] = {}
    for unit, _ in counts.most_common():
        usual.setdefault(_form(unit), unit)
    if len(usual) == len(counts):
        return values
    return [replace(value, unit=usual[_form(value.unit)]) if value.unit else value for value in values]


def _form(unit: str) -> str:
    return unit_form(unit) or folded(unit)


def unit_in_name(name: str, dollar: str) -> str:
    """Return the unit in a column's name: "Price (EUR)", "Importe €", "Weight kg"; "" if there is none."""
    if "_" in name and (code := name.rpartition("_")[2].upper()) in word_set("values", "codes", "iso"):
        # Programs name columns like "amount_gbp".
        return code
    name = name.replace("_", " ").strip()[-_LONGEST_NAME:]
    if bracketed := _BRACKETED.search(name):
        return currency_or_unit(bracketed[1].rpartition(" ")[2], dollar)
    before, _, last = name.rpartition(" ")
    # "Team A" and "presupuesto real" contain no unit; in "precio por noche", the last word isn't the numbers' unit.
    is_unclear = (len(last) == 1 and last.isalnum()) or folded(last) in word_set("values", "codes", "ambiguous")
    if is_unclear or folded(before.rpartition(" ")[2]) in word_set("values", "units", "per"):
        return ""
    return currency_or_unit(last, dollar)
