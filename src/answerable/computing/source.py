"""A table that a question may be about, with its document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from itertools import groupby, pairwise

from answerable.answering.citations import cite_spans
from answerable.computing.vocabulary import keys_of, name_of, spoken, stems, stems_of
from answerable.datatypes import Citation, Document
from answerable.tables.grid import says_total
from answerable.tables.table import Kind, Origin, Row, Table
from answerable.tables.values import is_blank
from answerable.text.terms import fold

NAMED = 8
"""Joined tables that an answer names; of the remaining tables it only says how many there are."""
SMALLEST_ID = 100
"""Rising numbers close together identify invoices or rooms only if they begin at this number: small ones count."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text of a column, the keys of its words in order (see `keys_of`), and the rows that have it."""

    text: str
    keys: Mapping[str, None]
    rows: frozenset[int]

    def has_words(self, keys: Iterable[str], said: Iterable[str]) -> bool:
        """Return whether the text has words with these keys that are also inflected forms of what is said."""
        if not self.keys.keys() >= set(keys):
            return False
        own = stems_of([self.text])
        return all(not own.isdisjoint(stems(word)) for word in said)


@dataclass(frozen=True, eq=False)
class Source:
    """A table of a document; or a table joined from `parts` with the same columns, with the first part's document.

    `breaks` are rows that don't follow the row before in the document, because rows between are left out of the table.
    """

    document: Document
    table: Table
    parts: tuple[Source, ...] = ()
    breaks: frozenset[int] = frozenset()

    @cached_property
    def is_chat(self) -> bool:
        """Whether the rows are chat messages."""
        return self.table.origin is Origin.CHAT

    @cached_property
    def name(self) -> str:
        """The name shown for the table: the document's file name or title; for joined tables, the names of all."""
        if not self.parts:
            return name_of(self.document)
        names = list(dict.fromkeys(part.name for part in self.parts))
        # All parts are sheets of one workbook.
        return (
            f"{names[0]} ({named_of(each.table.title for each in self.parts)})" if len(names) == 1 else named_of(names)
        )

    @property
    def full_name(self) -> str:
        """The name with the table's title, which tells it from other tables of its document."""
        title = "" if self.parts or self.is_chat else self.table.title
        return ", ".join(dict.fromkeys(filter(None, (self.name, title))))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The number of the first row of each part; (0,) for a table that isn't joined."""
        found = [0]
        for part in self.parts[:-1]:
            found.append(found[-1] + len(part.table.rows))
        return tuple(found)

    def cite(self, runs: Iterable[tuple[int, int]]) -> list[Citation]:
        """Cite runs of rows, given by their first and last row, in this order; each run is within one part."""
        found: list[Citation] = []
        for place, group in groupby(runs, key=lambda run: bisect_right(self.starts, run[0]) - 1):
            document = self.parts[place].document if self.parts else self.document
            rows = self.table.rows
            found += cite_spans(document, [(rows[first].start, rows[last].end) for first, last in group])
        return found

    @cached_property
    def texts(self) -> list[list[str]]:
        """The texts of each column's cells, in lower case without accents."""
        return [
            [" ".join(fold(row.values[column].text.lower()).split()) for row in self.table.rows]
            for column in range(len(self.table.columns))
        ]

    @cached_property
    def filled(self) -> list[frozenset[int]]:
        """The rows of each column with cells that aren't blank."""
        return [frozenset(row for row, text in enumerate(each) if not is_blank(text)) for each in self.texts]

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """The different texts of each column, in order, without empty ones."""
        found = []
        for texts in self.texts:
            rows_of: dict[str, list[int]] = {}
            for number, text in enumerate(texts):
                if text:
                    rows_of.setdefault(text, []).append(number)
            found.append([Cell(text, dict.fromkeys(keys_of(text)), frozenset(rows)) for text, rows in rows_of.items()])
        return found

    def has_keys(self, keys: Iterable[str]) -> bool:
        """Return whether the table, its columns or its name have all of these keys."""
        return self._keys.issuperset(keys)

    @cached_property
    def _keys(self) -> frozenset[str]:
        names = [self.name, *(spoken(f"{column.name} {column.unit}") for column in self.table.columns)]
        return frozenset().union(*map(keys_of, names), *(cell.keys for column in self.cells for cell in column))

    def _columns_of(self, kind: Kind) -> list[int]:
        return [number for number, column in enumerate(self.table.columns) if column.kind is kind]

    @cached_property
    def year_columns(self) -> list[int]:
        """The columns of years."""
        return [number for number in self._columns_of(Kind.NUMBER) if self.table.columns[number].is_year]

    @cached_property
    def quantities(self) -> list[int]:
        """The columns of numbers that can be added up and compared: not those that only identify something."""
        return [number for number in self._columns_of(Kind.NUMBER) if not self._is_of_names(number)]

    def _is_of_names(self, column: int) -> bool:
        """Whether numbers only identify something: whole ones of the first column, and rising ones close together."""
        own = self.table.columns[column]
        known = [each for row in self.table.rows if (each := row.values[column].number) is not None]
        if own.is_quantity and (own.unit or not all(map(float.is_integer, known))):
            return False
        is_rising = len(known) > 1 and all(one < other for one, other in pairwise(known))
        is_close = is_rising and known[0] >= SMALLEST_ID and known[-1] - known[0] < 10 * len(known)
        return not own.is_quantity or is_close or (column == 0 and len(self.table.columns) > 1)

    @cached_property
    def sums(self) -> frozenset[int]:
        """The rows that say that they are totals; the certain totals were already removed from the table."""
        texts = [[value.text for value in row.values] for row in self.table.rows]
        return frozenset(number for number, cells in enumerate(texts) if says_total(cells))

    @cached_property
    def uncertain(self) -> frozenset[int]:
        """The rows from which no figure can be computed: totals, and events that repeat or are cancelled."""
        return self.sums | self.table.uncounted

    def time(self, row: Row, column: int) -> datetime | None:
        """Return the time of a row in a column of dates or years; for a year, its beginning."""
        value = row.values[column]
        return datetime(int(value.number), 1, 1) if column in self.year_columns and value.number else value.time

    @cached_property
    def has_second_header(self) -> bool:
        """Whether the first row names columns that have no other name, because it is the second row of a header."""
        return any(
            column.name == str(number + 1)
            and not _has_digit(texts[0])
            and len(texts) > 1
            and all(map(_has_digit, texts[1:]))
            for number, (column, texts) in enumerate(zip(self.table.columns, self.texts, strict=True))
            if number
        )

    @cached_property
    def days(self) -> tuple[date, date] | None:
        """The first and the last day in the columns of dates, or else of years; None if there are neither."""
        columns = self._columns_of(Kind.DATE) or self.year_columns[:1]
        days = [
            when.date() for row in self.table.rows for column in columns if (when := self.time(row, column)) is not None
        ]
        return (min(days), max(days)) if days else None


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def named_of(names: Iterable[str]) -> str:
    """Return the names of tables, joined on one line."""
    listed = list(names)
    more = f" … (+{len(listed) - NAMED})" if len(listed) > NAMED else ""
    return ", ".join(listed[:NAMED]) + more
