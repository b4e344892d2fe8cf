"""A table of a document: typed columns, and rows with their exact places; also the word lists for reading cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from answerable.datatypes import Span
from answerable.filters import normalize
from answerable.text.word_lists import read_toml


class Kind(str, Enum):
    """The kind of a column's values."""

    NUMBER = "number"
    DATE = "date"
    TEXT = "text"


class Origin(str, Enum):
    """The kind of content that a table was made from."""

    TABLE = "table"
    CHAT = "chat"
    CALENDAR = "calendar"
    CONTACTS = "contacts"
    FRONT_MATTER = "front matter"


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a document as cell texts; `document.content[start:end]` is the row."""

    start: int
    end: int
    cells: Sequence[str]


@dataclass(frozen=True, slots=True)
class Value:
    """A cell: its text without markup, and what the text denotes: a number with its unit, or a time.

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
    """A column: its name, the kind of most of its values, and their unit if all have the same one.

    `is_quantity` is false for numbers that only identify something, years (`is_year`) and ids; these are never summed.
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

    `title` is its caption, the heading above it, or the document's title. `total` is a row with the sum of the others
    ("Total", "Suma"), which isn't in `rows`. `is_cut`: the document has more rows than are kept. `uncounted` are events
    that repeat or are cancelled, whose rows don't determine when they take place.
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
        """The span in the document from the first row to the last; (0, 0) without rows."""
        return (self.rows[0].start, self.rows[-1].end) if self.rows else (0, 0)


def lists(name: str) -> dict[str, Any]:
    """Return the contents of a file of word lists; each file is read once."""
    return read_toml(Path(__file__).with_name("words") / f"{name}.toml")


@cache
def word_set(file: str, *path: str) -> frozenset[str]:
    """Return the words under a key of a file, where they are separated by blanks."""
    found: Any = lists(file)
    for key in path:
        found = found[key]
    return frozenset(found.split() if isinstance(found, str) else found)


@cache
def meanings(file: str, section: str) -> dict[str, str]:
    """Return a mapping from each word of a section to the key that lists it: "marzo" → "3"."""
    return {word: key for key, words in lists(file)[section].items() for word in words.split()}


def folded(text: str) -> str:
    """Return a text normalised for comparison: lower case, without accents, single blanks."""
    return " ".join(str(normalize(text)).split())
