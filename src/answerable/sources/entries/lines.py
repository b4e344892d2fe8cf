"""The lines of iCalendar (RFC 5545) and vCard (RFC 6350) → entries, each with its properties and its place."""

from __future__ import annotations

import quopri
from collections.abc import Iterator
from dataclasses import dataclass, field

from answerable.tables.entries import ESCAPE, plain, split_line

_MOST_VALUES = 200


@dataclass(frozen=True, slots=True)
class Property:
    """A value as it is written, and its parameters by name in upper case."""

    value: str
    parameters: dict[str, str]

    @property
    def text(self) -> str:
        """The value as text."""
        return ESCAPE.sub(plain, self.value).strip()


@dataclass(slots=True)
class Entry:
    """An event, task or contact in the lines `first` to `last` of its file, counted from 1."""

    word: str
    first: int
    last: int
    properties: dict[str, list[Property]] = field(default_factory=dict)

    def all(self, name: str) -> list[Property]:
        """Return the values of a property, without empty ones."""
        return [each for each in self.properties.get(name, ()) if each.value.strip(" ;")]

    def one(self, name: str) -> Property | None:
        """Return the first value of a property."""
        return next(iter(self.all(name)), None)

    def text(self, name: str) -> str:
        """Return the first value of a property as text, or ""."""
        found = self.one(name)
        return found.text if found else ""


def entries(content: str, words: frozenset[str]) -> Iterator[Entry]:
    """Yield the entries between BEGIN and END of these words; one that isn't closed ends before the next."""
    current: Entry | None = None
    depth = 0
    for first, last, line in _unfolded(content):
        head, colon, value = split_line(line)
        name, *parameters = head.split(";")
        # "item1.TEL": a group.
        name = name.rpartition(".")[2].strip().upper()
        word = value.strip().upper()
        if name == "BEGIN" and word in words:
            if current is not None:
                yield current
            current, depth = Entry(word, first, last), 0
        elif current is None or not colon:
            continue
        elif name == "END" and word == current.word:
            current.last = last
            yield current
            current = None
        elif name in ("BEGIN", "END"):
            # Of an alarm, whose properties aren't the event's.
            depth = max(depth + (1 if name == "BEGIN" else -1), 0)
        elif depth == 0:
            current.last = last
            values = current.properties.setdefault(name, [])
            if len(values) < _MOST_VALUES:
                values.append(_property(value, parameters))
    if current is not None:
        yield current


def _property(value: str, parameters: list[str]) -> Property:
    named: dict[str, str] = {}
    for each in parameters:
        name, equals, setting = each.partition("=")
        # Before vCard 3.0, types have no name: "TEL;HOME:".
        key, setting = (name.strip().upper(), setting) if equals else ("TYPE", name)
        named[key] = f"{named[key]},{setting}" if key in named else setting.strip('" ')
    if "QUOTED-PRINTABLE" in (*map(str.upper, named.values()),):
        value = quopri.decodestring(value.encode("utf-8", "replace")).decode("utf-8", "replace").replace("\r\n", "\n")
    return Property(value.replace("\0", ""), named)


def _unfolded(content: str) -> Iterator[tuple[int, int, str]]:
    """Yield the lines that were folded, whole, with the numbers of their first and last line."""
    pieces: list[str] = []
    first = 1
    is_soft = False
    for number, line in enumerate(content.split("\n"), 1):
        if pieces and (is_soft or line[:1] in (" ", "\t")):
            # White space begins the continuation of a folded line, and isn't part of it.
            pieces.append(line if is_soft else line[1:])
        else:
            if pieces:
                yield first, number - 1, "".join(pieces)
            pieces, first = [line], number
        is_soft = line.endswith("=") and "QUOTED-PRINTABLE" in pieces[0].upper()
        if is_soft:
            pieces[-1] = pieces[-1][:-1]
    if pieces:
        yield first, first + len(pieces) - 1, "".join(pieces)
