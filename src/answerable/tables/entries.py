"""Calendars (iCalendar, RFC 5545), contacts (vCard, RFC 6350) and chats (who wrote what, when) as tables.

Entries are parsed as the file reader writes them (`Start: 2024-03-05 10:15`), or as calendar files contain them.
"""

from __future__ import annotations

import quopri
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import NamedTuple

from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.tables.grid import MOST_CELLS
from answerable.tables.table import Column, Kind, Origin, Row, Table, Value, meanings
from answerable.text.whatsapp_bodies import Body, MessageKind, cleaned, read_body
from answerable.text.whatsapp_words import plain

ESCAPE = re.compile(r"\\([\\;,:nN])")
"""An escape sequence in a value."""
_STAMP = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):?(\d\d):?(\d\d)?)?(?:Z|[+-]\d\d:?\d\d)?")
_FOLD = re.compile(r"\r?\n[ \t]")
_SOFT_BREAK = re.compile(r"=\r?\n")
_BLANK = Value("")
# The row of an event that matches doesn't determine on which days the event takes place.
_UNCOUNTED = re.compile(r"^(?:Repeats: |Also on: |Status: cancelled|RRULE|RDATE|STATUS:CANCELLED)", re.MULTILINE)


class _Shape(NamedTuple):
    """A kind of entry: the word after BEGIN and END, and each column's property and the label that people see."""

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
    """Yield the table of a document's calendar events and the table of its contacts, if it has any."""
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
    """Yield start, end and values of each entry of this kind."""
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
    """Return the values of an entry as shown to people; a description continues to the entry's end."""
    lines = text.split("\n")
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        label, _, value = line.partition(": ")
        if label in ("Description", "Note"):
            found[label] = "\n".join([value, *lines[number + 1 :]])
            break
        found.setdefault(label, value)
    # "2024-03-05 10:15 UTC" is a time as well.
    return tuple(
        _value([found.get(label, "").removesuffix(" UTC" if kind is Kind.DATE else "")], kind)
        for _, _, label, kind in shape.columns
    )


