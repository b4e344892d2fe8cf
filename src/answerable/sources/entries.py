"""A calendar (RFC 5545) or contacts (RFC 6350) → Document: readable entries, each with its lines in the file."""

from __future__ import annotations

import quopri
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone, tzinfo
from functools import partial
from io import StringIO
from itertools import islice
from zoneinfo import ZoneInfo

from answerable.datatypes import Document, DocumentType, PartKind
from answerable.sources.text import PartedText, make_document, read_text
from answerable.tables.recurrence import MONTHS, recurrence

Labelled = Iterator[tuple[str, str]]
Zones = Mapping[str, tzinfo]
_TIME_ZONE = re.compile(r"^(?=BEGIN:VTIMEZONE)", re.MULTILINE)
_NOT_YEARLY = re.compile(r"FREQ=(?!YEARLY)")
_MOST_ZONES = 20  # described by a calendar; a round number, not measured
_MOST_PEOPLE = 50  # participants of an event that are listed by name
_TITLES = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Note"}
_NAME = re.compile(r"^X-WR-CALNAME[^:\n]*:[ \t]*(.+)", re.MULTILINE)
_ZONE = re.compile(r"^X-WR-TIMEZONE[^:\n]*:[ \t]*([^\s;]+)", re.MULTILINE)
_UNTIL = re.compile(r"UNTIL=(\w+)", re.IGNORECASE)
_PHONES = frozenset({"cell", "home", "work", "fax", "main", "other", "mobile", "pager"})


def read_calendar(content: str, source: str) -> Document:
    """Return the events, tasks and notes of a calendar; a file without any as plain text. Raise EmptySource."""
    name = _NAME.search(content)
    title = " ".join(name[1].split()) if name else ""
    found = list(entries(content, frozenset(_TITLES)))
    moved: dict[str, list[Property]] = {}
    for each in found:
        moved.setdefault(each.text("UID"), []).extend(each.all("RECURRENCE-ID"))
    named = {each.zone("DTSTART") for each in found} - {""}
    zone = stated[1] if (stated := _ZONE.search(content)) else named.pop() if len(named) == 1 else ""
    zones = _zones(content)

    def begins(entry: Entry) -> Moment | None:
        return _in_zone(entry, "DTSTART" if entry.text("DTSTART") else "DUE", zone, zones)

    describe = partial(_of_event, moved=moved, own=zone, zones=zones)
    return _document(content, source, DocumentType.CALENDAR, found, describe, title, begins)


