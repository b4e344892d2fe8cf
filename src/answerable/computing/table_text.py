"""A table as text for the model that reads it beside a question: its columns, and the values that may be conditions.

The text is linear in the table's columns: `title; name (kind): value, value; name …`. Each column and each value is an
item, whose first token's state says what a question does with it (as in SQLova, Hwang et al. 2019, arXiv:1902.01069).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from answerable.computing.source import Cell, Source
from answerable.computing.vocabulary import keys_of, spoken
from answerable.tables.table import Kind
from answerable.text.terms import words

MOST_COLUMNS = 24
"""Columns that are read of a table, those named by the question first. A guess, not measured."""
LONGEST_NAME, LONGEST_VALUE = 40, 40
"""Characters of a column's name and of a value that are read. A guess, not measured."""
FEW_VALUES = 12
"""Different values of a column whose values are all read, as states are: .666 of the plans of
`training/written/tables/d.jsonl` are right with 6, .679 with 12 and with 20."""
MOST_VALUES = 6
"""Values of a column that are read because the question has their words: 3 and 6 give the same."""
MISSING, LONGEST_MISSING = 6, 20
"""Words of the question that the table doesn't have, and their characters, that are read. A guess, not measured."""
_AS_READ = {"media": "photo"}
"""An attachment whose kind the export leaves out is read as a photo, which it most often is; answers say "media"."""


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
    asked = {key: word for word in words(question) for key in keys_of(word)}
    missing = [word for word in words(question) if not source.has_keys(keys_of(word))]
    without = ", ".join(word[:LONGEST_MISSING] for word in dict.fromkeys(missing[:MISSING]))
    text = f"{' '.join(source.name.split())[:LONGEST_NAME]}{f' without {without}' if without else ''}: "
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
            shown = _AS_READ.get(value, value) if source.is_chat else value
            text += " ".join(shown.split() if is_whole else keys_of(value))[:LONGEST_VALUE]
        text += "; "
    return TableText(text, tuple(columns), tuple(values))


def _chosen(asked: Mapping[str, str], source: Source) -> list[int]:
    columns = range(len(source.table.columns))
    if len(columns) <= MOST_COLUMNS:
        return list(columns)
    named = [
        column for column in columns if not asked.keys().isdisjoint(keys_of(spoken(source.table.columns[column].name)))
    ]
    return sorted(dict.fromkeys([*named, *columns][:MOST_COLUMNS]))


def _values(asked: Mapping[str, str], source: Source, column: int) -> Iterator[tuple[str, frozenset[int], bool]]:
    """Yield the values of a column that may be conditions: those with words of the question, and states."""
    if source.table.columns[column].kind is not Kind.TEXT:
        return
    cells = source.cells[column]
    is_state = 0 < len(cells) <= FEW_VALUES and max(len(each.text) for each in cells) <= LONGEST_VALUE
    scored: list[tuple[float, Cell, tuple[str, ...]]] = []
    for cell in cells:
        if is_state or not asked.keys().isdisjoint(cell.keys):
            shared = tuple(key for key in cell.keys if key in asked)
            scored.append((sum(map(len, shared)) / max(sum(map(len, cell.keys)), 1), cell, shared))
    scored.sort(key=lambda each: -each[0])
    kept = scored if is_state else scored[:MOST_VALUES]
    seen: set[frozenset[int]] = set()
    for _, cell, shared in kept:
        rows = cell.rows
        if rows not in seen:
            seen.add(rows)
            yield source.table.rows[min(rows)].values[column].text, rows, True
        # Cells that have these words among others.
        said = [asked[key] for key in shared]
        having = frozenset(row for _, each, _ in scored if shared and each.has_words(shared, said) for row in each.rows)
        if having and having != rows and having not in seen:
            seen.add(having)
            yield " ".join(said), having, False


def placed(items: Sequence[Item], starts: Sequence[int]) -> list[tuple[Item, int]]:
    """Return the items with the numbers of the tokens at which they begin, without those beyond the last token."""
    places = {start: number for number, start in reversed(list(enumerate(starts)))}
    return [(item, places[item.start]) for item in items if item.start in places]