def _spans(content: str, word: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of entries; an entry without an end is left out."""
    opening, closing = f"BEGIN:{word}", f"END:{word}"
    start = content.find(opening)
    while start >= 0:
        end = content.find(closing, start)
        if end < 0:
            return
        # An entry that isn't closed before the next one begins is left out.
        start = content.rfind(opening, start, end)
        end += len(closing)
        if start == 0 or content[start - 1] == "\n":
            yield start, end
        start = content.find(opening, end)


def _values(text: str, shape: _Shape) -> tuple[Value, ...]:
    found = _properties(text)
    if "FN" not in found and "N" in found:
        # The components of a vCard name: family name; given name; other names; titles before; titles after.
        family, given, *_ = [*found["N"][0].split(";"), "", ""]
        found["FN"] = [" ".join(filter(None, (given.strip(), family.strip())))]
    return tuple(_value(found.get(name, []), kind) for _, name, _, kind in shape.columns)


def _value(texts: list[str], kind: Kind) -> Value:
    text = ", ".join(dict.fromkeys(filter(None, (ESCAPE.sub(unescaped, each).strip(" ;") for each in texts))))
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


def unescaped(escape: re.Match[str]) -> str:
    """Return the character for an escape sequence of iCalendar."""
    return "\n" if escape[1] in "nN" else escape[1]


def _properties(text: str) -> dict[str, list[str]]:
    """Return the texts of each property; properties of inner entries, such as alarms, are left out."""
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
        # "item1.TEL" is the property TEL in a group.
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


COLUMNS = (
    Column("sender", Kind.TEXT),
    Column("time", Kind.DATE),
    Column("text", Kind.TEXT),
    Column("attachment", Kind.TEXT),
)
_LONGEST_HEADER = 6_000  # characters from a message's start to the end of the sender's name; a guess, not measured
# How the file readers of other apps' chats mark the name of an attached file; a message may have several.
_ATTACHED = " (file attached)"
_UNKNOWN = "media"
_NONE = Value("")


def chat_table(document: Document) -> Table | None:
    """Return the table of a chat's messages, without the messenger's notices; None if there are no messages."""
    messages: list[list[Part]] = []
    for part in document.parts:
        if part.is_heard and messages:
            messages[-1].append(part)
        elif part.kind is PartKind.MESSAGE:
            messages.append([part])
    kept = messages[: MOST_CELLS // len(COLUMNS)]
    if not kept:
        return None
    senders: dict[str, Value] = {}
    rows = tuple(_row(document.content, part, heard, senders) for part, *heard in kept)
    return Table(Origin.CHAT, document.title, COLUMNS, rows, is_cut=len(kept) < len(messages))


def _row(content: str, part: Part, heard: list[Part], senders: dict[str, Value]) -> Row:
    """Return the row of a message, with the transcript of its voice note."""
    name = part.sender or ""
    sender = senders.setdefault(name, Value(name))
    time = Value(f"{part.time:%Y-%m-%d %H:%M}", time=part.time) if part.time else _NONE
    text, attachment = _message(content, part)
    said = (content[each.body or each.start : each.end] for each in heard)
    text = "\n".join(filter(None, (text, *said)))
    end = heard[-1].end if heard else part.end
    return Row(part.start, end, (sender, time, Value(text), Value(attachment) if attachment else _NONE))


def _message(content: str, part: Part) -> tuple[str, str]:
    """Return a message's own words, and the kind of its attachment, or "" without one."""
    begin = part.start if part.body is None else part.body
    own = content[begin : part.end]
    # A placeholder is on the line above the sender's own words.
    raw = own if own and content[begin - 1] != "\n" else _with_placeholder(content, part)
    read = read_body(raw, part.sender or "", is_iphone=False)
    if read.kind is not MessageKind.MEDIA:
        return ("" if read.kind is MessageKind.DELETED else read.text.strip()), ""
    if read.attachment is None:
        return cleaned(own).strip(), _kind(read)
    lines = read.text.split("\n")
    caption = (line for line in lines if read.attachment not in line and not line.endswith(_ATTACHED))
    return "\n".join(caption).strip(), _kind(read)


def _with_placeholder(content: str, part: Part) -> str:
    """Return a message's text with the placeholder of its attachment."""
    name = part.sender or ""
    # Search from the end: a note before the sender may contain the same name.
    body = part.end if part.body is None else part.body
    after = content.rfind(f"{name}:", part.start, min(body, part.start + _LONGEST_HEADER))
    if after < 0:
        return content[part.body or part.start : part.end]
    return content[after + len(name) + 1 : part.end].removeprefix(" ")


def _kind(body: Body) -> str:
    kinds = meanings("attachments", "kinds")
    if body.attachment:
        path = PurePosixPath(body.attachment)
        prefix = re.split(r"[-_ ]", path.stem.lower(), maxsplit=1)[0]
        suffix = path.suffix.lower().removeprefix(".")
        return meanings("attachments", "prefixes").get(prefix) or meanings("attachments", "suffixes").get(
            suffix, "document"
        )
    words = plain(body.text.partition("\n")[0]).strip("<> .").split()
    return next((kinds[word] for word in words if word in kinds), _UNKNOWN)


@dataclass(frozen=True, slots=True)
class ChatStatistics:
    """Message counts by sender (most first), by day (in order, without empty days), and by hour of the day (from 0).

    `notices` counts the messenger's own notices, which are not messages.
    """

    first: datetime
    last: datetime
    messages: int
    notices: int
    by_sender: Mapping[str, int]
    by_day: Mapping[date, int]
    by_hour: tuple[int, ...]

    @property
    def by_month(self) -> dict[str, int]:
        """The number of messages in every month from the first to the last: `2024-03` → count."""
        first, last = (12 * moment.year + moment.month - 1 for moment in (self.first, self.last))
        counts = dict.fromkeys((f"{month // 12:04}-{month % 12 + 1:02}" for month in range(first, last + 1)), 0)
        for day, count in self.by_day.items():
            counts[f"{day:%Y-%m}"] += count
        return counts

    def busiest_days(self, n: int = 3) -> list[tuple[date, int]]:
        """Return the n days with the most messages, most first; of equally busy days, the earlier comes first."""
        return sorted(self.by_day.items(), key=lambda pair: (-pair[1], pair[0]))[:n]


def chat_statistics(document: Document) -> ChatStatistics | None:
    """Return the statistics of a chat, or None for a document without messages."""
    messages = [
        (part.time, part.sender)
        for part in document.parts
        if part.kind is PartKind.MESSAGE and not part.is_heard and part.time is not None and part.sender is not None
    ]
    if not messages:
        return None
    times = [time for time, _ in messages]
    hours = Counter(time.hour for time in times)
    return ChatStatistics(
        first=min(times),
        last=max(times),
        messages=len(messages),
        notices=sum(part.kind is PartKind.NOTICE for part in document.parts),
        by_sender=dict(Counter(sender for _, sender in messages).most_common()),
        by_day=dict(sorted(Counter(time.date() for time in times).items())),
        by_hour=tuple(hours[hour] for hour in range(24)),
    )
