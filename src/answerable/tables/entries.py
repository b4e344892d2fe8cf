"""The entries of calendars (iCalendar, RFC 5545) and of contacts (vCard, RFC 6350) as tables.

Those of files are read as people read them (`Start: 2024-03-05 10:15`); texts may have them as they are written.
"""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from answerable.datatypes import Document, DocumentType
from answerable.tables.grid import MOST_CELLS
from answerable.tables.table import Column, Kind, Origin, Row, Table, Value

ESCAPE = re.compile(r"\\([\\;,:nN])")
"""A character that is escaped in a value."""
_STAMP = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):?(\d\d):?(\d\d)?)?(?:Z|[+-]\d\d:?\d\d)?")
_FOLD = re.compile(r"\r?\n[ \t]")
_SOFT_BREAK = re.compile(r"=\r?\n")
_BLANK = Value("")
# The row of such an event doesn't tell on which days it takes place.
_UNCOUNTED = re.compile(r"^(?:Repeats: |Also on: |Status: cancelled|RRULE|RDATE|STATUS:CANCELLED)", re.MULTILINE)


class _Shape(NamedTuple):
    """A kind of entry: the word between BEGIN and END, and for each column the property and the label that it shows."""

    word: str
    type: DocumentType
    origin: Origin
    columns: tuple[tuple[str, str, str, Kind], ...]


_SHAPES = (
    _Shape(
        "VEVENT",
        DocumentType.CALENDAR,
        Origin.CALENDAR,
        (
            ("summary", "SUMMARY", "Event", Kind.TEXT),
            ("start", "DTSTART", "Start", Kind.DATE),
            ("end", "DTEND", "End", Kind.DATE),
            ("location", "LOCATION", "Place", Kind.TEXT),
            ("description", "DESCRIPTION", "Description", Kind.TEXT),
        ),
    ),
    _Shape(
        "VCARD",
        DocumentType.CONTACTS,
        Origin.CONTACTS,
        (
            ("name", "FN", "Name", Kind.TEXT),
            ("phone", "TEL", "Phone", Kind.TEXT),
            ("email", "EMAIL", "Email", Kind.TEXT),
            ("organisation", "ORG", "Organisation", Kind.TEXT),
            ("birthday", "BDAY", "Birthday", Kind.DATE),
            ("note", "NOTE", "Note", Kind.TEXT),
        ),
    ),
)


def entry_tables(document: Document) -> Iterator[Table]:
    """Yield the table of a calendar's events and the one of contacts, as far as the document has any."""
    for shape in _SHAPES:
        columns = tuple(Column(name, kind) for name, *_, kind in shape.columns)
        rows: list[Row] = []
        is_cut = False
        for start, end, found in _found(document, shape):
            if (len(rows) + 1) * len(columns) > MOST_CELLS:
                is_cut = True
                break
            rows.append(Row(start, end, found))
        if rows:
            uncounted = frozenset(
                number for number, row in enumerate(rows) if _UNCOUNTED.search(document.content[row.start : row.end])
            )
            yield Table(shape.origin, document.title, columns, tuple(rows), is_cut=is_cut, uncounted=uncounted)


def _found(document: Document, shape: _Shape) -> Iterator[tuple[int, int, tuple[Value, ...]]]:
    """Yield start, end and values of the entries of a kind."""
    content = document.content
    if document.type not in (DocumentType.CALENDAR, DocumentType.CONTACTS):
        for start, end in _spans(content, shape.word):
            yield start, end, _values(content[start:end], shape)
        return
    first = shape.columns[0][2]
    for part in document.parts if document.type is shape.type else ():
        if content.startswith(f"{first}: ", part.start):
            yield part.start, part.end, _labelled(content[part.start : part.end], shape)


def _labelled(text: str, shape: _Shape) -> tuple[Value, ...]:
    """Return the values of an entry as people read it; a description goes on to its end."""
    lines = text.split("\n")
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        label, _, value = line.partition(": ")
        if label in ("Description", "Note"):
            found[label] = "\n".join([value, *lines[number + 1 :]])
            break
        found.setdefault(label, value)
    # "2024-03-05 10:15 UTC" is a time, too.
    return tuple(
        _value([found.get(label, "").removesuffix(" UTC" if kind is Kind.DATE else "")], kind)
        for _, _, label, kind in shape.columns
    )


def _spans(content: str, word: str) -> Iterator[tuple[int, int]]:
    """Yield where entries begin and end; an entry without an end is none."""
    opening, closing = f"BEGIN:{word}", f"END:{word}"
    start = content.find(opening)
    while start >= 0:
        end = content.find(closing, start)
        if end < 0:
            return
        # An entry that was never closed before the next one begins.
        start = content.rfind(opening, start, end)
        end += len(closing)
        if start == 0 or content[start - 1] == "\n":
            yield start, end
        start = content.find(opening, end)


def _values(text: str, shape: _Shape) -> tuple[Value, ...]:
    found = _properties(text)
    if "FN" not in found and "N" in found:
        # Family name; given name; other names; titles before; titles after.
        family, given, *_ = [*found["N"][0].split(";"), "", ""]
        found["FN"] = [" ".join(filter(None, (given.strip(), family.strip())))]
    return tuple(_value(found.get(name, []), kind) for _, name, _, kind in shape.columns)


def _value(texts: list[str], kind: Kind) -> Value:
    text = ", ".join(dict.fromkeys(filter(None, (ESCAPE.sub(plain, each).strip(" ;") for each in texts))))
    if not text:
        return _BLANK
    stamp = _STAMP.fullmatch(text) if kind is Kind.DATE else None
    if stamp is None:
        return Value(text)
    year, month, day, hour, minute, second = (int(number or 0) for number in stamp.groups())
    try:
        time = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return Value(text)
    return Value(f"{time:%Y-%m-%d %H:%M}" if stamp[4] else f"{time:%Y-%m-%d}", time=time, is_day=stamp[4] is None)


def plain(escape: re.Match[str]) -> str:
    """Return the character that an escape sequence of iCalendar means."""
    return "\n" if escape[1] in "nN" else escape[1]


def _properties(text: str) -> dict[str, list[str]]:
    """Return the texts of each property; those of inner entries, such as alarms, are left out."""
    if "QUOTED-PRINTABLE" in text.upper():
        text = _SOFT_BREAK.sub("", text)
    found: dict[str, list[str]] = {}
    depth = 0
    for line in _FOLD.sub("", text).splitlines():
        head, colon, value = split_line(line)
        name, *parameters = head.upper().split(";")
        depth += (name == "BEGIN") - (name == "END")
        if not colon or depth != 1 or name == "BEGIN":
            continue
        if any("QUOTED-PRINTABLE" in each for each in parameters):
            value = quopri.decodestring(value.encode()).decode("utf-8", "replace")
        # "item1.TEL": a group.
        found.setdefault(name.rpartition(".")[2], []).append(value.removeprefix("tel:").removeprefix("mailto:"))
    return found


def split_line(line: str) -> tuple[str, str, str]:
    """Split a line at the first colon outside of quotes."""
    if '"' not in line.partition(":")[0]:
        return line.partition(":")
    quoted = False
    for place, character in enumerate(line):
        if character == '"':
            quoted = not quoted
        elif character == ":" and not quoted:
            return line[:place], ":", line[place + 1 :]
    return line, "", ""
