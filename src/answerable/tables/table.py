"""A table of a document: typed columns, and rows with their exact places."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from answerable.datatypes import Span


class Kind(str, Enum):
    """The kind of a column's values."""

    NUMBER = "number"
    DATE = "date"
    TEXT = "text"


class Origin(str, Enum):
    """What a table was made from."""

    TABLE = "table"
    CHAT = "chat"
    CALENDAR = "calendar"
    CONTACTS = "contacts"
    FRONT_MATTER = "front matter"


@dataclass(frozen=True, slots=True)
class Value:
    """A cell: its text without markup, and the number with its unit or the time that the text denotes.

    `unit` is an ISO 4217 currency code, `%`, or a unit as written (`kg`). `time` is naive local time; of a date without
    a time of day it is midnight, and `is_day` is true.
    """

    text: str
    number: float | None = None
    unit: str = ""
    time: datetime | None = None
    is_day: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the kind of most of its values, and their unit if they have one in common.

    `is_quantity` is false for numbers that only name something, years (`is_year`) and ids, which are never summed.
    """

    name: str
    kind: Kind
    unit: str = ""
    is_quantity: bool = True
    is_year: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row: `document.content[start:end]` is its text, `values` has one value per column."""

    start: int
    end: int
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table and what it was made from.

    `title` is its caption, the heading above it, or the document's title. `total` is the row that repeats the sum of
    the others ("Total", "Suma"), which isn't one of `rows`. `is_cut`: the document has more rows than are kept.
    `uncounted` are events that repeat or are cancelled, of which a row doesn't tell when they are.
    """

    origin: Origin
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    total: Row | None = None
    is_cut: bool = False
    uncounted: frozenset[int] = frozenset()

    @property
    def span(self) -> Span:
        """The characters of the document from the first row to the last; (0, 0) without rows."""
        return (self.rows[0].start, self.rows[-1].end) if self.rows else (0, 0)
