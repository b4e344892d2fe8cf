"""Conditions on the cells of a table, as SQL.

Names in the SQL are made here: `t3` is the folded text of column 3, `v3` its number or time, `u3` its unit, `w0`
whether the first condition's words are in its cell. Values are bound.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import NamedTuple, TypeAlias

from answerable.tables.table import Table, Value
from answerable.tables.values import is_blank
from answerable.tables.words import folded
from answerable.text.terms import fold, terms, words

Cell: TypeAlias = str | int | float | None


class Operator(str, Enum):
    """How a cell is compared with a value. A range is two comparisons."""

    EQUAL = "="
    ABOVE = ">"
    AT_LEAST = ">="
    BELOW = "<"
    AT_MOST = "<="


@dataclass(frozen=True, slots=True)
class Comparison:
    """A cell's number, time or text stands so to a value; with `unit`, only numbers of this unit do.

    Texts are compared apart from case, accents and blanks. A day is its midnight: all of a day is two comparisons.
    """

    column: int
    operator: Operator
    value: float | datetime | str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class OneOf:
    """A cell is one of these texts, apart from case, accents and blanks."""

    column: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contains:
    """A cell contains all of these words, each given as its stems in `languages`, as `terms.question_words` does."""

    column: int
    words: tuple[frozenset[str], ...]
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filled:
    """A cell has a value."""

    column: int


@dataclass(frozen=True, slots=True)
class Empty:
    """A cell has no value."""

    column: int


Condition: TypeAlias = Comparison | OneOf | Contains | Filled | Empty


class Clause(NamedTuple):
    """A condition in SQL: what must be true, the bound values, and the columns that it needs, row by row."""

    sql: str
    bound: tuple[Cell, ...]
    columns: dict[str, list[Cell]]


def clause(table: Table, condition: Condition, place: int) -> Clause:
    """Return the SQL of the condition at a place among others."""
    column = condition.column
    if isinstance(condition, Contains):
        return Clause(f"w{place}", (), {f"w{place}": _containing(table, condition)})
    if isinstance(condition, Comparison) and not isinstance(condition.value, str):
        value = sortable(condition.value)
        sql, bound = f"v{column} {condition.operator.value} ?", [value]
        columns = {f"v{column}": [measure(row.values[column]) for row in table.rows]}
        if condition.unit:
            sql, bound = f"{sql} AND u{column} = ?", [value, condition.unit]
            columns[f"u{column}"] = [row.values[column].unit for row in table.rows]
        # A number and a time are never compared: SQLite would say that any text is above any number.
        kind = "text" if isinstance(value, str) else "real"
        return Clause(f"({sql} AND typeof(v{column}) = '{kind}')", tuple(bound), columns)
    columns = {f"t{column}": [key_of(row.values[column].text) for row in table.rows]}
    match condition:
        case Comparison():
            filled = f"t{column} <> '' AND t{column} {condition.operator.value} ?"
            return Clause(f"({filled})", (key_of(str(condition.value)),), columns)
        case OneOf():
            texts = json.dumps([key_of(text) for text in condition.texts])
            return Clause(f"t{column} IN (SELECT value FROM json_each(?))", (texts,), columns)
        case Filled():
            return Clause(f"t{column} <> ''", (), columns)
        case Empty():
            return Clause(f"t{column} = ''", (), columns)


def measure(value: Value) -> Cell:
    """Return a cell's number or time as SQLite compares it."""
    return value.number if value.time is None else sortable(value.time)


def sortable(value: float | datetime) -> Cell:
    """Return a number as such, a time as text that sorts as times do."""
    return value.isoformat(timespec="microseconds") if isinstance(value, datetime) else float(value)


def key_of(text: str) -> str:
    """Return what two texts have in common that are one; "" for a missing value."""
    return "" if is_blank(text) else folded(text).encode("utf-8", "replace").decode()


def _containing(table: Table, condition: Contains) -> list[Cell]:
    """Return for each row whether its cell contains all words of a condition."""

    @cache
    def matched(word: str) -> frozenset[int]:
        stems = {fold(word), *(term for language in condition.languages for term in terms(word, language))}
        return frozenset(place for place, wanted in enumerate(condition.words) if not stems.isdisjoint(wanted))

    def has_all(text: str) -> bool:
        missing = set(range(len(condition.words)))
        for word in words(text):
            missing -= matched(word)
            if not missing:
                return True
        return not missing

    return [int(has_all(row.values[condition.column].text)) for row in table.rows]


def clauses(table: Table, conditions: Sequence[Condition]) -> Clause:
    """Return all conditions as one."""
    each = [clause(table, condition, place) for place, condition in enumerate(conditions)]
    columns: dict[str, list[Cell]] = {}
    for one in each:
        columns |= one.columns
    return Clause(" AND ".join(["1", *(one.sql for one in each)]), tuple(v for one in each for v in one.bound), columns)
