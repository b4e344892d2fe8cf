"""Calendars (iCalendar, RFC 5545), contacts (vCard, RFC 6350) and chats (who wrote what, when) as tables.

Entries are parsed as the file reader writes them: `Start: 2024-03-05 10:15`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from pathlib import PurePosixPath

from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.tables.grid import MOST_CELLS
from answerable.tables.recurrence import times_of
from answerable.tables.table import Column, Kind, Origin, Row, Table, Value, meanings
from answerable.text.whatsapp_bodies import Body, MessageKind, cleaned, read_body
from answerable.text.whatsapp_words import plain

_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d))?(?:[+-]\d\d:?\d\d)?(?: [^\d\s].*)?")
_MOST_STEPS = 500_000  # steps of the rules of a calendar's events, which take some seconds
_BLANK = Value("")


# Of each type of document, each column with the label of its values in the text, the first label first.
_COLUMNS = {
    DocumentType.CALENDAR: (
        ("summary", "Event", Kind.TEXT),
        ("start", "Start", Kind.DATE),
        ("end", "End", Kind.DATE),
        ("location", "Place", Kind.TEXT),
        ("description", "Description", Kind.TEXT),
    ),
    DocumentType.CONTACTS: (
        ("name", "Name", Kind.TEXT),
        ("phone", "Phone", Kind.TEXT),
        ("email", "Email", Kind.TEXT),
        ("organisation", "Organisation", Kind.TEXT),
        ("birthday", "Birthday", Kind.DATE),
        ("note", "Note", Kind.TEXT),
    ),
}


def entry_tables(document: Document) -> Iterator[Table]:
    """Yield the table of a calendar's events, with a row for each time of an event that repeats, or of contacts."""
    if document.type not in _COLUMNS:
        return
    columns = tuple(Column(name, kind) for name, _, kind in _COLUMNS[document.type])
    most = MOST_CELLS // len(columns)
    if found := list(islice(_rows(document), most + 1)):
        rows = tuple(row for row, _ in found[:most])
        uncounted = frozenset(number for number, (_, is_counted) in enumerate(found[:most]) if not is_counted)
        origin = Origin.CALENDAR if document.type is DocumentType.CALENDAR else Origin.CONTACTS
        yield Table(origin, document.title, columns, rows, is_cut=len(found) > most, uncounted=uncounted)


def _rows(document: Document) -> Iterator[tuple[Row, bool]]:
    """Yield a row for each time of each entry, and whether the row determines when it takes place."""
    now, steps = datetime.now(), _MOST_STEPS
    columns = _COLUMNS[document.type]
    for part in document.parts:
        found = _labelled(document.content[part.start : part.end])
        if columns[0][1] not in found:
            continue
        values = tuple(_value(found.get(label, ""), kind) for _, label, kind in columns)
        repeats, start = found.get("Repeats", ""), values[1].time
        times = times_of(repeats, start, now, steps) if repeats and start else None
        steps -= times.steps if times else 0
        is_counted = found.get("Status") != "cancelled" and not (repeats and times is None)
        days = times.days if times else [start]
        also = (_value(day, Kind.DATE).time for day in found.get("Also on", "").split(", ") if start)
        for number, day in enumerate([*days, *filter(None, also)]):
            # The last time of an event without an end stands for all later ones.
            is_last = times and not times.is_all and number == len(days) - 1
            yield Row(part.start, part.end, _at(values, day) if day else values), is_counted and not is_last


def _at(values: tuple[Value, ...], time: datetime) -> tuple[Value, ...]:
    """Return the values of an event at one of its times."""
    summary, start, end, *others = values
    later = time - (start.time or time)
    try:
        return (summary, _after(start, later), _after(end, later), *others)
    except OverflowError:
        return values


def _after(value: Value, later: timedelta) -> Value:
    form = "%Y-%m-%d" if value.is_day else "%Y-%m-%d %H:%M"
    return _value(f"{value.time + later:{form}}", Kind.DATE) if value.time else value


def _labelled(text: str) -> dict[str, str]:
    """Return the values of an entry by their labels; a description continues to the entry's end."""
    lines = text.split("\n")
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        label, _, value = line.partition(": ")
        if label in ("Description", "Note"):
            found[label] = "\n".join([value, *lines[number + 1 :]])
            break
        found.setdefault(label, value)
    return found


def _value(text: str, kind: Kind) -> Value:
    # "2024-03-05 10:15 UTC" is a time as well.
    stamp = _STAMP.fullmatch(text) if kind is Kind.DATE else None
    if stamp is None:
        return Value(text) if text else _BLANK
    year, month, day, hour, minute = (int(number or 0) for number in stamp.groups())
    try:
        time = datetime(year, month, day, hour, minute)
    except ValueError:
        return Value(text)
    return Value(f"{time:%Y-%m-%d %H:%M}" if stamp[4] else f"{time:%Y-%m-%d}", time=time, is_day=stamp[4] is None)


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
    time = Value(f"{part.time:%Y-%m-%d %H:%M}", time=part.time) if part.time else _BLANK
    text, attachment = _message(content, part)
    said = (content[each.body or each.start : each.end] for each in heard)
    text = "\n".join(filter(None, (text, *said)))
    end = heard[-1].end if heard else part.end
    return Row(part.start, end, (sender, time, Value(text), Value(attachment) if attachment else _BLANK))


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
