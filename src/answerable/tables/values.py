"""Text of cells → typed values: numbers with their units, dates and times, in the notations of three languages.

A column decides what one cell leaves open: whether "1.200" has a decimal mark, whether "03/04/2024" is in March.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from answerable.tables.table import Column, Kind, Value
from answerable.text.terms import fold
from answerable.text.word_lists import read_toml

LONGEST_TYPED = 60
"""A longer cell is text."""
MOST = 0.9
"""The share of a column's filled cells that must be numbers or dates."""

_NUMBER = re.compile(
    r"(?P<sign>[-−+]?)\s?(?P<before>[^\d\s.,()+−-]{0,4}\s?[^\d\s.,()+−-]{0,2})\s?(?P<minus>[-−]?)"
    r"(?P<digits>\d[\d.,'\u00a0\u202f ]*)\s?(?P<after>[^\W\d_]{0,8}[23²³]?(?:/[^\W\d_]{1,3})?|[€$£¥%‰°]C?|%)\.?"
)
_BRACKETED = re.compile(r"\((.*)\)")
_GROUPED = re.compile(r"\d{1,3}(?:(?P<mark>[.,'\u00a0\u202f ])\d{3})(?:(?P=mark)\d{3})*")
_CLOCK = (
    r"(?:[T ,]+(?:a las |às |at )?(?P<hour>\d{1,2})[:h.](?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?"
    r"\s?(?P<half>[ap]\.?\s?m\.?)?h?s?Z?)?"
)
_WEEKDAY, _NAME, _OF = r"(?:[^\W\d_]+,? )?", r"(?P<name>[^\W\d_]{3,10})\.?", r",?[ -.]+(?:de |del )?"
_DATES = tuple(
    re.compile(shape + _CLOCK, re.IGNORECASE)
    for shape in (
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
        r"(?P<one>\d{1,2})[-/.](?P<two>\d{1,2})[-/.](?P<year>\d{4}|\d{2})",
        rf"{_WEEKDAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th|º|°)?[ -.]+(?:de |of )?{_NAME}{_OF}(?P<year>\d{{4}}|\d\d)",
        rf"{_WEEKDAY}{_NAME} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})",
        rf"{_NAME}[ /-]+(?:de |del )?(?P<year>\d{{4}})",
        r"(?P<year>\d{4})-(?P<month>\d{2})",
        r"(?P<month>\d{1,2})/(?P<year>\d{4})",
    )
)
_ID = re.compile(r"0\d+|\+\d[\d ]{6,}|\d[\d -]{9,}|\d+(?:[-/ ]\d+){2,}")
_IN_NAME = re.compile(r"[(\[/]\s*([^()\[\]/]{1,10})\s*[)\]]?\s*$|\s(\S{1,5})$")


@dataclass(frozen=True, slots=True)
class Notation:
    """How a column writes what is ambiguous: `decimal` is its decimal mark, "" if unknown."""

    decimal: str = ""
    is_month_first: bool = False


def read_value(text: str, notation: Notation | None = None) -> Value:
    """Return a cell's value; text that is neither a number nor a date has none but itself."""
    notation = notation or Notation()
    plain = " ".join(text.split())
    if not plain or len(plain) > LONGEST_TYPED or not any(character.isdigit() for character in plain):
        return Value(plain if len(plain) < len(text) else text)
    return _read_date(plain, notation) or _read_number(plain, notation) or Value(plain)


def _read_number(text: str, notation: Notation) -> Value | None:
    bracketed = _BRACKETED.fullmatch(text)
    match = _NUMBER.fullmatch(bracketed[1].strip() if bracketed else text)
    if match is None or _ID.fullmatch(text):
        return None
    unit = _unit(match["before"].strip(), match["after"].strip())
    number = _number(match["digits"].strip(), notation.decimal)
    if unit is None or number is None:
        return None
    is_negative = bool(match["sign"] in ("-", "−") and match["sign"]) or bool(match["minus"]) or bool(bracketed)
    return Value(text, -number if is_negative else number, unit)


def _unit(before: str, after: str) -> str | None:
    """Return the unit that stands before or after a number; None if what stands there is no unit."""
    if before and after:
        return None
    if not before and not after:
        return ""
    written = fold((before or after).lower())
    currency = _words()["currencies"].get(written)
    if currency:
        return str(currency)
    if written in ("%", "‰", "°", "°c"):
        return after
    return after if not before and written.replace("²", "2").replace("³", "3") in _units() else None


def _number(digits: str, decimal: str) -> float | None:
    """Return the number; of "1.200" and "1,200" the mark separates thousands unless `decimal` says otherwise."""
    marks = [mark for mark in digits if not mark.isdigit()]
    if digits and not digits[-1].isdigit():
        return None
    last = marks[-1] if marks else ""
    if last in (".", ",") and marks.count(last) == 1:
        is_decimal = len(set(marks)) > 1 or last == decimal or not _GROUPED.fullmatch(digits)
        if decimal and last != decimal and _GROUPED.fullmatch(digits):
            is_decimal = False
    else:
        is_decimal = False
    whole, _, fraction = digits.rpartition(last) if is_decimal else (digits, "", "")
    plain = re.sub(r"\D", "", whole)
    if marks and not is_decimal and not _GROUPED.fullmatch(digits):
        return None
    try:
        return float(f"{plain}.{fraction}" if fraction else plain)
    except ValueError:
        return None


