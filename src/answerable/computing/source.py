"""A table that a question may be about, with its document, and the words with which the question is compared."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import PurePosixPath

from answerable.answering.citations import cite_spans
from answerable.computing.vocabulary import measured_stems, name_of, spoken, stems, stems_of, unit_words, words_of
from answerable.datatypes import Citation, Document
from answerable.tables.grid import says_total
from answerable.tables.table import Kind, Origin, Row, Table
from answerable.text.terms import STOP_WORDS, fold, words

LONGEST_VALUE = 60
"""Characters of a text cell; a longer cell is prose, in which a word says little about the row."""
NAMED = 8
"""Joined tables that an answer names; of the remaining tables it only says how many there are."""
SMALLEST_ID = 100
"""Rising numbers close together identify invoices or rooms only if they begin at this number: small ones count."""


@dataclass(frozen=True)
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
    def title_stems(self) -> frozenset[str]:
        """The stems of the table's title and the document's title and file name; of joined tables, the common ones."""
        if self.parts:
            return frozenset.intersection(*(part.title_stems for part in self.parts))
        stem = PurePosixPath(self.name).stem
        return stems_of((self.table.title, self.document.title, stem.replace("_", " ").replace("-", " ")))

    @cached_property
    def column_stems(self) -> tuple[frozenset[str], ...]:
        """The stems in each column's name."""
        return tuple(stems_of((spoken(column.name),)) for column in self.table.columns)

    @cached_property
    def columns_of_stem(self) -> Mapping[str, tuple[int, ...]]:
        """For each stem in column names, the columns with this stem."""
        found: dict[str, tuple[int, ...]] = {}
        for column, own in enumerate(self.column_stems):
            for stem in own:
                found[stem] = (*found.get(stem, ()), column)
        return found

    @cached_property
    def known(self) -> frozenset[str]:
        """The stems of all words in its cells, columns and titles; question words are looked up here often."""
        titles = (part.title_stems for part in (self, *self.parts))
        units = (unit_words(column.unit) for column in self.table.columns)
        return self.states.union(self._with_stem, *self.column_stems, *titles, *units)

    def columns_called(self, word: str) -> list[int]:
        """Return the columns whose names contain a form of the word."""
        return sorted({column for stem in stems(word) for column in self.columns_of_stem.get(stem, ())})

    def texts(self, column: int) -> list[str]:
        """Return the texts of the column's cells, in lower case without accents."""
        return self._texts[column]

    @cached_property
    def _texts(self) -> list[list[str]]:
        return [
            [" ".join(fold(row.values[column].text.lower()).split()) for row in self.table.rows]
            for column in range(len(self.table.columns))
        ]

    @cached_property
    def _with_stem(self) -> Mapping[str, dict[int, frozenset[int]]]:
        """For each stem in cells, the rows that contain it, by column."""
        found: dict[str, dict[int, set[int]]] = {}
        for column, texts in enumerate(self._texts):
            rows_of: dict[str, list[int]] = {}
            for number, text in enumerate(texts):
                rows_of.setdefault(text, []).append(number)
            for text, numbers in rows_of.items():
                for stem in stems_of((text,)):
                    found.setdefault(stem, {}).setdefault(column, set()).update(numbers)
        return {stem: {each: frozenset(rows) for each, rows in columns.items()} for stem, columns in found.items()}

    def rows_with(self, column: int, word: str) -> frozenset[int]:
        """Return the rows whose cell in this column contains a form of the word."""
        nothing = frozenset[int]()
        return nothing.union(*(self._with_stem.get(stem, {}).get(column, nothing) for stem in stems(word)))

    def columns_with(self, word: str) -> frozenset[int]:
        """Return the columns with a cell that contains a form of the word."""
        return frozenset[int]().union(*(self._with_stem.get(stem, {}) for stem in stems(word)))

    @cached_property
    def states(self) -> frozenset[str]:
        """The stems of words that are all a cell says, apart from small words and negations ("done", "not done")."""
        small = frozenset[str]().union(*STOP_WORDS.values()) | words_of("words", "negations")
        said = (
            [each for each in words(text) if each not in small]
            for column in self.text_columns
            for text in self.distinct(column)
        )
        return stems_of(each[0] for each in said if len(each) == 1)

    def has_negation(self, column: int, row: int) -> bool:
        """Return whether a cell contains a negation ("not done", "sin pagar")."""
        return not words_of("words", "negations").isdisjoint(words(self._texts[column][row]))

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
    def quantities(self) -> list[int]:
        """The columns of numbers that can be added up and compared: not those that only identify something."""
        return [number for number in self.number_columns if not self._is_of_names(number)]

    def _is_of_names(self, column: int) -> bool:
        """Whether numbers only identify something: those of the first column, and rising numbers close together."""
        if not self.table.columns[column].is_quantity:
            return True
        if not self.may_be_names(column):
            return False
        numbers = [row.values[column].number for row in self.table.rows]
        known = [each for each in numbers if each is not None]
        is_rising = len(known) > 1 and all(one < other for one, other in pairwise(known))
        is_close = is_rising and known[0] >= SMALLEST_ID and known[-1] - known[0] < 10 * len(known)
        return is_close or (column == 0 and len(self.table.columns) > 1)

    def may_be_names(self, column: int) -> bool:
        """Return whether numbers are whole, without unit, under a singular name that says nothing measured."""
        own = self.table.columns[column]
        numbers = (row.values[column].number for row in self.table.rows)
        is_bare = not own.unit and all(each is None or each.is_integer() for each in numbers)
        name = spoken(own.name).lower()
        is_plural = name.endswith("s") and len(stems(name.split()[-1])) > 1
        return is_bare and not is_plural and self.column_stems[column].isdisjoint(measured_stems())

    @cached_property
    def sums(self) -> frozenset[int]:
        """The rows that say that they are totals; the certain totals were already removed from the table."""
        texts = [[value.text for value in row.values] for row in self.table.rows]
        return frozenset(number for number, cells in enumerate(texts) if says_total(cells))

    @cached_property
    def uncertain(self) -> frozenset[int]:
        """The rows from which no figure can be computed: totals, and events that repeat or are cancelled."""
        return self.sums | self.table.uncounted

    @cached_property
    def time_column(self) -> int:
        """The first column of dates; or else the first column of years; -1 if there is neither."""
        return next(iter([*self.date_columns, *self.year_columns]), -1)

    def time(self, row: Row, column: int) -> datetime | None:
        """Return the time of a row in a column of dates or years; for a year, its beginning."""
        value = row.values[column]
        return datetime(int(value.number), 1, 1) if column in self.year_columns and value.number else value.time

    def is_prose(self, column: int) -> bool:
        """Return whether a column's cells are long texts rather than values."""
        texts = self._texts[column]
        return sum(len(text) > LONGEST_VALUE for text in texts) * 4 > len(texts)

    def distinct(self, column: int) -> list[str]:
        """Return the different texts in the column, in order, without empty texts."""
        return [text for text in dict.fromkeys(self._texts[column]) if text]

    @cached_property
    def has_second_header(self) -> bool:
        """Whether the first row names columns that have no other name, because it is the second row of a header."""
        return any(
            column.name == str(number + 1)
            and not _has_digit(texts[0])
            and len(texts) > 1
            and all(map(_has_digit, texts[1:]))
            for number, (column, texts) in enumerate(zip(self.table.columns, self._texts, strict=True))
            if number
        )

    def has_two_states(self, column: int) -> bool:
        """Return whether each row has one of two values in the column, one negating the other ("paid", "unpaid")."""
        return len(set(self._texts[column])) == 2 and all(self._texts[column])

    def yes_rows(self, column: int) -> frozenset[int] | None:
        """Return the rows that say yes, or have the only mark, in a yes/no column; None for another kind of column."""
        texts, yes = self._texts[column], words_of("words", "yes")
        is_marked = len(self.distinct(column)) == 1 and "" in texts
        known = yes if is_marked else yes | words_of("words", "no")
        if column not in self.text_columns or not set(texts) <= (known | {""} if is_marked else known):
            return None
        return frozenset(number for number, text in enumerate(texts) if text in yes)

    def has_repeats(self, column: int, rows: Sequence[int]) -> bool:
        """Return whether two of these rows have the same text in a column."""
        texts = [self._texts[column][row] for row in rows]
        return len(set(texts)) < len(texts)

    def is_key(self, column: int) -> bool:
        """Return whether every row has a different text in the column."""
        return len(self.distinct(column)) == len(self.table.rows)

    @cached_property
    def days(self) -> tuple[date, date] | None:
        """The first and the last day in the columns of dates, or else of years; None if there are neither."""
        days = [
            when.date()
            for row in self.table.rows
            for column in self.date_columns or self.year_columns[:1]
            if (when := self.time(row, column)) is not None
        ]
        return (min(days), max(days)) if days else None


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def named_of(names: Iterable[str]) -> str:
    """Return the names of tables, joined on one line."""
    listed = list(names)
    more = f" … (+{len(listed) - NAMED})" if len(listed) > NAMED else ""
    return ", ".join(listed[:NAMED]) + more
