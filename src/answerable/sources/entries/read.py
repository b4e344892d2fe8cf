"""A calendar or contacts → Document: an entry after the other as people read them, with the lines where they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.sources.entries.lines import Entry, Property, entries
from answerable.sources.entries.times import birthday, end_of, read_moment, recurrence
from answerable.sources.text import read_text, stem

Labelled = Iterator[tuple[str, str]]

_MOST_PEOPLE = 50
_TITLES = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Note"}
_NAME = re.compile(r"^X-WR-CALNAME[^:\n]*:[ \t]*(.+)", re.MULTILINE)
_PHONES = frozenset({"cell", "home", "work", "fax", "main", "other", "mobile", "pager"})


def read_calendar(content: str, source: str) -> Document:
    """Return the events, tasks and notes of a calendar; a text without any as text. Raise EmptySource."""
    name = _NAME.search(content)
    title = " ".join(name[1].split()) if name else ""
    return _document(content, source, DocumentType.CALENDAR, frozenset(_TITLES), _of_event, title)


def read_contacts(content: str, source: str) -> Document:
    """Return the contacts of an address book; a text without any as text. Raise EmptySource."""
    return _document(content, source, DocumentType.CONTACTS, frozenset({"VCARD"}), _of_contact)


def _document(
    content: str,
    source: str,
    kind: DocumentType,
    words: frozenset[str],
    describe: Callable[[Entry], Labelled],
    title: str = "",
) -> Document:
    parts: list[Part] = []
    pieces: list[str] = []
    reached = 0
    for entry in entries(content, words):
        lines = [f"{label}: {value.strip()}" for label, value in describe(entry) if value.strip()]
        if not lines:
            continue
        text = "\n".join(lines)
        # As in links to lines of code, which is read in every language.
        place = f"L{entry.first}" if entry.first == entry.last else f"L{entry.first}-L{entry.last}"
        parts.append(Part(reached, reached + len(text), PartKind.RECORD, time=_time(entry), place=place))
        pieces.append(text)
        reached += len(text) + 2
    if not parts:
        return read_text(content, source)
    rendered = "\n\n".join(pieces)
    return Document(document_id(source, rendered), rendered, source, title or stem(source), kind, parts=tuple(parts))


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
    yield "Repeats", recurrence(entry.text("RRULE"), entry.all("EXDATE"))
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
    """Return a text on lines of its own, without blank ones, which would part it from its entry."""
    return "\n".join(line for each in text.split("\n") if (line := each.strip()))