@lru_cache(maxsize=20_000)
def _read_date(text: str, notation: Notation) -> Value | None:
    for pattern in _DATES:
        if (match := pattern.fullmatch(text)) and (time := _time(match, notation)):
            return Value(text, time=time, is_day=match["hour"] is None)
    return None


def _time(match: re.Match[str], notation: Notation) -> datetime | None:
    groups = match.groupdict()
    year, month, day = groups.get("year"), groups.get("month"), groups.get("day") or 1
    if groups.get("one"):
        one, two = int(groups["one"]), int(groups["two"])
        day, month = (two, one) if (notation.is_month_first and one <= 12) or two > 12 else (one, two)
    if groups.get("name"):
        month = _months().get(fold(groups["name"].lower()))
    if not year or not month:
        return None
    hour = int(groups["hour"] or 0)
    if groups["half"] and hour <= 12:
        hour = hour % 12 + (12 if groups["half"][0] in "pP" else 0)
    full = int(year) + (2000 if len(year) == 2 else 0)
    try:
        return datetime(full, int(month), int(day), hour, int(groups["minute"] or 0), int(groups["second"] or 0))
    except ValueError:
        return None


def typed(
    names: Sequence[str], rows: Sequence[Sequence[str]], language: str = ""
) -> tuple[list[Column], list[list[Value]]]:
    """Return the columns of a table and the values of its rows, which all have as many cells as there are names."""
    columns: list[Column] = []
    by_column: list[list[Value]] = []
    for index, name in enumerate(names):
        cells = [row[index] for row in rows]
        notation = _notation(cells, language)
        column, values = _column(name, [read_value(cell, notation) for cell in cells])
        columns.append(column)
        by_column.append(values)
    return columns, [list(row) for row in zip(*by_column, strict=True)] if rows else []


def _notation(cells: Sequence[str], language: str) -> Notation:
    """Find out how a column writes decimals and dates from the cells that leave no choice."""
    decimal, is_month_first, is_day_first = "", False, False
    for cell in cells:
        digits = re.search(r"\d[\d.,]*\d", cell)
        if digits and len(cell) <= LONGEST_TYPED:
            marks = [mark for mark in digits[0] if mark in ".,"]
            if marks and (len(set(marks)) > 1 or (marks.count(marks[-1]) == 1 and not _GROUPED.fullmatch(digits[0]))):
                decimal = marks[-1]
            elif marks.count(".") > 1 or marks.count(",") > 1:
                decimal = "," if marks[0] == "." else "."
        if date := _DATES[1].match(cell.strip()):
            is_month_first |= int(date["two"]) > 12
            is_day_first |= int(date["one"]) > 12
    if not decimal and language in ("es", "pt") and any("." in cell for cell in cells):
        decimal = ","
    return Notation(decimal, is_month_first and not is_day_first)


def _column(name: str, values: list[Value]) -> tuple[Column, list[Value]]:
    filled = [value for value in values if value.text]
    numbers = [value for value in filled if value.number is not None]
    dates = [value for value in filled if value.time is not None]
    if filled and len(dates) >= MOST * len(filled):
        return Column(name, Kind.DATE), values
    if filled and len(numbers) >= MOST * len(filled):
        units = {value.unit for value in numbers}
        named = _unit_of_name(name)
        unit = units.pop() if len(units) == 1 else ""
        if not unit and named and all(not value.unit for value in numbers):
            unit = named
        if unit:
            values = [
                replace(value, unit=unit) if value.number is not None and not value.unit else value for value in values
            ]
        return Column(name, Kind.NUMBER, unit), values
    return Column(name, Kind.TEXT), values


def _unit_of_name(name: str) -> str:
    """Return the unit in a column's name: "Precio (EUR)", "Valor R$", "Weight kg"."""
    match = _IN_NAME.search(name)
    if match is None:
        return ""
    written = (match[1] or match[2]).strip("()[] ")
    return _unit("", written) or _unit(written, "") or ""


@cache
def _words() -> Any:
    return read_toml(Path(__file__).with_name("words.toml"))


@cache
def _units() -> frozenset[str]:
    return frozenset(_words()["units"].split())


@cache
def _months() -> dict[str, int]:
    return {name: number for number, same in enumerate(_words()["months"].split(), 1) for name in same.split("|")}


def is_total(text: str) -> bool:
    """Return whether a row's first text says that the row is a sum of the others."""
    words = fold(text.lower()).replace(":", " ").split()
    return bool(words) and words[0] in _words()["total"].split() and len(words) <= 3
