"""A calendar (RFC 5545) or contacts (RFC 6350) → Document: readable entries, each with its lines in the file."""

from __future__ import annotations

import quopri
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from answerable.datatypes import Document, DocumentType, PartKind
from answerable.sources.text import PartedText, make_document, read_text
from answerable.tables.entries import ESCAPE, split_line, unescaped

Labelled = Iterator[tuple[str, str]]
_MOST_PEOPLE = 50  # participants of an event that are listed by name
_TITLES = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Note"}
_NAME = re.compile(r"^X-WR-CALNAME[^:\n]*:[ \t]*(.+)", re.MULTILINE)
_PHONES = frozenset({"cell", "home", "work", "fax", "main", "other", "mobile", "pager"})


def read_calendar(content: str, source: str) -> Document:
    """Return the events, tasks and notes of a calendar; a file without any as plain text. Raise EmptySource."""
    name = _NAME.search(content)
    title = " ".join(name[1].split()) if name else ""
    return _document(content, source, DocumentType.CALENDAR, frozenset(_TITLES), _of_event, title)


def read_contacts(content: str, source: str) -> Document:
    """Return the contacts of an address book; a file without any as plain text. Raise EmptySource."""
    return _document(content, source, DocumentType.CONTACTS, frozenset({"VCARD"}), _of_contact)


def _document(
    content: str,
    source: str,
    kind: DocumentType,
    words: frozenset[str],
    describe: Callable[[Entry], Labelled],
    title: str = "",
) -> Document:
    written = PartedText()
    for entry in entries(content, words):
        lines = [f"{label}: {value.strip()}" for label, value in describe(entry) if value.strip()]
        if not lines:
            continue
        # Written as in links to lines of code, which people understand in every language.
        place = f"L{entry.first}" if entry.first == entry.last else f"L{entry.first}-L{entry.last}"
        written.write("\n\n" if written.parts else "")
        written.part("\n".join(lines), PartKind.RECORD, time=_time(entry), place=place)
    if not written.parts:
        return read_text(content, source)
    return make_document(source, written.content, kind, written.parts, title)


def _time(entry: Entry) -> datetime | None:
    found = entry.one("DTSTART") or entry.one("DUE")
    moment = read_moment(found.value) if found and entry.word != "VCARD" else None
    return moment.time if moment else None


def _of_event(entry: Entry) -> Labelled:
    start, end = (read_moment(entry.text(name)) for name in ("DTSTART", "DTEND"))
    end = end_of(start, end, entry.text("DURATION"))
    yield _TITLES[entry.word], _line(entry.text("SUMMARY"))
    for label, moment in (("Start", start), ("End", end), ("Due", read_moment(entry.text("DUE")))):
        yield label, str(moment or "")
    yield "Repeats", recurrence(entry.text("RRULE"), [each.value for each in entry.all("EXDATE")])
    yield (
        "Also on",
        ", ".join(str(read_moment(day) or day) for each in entry.all("RDATE") for day in each.text.split(",")),
    )
    yield "Place", _line(entry.text("LOCATION"))
    yield "Status", entry.text("STATUS").lower().replace("-", " ") if entry.text("STATUS") != "CONFIRMED" else ""
    yield "Organiser", ", ".join(map(_person, entry.all("ORGANIZER")[:1]))
    people = entry.all("ATTENDEE")
    more = [f"and {len(people) - _MOST_PEOPLE} others"] if len(people) > _MOST_PEOPLE else []
    yield "Participants", ", ".join([*map(_person, people[:_MOST_PEOPLE]), *more])
    yield "Categories", ", ".join(each.text for each in entry.all("CATEGORIES"))
    yield "Link", entry.text("URL")
    yield "Description", _paragraph(entry.text("DESCRIPTION"))


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


@dataclass(frozen=True, slots=True)
class Property:
    """A value as it is written, and its parameters by name in upper case."""

    value: str
    parameters: dict[str, str]

    @property
    def text(self) -> str:
        """The value as text."""
        return ESCAPE.sub(unescaped, self.value).strip()


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
    """Yield the entries between BEGIN and END of these words; an entry without END ends before the next entry."""
    current: Entry | None = None
    depth = 0
    for first, last, line in _unfolded(content):
        head, colon, value = split_line(line)
        name, *parameters = head.split(";")
        # Remove the group before a property's name, as in "item1.TEL".
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
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = {day[:2].upper(): day for day in "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()}
_UNITS = {f"{unit}ly".upper(): unit for unit in "second minute hour week month year".split()} | {"DAILY": "day"}
_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last", -2: "second to last"}
_DAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_MOST = 31  # days or dates that are listed for a repeated event


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


def recurrence(rule: str, left_out: list[str]) -> str:
    """Return a rule as `every 2 weeks on Monday and Friday, until 2024-12-31, 10 times, except 2024-05-01`."""
    parts = {}
    for piece in rule.upper().split(";"):
        name, _, value = piece.partition("=")
        parts[name.strip()] = value.strip()
    unit = _UNITS.get(parts.get("FREQ", ""))
    if unit is None:
        return ""
    interval = parts.get("INTERVAL", "1")[:6]
    text = f"every {unit}" if interval in ("1", "") else f"every {interval} {unit}s"
    text += _on(parts, unit)
    until = read_moment(parts.get("UNTIL", ""))
    ends = [f"until {until.time.date()}"] if until else []
    ends += [f"{parts['COUNT'][:6]} times"] if "COUNT" in parts else []
    days = [str(day) for each in left_out for value in each.split(",")[:_MOST] if (day := read_moment(value))]
    ends += [f"except {', '.join(days[:_MOST])}"] if days else []
    return ", ".join([text, *ends])


def _on(parts: Mapping[str, str], unit: str) -> str:
    position = _number(parts.get("BYSETPOS", ""))
    days = [_day(match, position) for match in _DAY.finditer(parts.get("BYDAY", "")[:200])]
    if parts.get("BYDAY") == "MO,TU,WE,TH,FR" and not position:
        days = ["weekdays"]
    numbers = [_ordinal_of_month(number) for number in parts.get("BYMONTHDAY", "").split(",")[:_MOST] if number]
    text = f" on {_joined(days)}" if days else f" on {_joined(numbers)}" if numbers else ""
    months = [
        _MONTHS[number - 1] for each in parts.get("BYMONTH", "").split(",")[:12] if 1 <= (number := _number(each)) <= 12
    ]
    return text + (f" in {_joined(months)}" if months else "")


def _day(match: re.Match[str], position: int) -> str:
    place = int(match[1]) if match[1] else position
    return f"the {_ORDINALS.get(place, f'{place}.')} {_DAYS[match[2]]}" if place else _DAYS[match[2]]


def _ordinal_of_month(number: str) -> str:
    return "the last day" if number.strip() == "-1" else f"day {number.strip()[:3]}"


def _number(text: str) -> int:
    text = text.strip().removeprefix("+")
    return int(text) if re.fullmatch(r"-?\d{1,4}", text) else 0


def _joined(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def birthday(value: str) -> str:
    """Return a birthday, which may have no year, as `1985-03-05` or `5 March`."""
    if moment := read_moment(value):
        return moment.time.date().isoformat()
    without_year = re.fullmatch(r"--(\d\d)-?(\d\d)", value.strip())
    if without_year and 1 <= int(without_year[1]) <= 12:
        return f"{int(without_year[2])} {_MONTHS[int(without_year[1]) - 1]}"
    return value.strip()