def _zones(content: str) -> Zones:
    """Return the time zones that a calendar describes itself, by name, as those of Windows in Outlook's exports."""
    from dateutil.tz import tzical  # type: ignore[import-untyped]

    found: dict[str, tzinfo] = {}
    for described in islice(_TIME_ZONE.split(content, _MOST_ZONES + 1), 1, _MOST_ZONES + 1):
        described, end, _ = described.partition("END:VTIMEZONE")
        # A zone's rules are yearly; others, such as of every second, would take for ever.
        if not _NOT_YEARLY.search(described):
            with suppress(ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
                read = tzical(StringIO(described + end))
                names = read.keys()
                found |= {name: read.get(name) for name in names}
    return found


def read_contacts(content: str, source: str) -> Document:
    """Return the contacts of an address book; a file without any as plain text. Raise EmptySource."""
    found = entries(content, frozenset({"VCARD"}))
    return _document(content, source, DocumentType.CONTACTS, found, _of_contact)


def _document(
    content: str,
    source: str,
    kind: DocumentType,
    found: Iterable[Entry],
    describe: Callable[[Entry], Labelled],
    title: str = "",
    begins: Callable[[Entry], Moment | None] = lambda entry: None,
) -> Document:
    written = PartedText()
    for entry in found:
        lines = [f"{label}: {value.strip()}" for label, value in describe(entry) if value.strip()]
        if not lines:
            continue
        # Written as in links to lines of code, which people understand in every language.
        place = f"L{entry.first}" if entry.first == entry.last else f"L{entry.first}-L{entry.last}"
        written.write("\n\n" if written.parts else "")
        moment = begins(entry)
        written.part("\n".join(lines), PartKind.RECORD, time=moment and moment.time, place=place)
    if not written.parts:
        return read_text(content, source)
    return make_document(source, written.content, kind, written.parts, title)


def _of_event(entry: Entry, moved: Mapping[str, Sequence[Property]], own: str, zones: Zones) -> Labelled:
    """Yield the labels and values of an event; times in another zone than the calendar's `own` name it.

    `moved` are the times of a series, by its id, that are events apart, `zones` those that the calendar describes.
    """
    start, end, due = (_in_zone(entry, name, own, zones) for name in ("DTSTART", "DTEND", "DUE"))
    end = end_of(start, end, entry.text("DURATION"))
    yield _TITLES[entry.word], _line(entry.text("SUMMARY"))
    for label, moment in (("Start", start), ("End", end), ("Due", due)):
        yield label, str(moment or "")
    zone = entry.zone("DTSTART") or ("" if entry.text("RRULE") else own)
    left_out = _moments([*entry.all("EXDATE"), *moved.get(entry.text("UID"), ())], zone, zones)
    until = _moments([Property(end[1], {}) for end in _UNTIL.finditer(entry.text("RRULE"))], zone, zones)
    weekday = start.time.weekday() if start else -1
    yield "Repeats", recurrence(entry.text("RRULE"), left_out, until[0][:10] if until else "", weekday)
    yield "Also on", ", ".join(each for each in _moments(entry.all("RDATE"), zone, zones) if each not in left_out)
    yield "Instead of", ", ".join(_moments(entry.all("RECURRENCE-ID"), zone, zones))
    yield "Place", _line(entry.text("LOCATION"))
    yield "Status", entry.text("STATUS").lower().replace("-", " ") if entry.text("STATUS") != "CONFIRMED" else ""
    yield "Organiser", ", ".join(map(_person, entry.all("ORGANIZER")[:1]))
    people = entry.all("ATTENDEE")
    more = [f"and {len(people) - _MOST_PEOPLE} others"] if len(people) > _MOST_PEOPLE else []
    yield "Participants", ", ".join([*map(_person, people[:_MOST_PEOPLE]), *more])
    yield "Categories", ", ".join(each.text for each in entry.all("CATEGORIES"))
    yield "Link", entry.text("URL")
    yield "Description", _paragraph(entry.text("DESCRIPTION"))


def _in_zone(entry: Entry, name: str, own: str, zones: Zones) -> Moment | None:
    """Return the moment of a property; one in UTC in the calendar's zone, which is named, as any zone but this one."""
    moment, zone = read_moment(entry.text(name)), entry.zone(name)
    if moment is None or moment.is_day:
        return moment
    # The rule of a series in UTC says its days in UTC.
    if not entry.text("RRULE") and (local := _local(moment, own, zones)) is not moment:
        return replace(local, zone=own)
    return replace(moment, zone=zone) if zone not in ("", own) and not moment.zone else moment


def _moments(found: Iterable[Property], zone: str, zones: Zones) -> list[str]:
    """Return the days and times in values, each once; those in UTC in the time zone in which a series begins."""
    values = (value.partition("/")[0] for each in found for value in each.value.split(","))
    return list(dict.fromkeys(str(_local(moment, zone, zones)) for value in values if (moment := read_moment(value))))


def _local(moment: Moment, zone: str, zones: Zones) -> Moment:
    if moment.zone == "UTC" and zone:
        # An impossible zone; near the years 1 and 9999 there is no local time.
        with suppress(KeyError, ValueError, OSError, OverflowError):
            there = zones.get(zone) or ZoneInfo(zone)
            local = moment.time.replace(tzinfo=timezone.utc).astimezone(there)
            return Moment(local.replace(tzinfo=None), is_day=False)
    return moment


def _person(found: Property) -> str:
    """Return the name of somebody invited, or the address, and whether that person declined."""
    address = re.sub(r"^mailto:", "", found.text, flags=re.IGNORECASE)
    name = _line(found.parameters.get("CN", "")) or address
    declined = found.parameters.get("PARTSTAT", "").upper() == "DECLINED"
    return f"{name} (declined)" if declined else name


def _of_contact(entry: Entry) -> Labelled:
    # Family name; given name; other names; titles before; titles after.
    family, given, *_ = [*entry.text("N").split(";"), "", ""]
    yield "Name", _line(entry.text("FN") or " ".join(filter(None, (given.strip(), family.strip()))))
    yield "Nickname", _line(entry.text("NICKNAME"))
    yield "Phone", ", ".join(dict.fromkeys(map(_phone, entry.all("TEL"))))
    yield "Email", ", ".join(dict.fromkeys(each.text.removeprefix("mailto:") for each in entry.all("EMAIL")))
    yield "Organisation", _components(entry.text("ORG"))
    yield "Role", ", ".join(filter(None, (entry.text("TITLE"), entry.text("ROLE"))))
    yield "Address", "; ".join(_components(each.text) for each in entry.all("ADR"))
    yield "Birthday", birthday(entry.text("BDAY"))
    yield "Link", ", ".join(each.text for each in entry.all("URL")[:5])
    yield "Categories", ", ".join(each.text for each in entry.all("CATEGORIES"))
    yield "Note", _paragraph(entry.text("NOTE"))


def _phone(found: Property) -> str:
    kinds = [kind for kind in found.parameters.get("TYPE", "").lower().split(",") if kind.strip('" ') in _PHONES]
    number = found.text.removeprefix("tel:")
    return f"{number} ({', '.join(kinds)})" if kinds else number


def _components(text: str) -> str:
    return ", ".join(filter(None, (_line(piece) for piece in text.split(";"))))


def _line(text: str) -> str:
    return " ".join(text.split())


def _paragraph(text: str) -> str:
    """Return text without blank lines, which would separate it from its entry."""
    return "\n".join(line for each in text.split("\n") if (line := each.strip()))


_ESCAPE = re.compile(r"\\([\\;,:nN])")


@dataclass(frozen=True, slots=True)
class Property:
    """A value as it is written, and its parameters by name in upper case."""

    value: str
    parameters: dict[str, str]

    @property
    def text(self) -> str:
        """The value as text."""
        return _ESCAPE.sub(lambda escape: "\n" if escape[1] in "nN" else escape[1], self.value).strip()


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

    def zone(self, name: str) -> str:
        """Return the time zone that a property names, or ""."""
        return next((each.parameters.get("TZID", "") for each in self.all(name)), "")

    def text(self, name: str) -> str:
        """Return the first value of a property as text, or ""."""
        return next((each.text for each in self.all(name)), "")


# What is before the first colon outside of quotes.
_HEAD = re.compile(r'([^":]*(?:"[^"]*"[^":]*)*):')


def entries(content: str, words: frozenset[str]) -> Iterator[Entry]:
    """Yield the entries between BEGIN and END of these words; an entry without END ends before the next entry."""
    current: Entry | None = None
    depth = 0
    for first, last, line in _unfolded(content):
        split = _HEAD.match(line)
        head, value = (split[1], line[split.end() :]) if split else (line, "")
        name, *parameters = head.split(";")
        # Remove the group before a property's name, as in "item1.TEL".
        name = name.rpartition(".")[2].strip().upper()
        word = value.strip().upper()
        if name == "BEGIN" and word in words:
            if current is not None:
                yield current
            current, depth = Entry(word, first, last), 0
        elif current is None or not split:
            continue
        elif name == "END" and word == current.word:
            current.last = last
            yield current
            current = None
        elif name in ("BEGIN", "END"):
            # An alarm inside the event: skip its properties.
            depth = max(depth + (1 if name == "BEGIN" else -1), 0)
        elif depth == 0:
            current.last = last
            values = current.properties.setdefault(name, [])
            if len(values) < 200:
                values.append(_property(value, parameters))
    if current is not None:
        yield current


def _property(value: str, parameters: list[str]) -> Property:
    named: dict[str, str] = {}
    for each in parameters:
        name, equals, setting = each.partition("=")
        # Before vCard 3.0, a type is written without "TYPE=": "TEL;HOME:".
        key, setting = (name.strip().upper(), setting) if equals else ("TYPE", name)
        named[key] = f"{named[key]},{setting}" if key in named else setting.strip('" ')
    if "QUOTED-PRINTABLE" in (*map(str.upper, named.values()),):
        value = quopri.decodestring(value.encode("utf-8", "replace")).decode("utf-8", "replace").replace("\r\n", "\n")
    return Property(value.replace("\0", ""), named)


def _unfolded(content: str) -> Iterator[tuple[int, int, str]]:
    """Yield each line, joined again if it was folded, after the numbers of its first and last line in the file."""
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


_STAMP = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):?(\d\d):?(\d\d)?(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
_DURATION = re.compile(r"([+-]?)P(?:(\d{1,5})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,5})M)?(?:(\d{1,6})S)?)?")


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, or a day and time as written: in the entry's local time, or in UTC."""

    time: datetime
    is_day: bool
    zone: str = ""

    def __str__(self) -> str:
        """Return the moment as `2024-03-05 10:15`, without the time if it is a day."""
        if self.is_day:
            return self.time.date().isoformat()
        return f"{self.time.isoformat(' ', 'minutes')}{f' {self.zone}' if self.zone else ''}"


def read_moment(value: str) -> Moment | None:
    """Return the moment of a DATE or DATE-TIME value, or None."""
    stamp = _STAMP.fullmatch(value.strip())
    if stamp is None:
        return None
    year, month, day, hour, minute, second = (int(number or 0) for number in stamp.groups()[:6])
    try:
        time = datetime(year, month, day, hour, minute, min(second, 59))
    except ValueError:
        return None
    return Moment(time, stamp[4] is None, {"Z": "UTC"}.get(stamp[7] or "", stamp[7] or "") if stamp[4] else "")


def end_of(start: Moment | None, end: Moment | None, duration: str) -> Moment | None:
    """Return the end of an event; for an event without times, its last day: the file has the day after it."""
    try:
        if end is None and start is not None and (length := _DURATION.fullmatch(duration.strip())):
            weeks, days, hours, minutes, seconds = (int(number or 0) for number in length.groups()[1:])
            lasts = timedelta(days=days, weeks=weeks, hours=hours, minutes=minutes, seconds=seconds)
            end = Moment(start.time + lasts, start.is_day, start.zone)
        if start and end and start.is_day and end.is_day:
            last = end.time - timedelta(days=1)
            return Moment(last, True) if last > start.time else None
    except OverflowError:
        return None
    return end


def birthday(value: str) -> str:
    """Return a birthday, which may have no year, as `1985-03-05` or `5 March`."""
    if moment := read_moment(value):
        return moment.time.date().isoformat()
    without_year = re.fullmatch(r"--(\d\d)-?(\d\d)", value.strip())
    if without_year and 1 <= int(without_year[1]) <= 12:
        return f"{int(without_year[2])} {MONTHS[int(without_year[1]) - 1]}"
    return value.strip()
