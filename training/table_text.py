"""A table as text for the model that reads it beside a question: its columns, and the values that may be conditions.

The text is linear in the table's columns: `title; name (kind): value, value; name …`. Each column and each value is an
item, whose first token's state says what a question does with it (as in SQLova, Hwang et al. 2019, arXiv:1902.01069).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from answerable.computing.source import Source
from answerable.computing.vocabulary import spoken
from answerable.tables.table import Kind
from answerable.text.terms import STOP_WORDS, fold, words

MOST_COLUMNS = 24
"""Columns that are read of a table, those named by the question first. A guess, not measured."""
LONGEST_NAME, LONGEST_VALUE = 40, 40
"""Characters of a column's name and of a value that are read. A guess, not measured."""
FEW_VALUES = 12
"""Different values of a column whose values are all read, as states are. A guess, not measured."""
MOST_VALUES = 6
"""Values of a column that are read because the question has their words. A guess, not measured."""
BEGINNING = 5
"""Letters by which words are compared, so that inflected forms agree in every language. A guess, not measured."""

SMALL_WORDS = frozenset(fold(word) for known in STOP_WORDS.values() for word in known)


@dataclass(frozen=True, slots=True)
class Item:
    """A column, or a value of a column with the rows that have it; `start` is its offset in the text.

    `is_whole`: the cells of these rows have nothing but the value.
    """

    start: int
    column: int
    value: str = ""
    rows: frozenset[int] = frozenset()
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class TableText:
    """The text of a table beside a question, its columns' items and its values' items, each in the text's order."""

    text: str
    columns: tuple[Item, ...]
    values: tuple[Item, ...]


def table_text(question: str, source: Source) -> TableText:
    """Return what is read of a table for a question."""
    asked = dict.fromkeys(_keys(question))
    text = f"{' '.join(source.name.split())[:LONGEST_NAME]}: "
    columns: list[Item] = []
    values: list[Item] = []
    for column in _chosen(asked, source):
        own = source.table.columns[column]
        columns.append(Item(len(text), column))
        kind = own.kind.value if own.is_quantity else "id"
        text += f"{' '.join(spoken(own.name).split())[:LONGEST_NAME]} ({' '.join(filter(None, (kind, own.unit)))})"
        for number, (value, rows, is_whole) in enumerate(_values(asked, source, column)):
            text += " = " if not number else ", "
            values.append(Item(len(text), column, value, rows, is_whole))
            text += " ".join(value.split())[:LONGEST_VALUE]
        text += "; "
    return TableText(text, tuple(columns), tuple(values))


def _chosen(asked: dict[str, None], source: Source) -> list[int]:
    columns = range(len(source.table.columns))
    if len(columns) <= MOST_COLUMNS:
        return list(columns)
    named = [
        column for column in columns if not asked.keys().isdisjoint(_keys(spoken(source.table.columns[column].name)))
    ]
    return sorted(dict.fromkeys([*named, *columns][:MOST_COLUMNS]))


def _values(asked: dict[str, None], source: Source, column: int) -> Iterator[tuple[str, frozenset[int], bool]]:
    """Yield the values of a column that may be conditions: those with words of the question, and states."""
    if source.table.columns[column].kind is not Kind.TEXT:
        return
    rows_of: dict[str, list[int]] = {}
    for number, text in enumerate(source.texts(column)):
        if text:
            rows_of.setdefault(text, []).append(number)
    is_state = 0 < len(rows_of) <= FEW_VALUES and max(map(len, rows_of)) <= LONGEST_VALUE
    scored: list[tuple[float, str, tuple[str, ...]]] = []
    for text in rows_of:
        keys = tuple(dict.fromkeys(_keys(text)))
        shared = tuple(key for key in keys if key in asked)
        if shared or is_state:
            scored.append((sum(map(len, shared)) / max(sum(map(len, keys)), 1), text, shared))
    scored.sort(key=lambda each: -each[0])
    kept = scored if is_state else scored[:MOST_VALUES]
    seen: set[frozenset[int]] = set()
    for _, text, shared in kept:
        rows = frozenset(rows_of[text])
        if rows not in seen:
            seen.add(rows)
            yield source.table.rows[min(rows)].values[column].text, rows, True
        # Cells that have these words among others.
        having = frozenset(n for t, ns in rows_of.items() if shared and set(shared) <= set(_keys(t)) for n in ns)
        if shared and having != rows and having not in seen:
            seen.add(having)
            yield " ".join(shared), having, False


def _keys(text: str) -> list[str]:
    """Return the beginnings of a text's words without small words; numbers are whole."""
    folded = (fold(word) for word in words(text))
    return [word if word.isdigit() else word[:BEGINNING] for word in folded if word not in SMALL_WORDS]


def placed(items: Sequence[Item], starts: Sequence[int]) -> list[tuple[Item, int]]:
    """Return the items with the numbers of the tokens at which they begin, without those beyond the last token."""
    places = {start: number for number, start in reversed(list(enumerate(starts)))}
    return [(item, places[item.start]) for item in items if item.start in places]
