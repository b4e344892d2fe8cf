"""A table that a question may be about, with its document and what its words are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import PurePosixPath

from answerable.computing.named_documents import name_of
from answerable.computing.word_forms import spoken, stems, stems_of
from answerable.datatypes import Document
from answerable.tables.table import Kind, Origin, Row, Table
from answerable.text.terms import fold, words

LONGEST_VALUE = 60
"""A text cell of more characters is prose: a word in it says little about the row."""


@dataclass(frozen=True)
class Source:
    """A table of a document. `rank` is the document's place among the passages found, from 0; later if not found."""

    document: Document
    table: Table
    rank: int

    @cached_property
    def is_chat(self) -> bool:
        """Whether the rows are messages."""
        return self.table.origin is Origin.CHAT

    @cached_property
    def name(self) -> str:
        """The name shown for the table: the document's file name or title."""
        return name_of(self.document)

    @cached_property
    def title_stems(self) -> frozenset[str]:
        """The stems of the table's title, and of the document's title and file name."""
        stem = PurePosixPath(self.name).stem
        return stems_of((self.table.title, self.document.title, stem.replace("_", " ").replace("-", " ")))

    @cached_property
    def column_stems(self) -> tuple[frozenset[str], ...]:
        """The stems of each column's name."""
        return tuple(stems_of((spoken(column.name),)) for column in self.table.columns)

    def texts(self, column: int) -> list[str]:
        """Return the column's cells, in lower case without accents."""
        return self._texts[column]

    @cached_property
    def _texts(self) -> list[list[str]]:
        return [
            [" ".join(fold(row.values[column].text.lower()).split()) for row in self.table.rows]
            for column in range(len(self.table.columns))
        ]

    @cached_property
    def _with_stem(self) -> list[Mapping[str, frozenset[int]]]:
        """For each column of text, the rows of each stem."""
        return [self._rows_by_stem(column) for column in range(len(self.table.columns))]

    def _rows_by_stem(self, column: int) -> dict[str, frozenset[int]]:
        found: dict[str, set[int]] = {}
        for number, text in enumerate(self._texts[column]):
            for word in set(words(text)):
                for stem in stems(word):
                    found.setdefault(stem, set()).add(number)
        return {stem: frozenset(rows) for stem, rows in found.items()}

    def rows_with(self, column: int, word: str) -> frozenset[int]:
        """Return the rows whose cell in this column has a form of the word."""
        found = self._with_stem[column]
        return frozenset[int]().union(*(found.get(stem, frozenset()) for stem in stems(word)))

    @cached_property
    def text_columns(self) -> list[int]:
        """The columns of text."""
        return [number for number, column in enumerate(self.table.columns) if column.kind is Kind.TEXT]

    @cached_property
    def number_columns(self) -> list[int]:
        """The columns of numbers."""
        return [number for number, column in enumerate(self.table.columns) if column.kind is Kind.NUMBER]

    @cached_property
    def date_columns(self) -> list[int]:
        """The columns of dates."""
        return [number for number, column in enumerate(self.table.columns) if column.kind is Kind.DATE]

    @cached_property
    def year_columns(self) -> list[int]:
        """The columns of years."""
        return [number for number in self.number_columns if self.table.columns[number].is_year]

    @cached_property
    def time_column(self) -> int:
        """The first column of dates; without one, that of years; -1 without either."""
        return next(iter([*self.date_columns, *self.year_columns]), -1)

    def time(self, row: Row, column: int) -> datetime | None:
        """Return the time of a row in a column of dates, or of years: when the year begins."""
        value = row.values[column]
        return datetime(int(value.number), 1, 1) if column in self.year_columns and value.number else value.time

    def is_prose(self, column: int) -> bool:
        """Return whether a column's cells are long texts."""
        texts = self._texts[column]
        return sum(len(text) > LONGEST_VALUE for text in texts) * 4 > len(texts)

    def distinct(self, column: int) -> list[str]:
        """Return the column's different cells, in order, without empty ones."""
        return [text for text in dict.fromkeys(self._texts[column]) if text]

    @cached_property
    def days(self) -> tuple[date, date] | None:
        """The first and the last day in the columns of dates, or else of years; None without either."""
        days = [
            when.date()
            for row in self.table.rows
            for column in self.date_columns or self.year_columns[:1]
            if (when := self.time(row, column)) is not None
        ]
        return (min(days), max(days)) if days else None
