"""Tables that aren't written as tables: chats, calendars, contacts, front matter, lists of JSON objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from answerable.datatypes import Document, PartKind, Span
from answerable.tables.raw import RawTable
from answerable.tables.table import Column, Kind, Origin, Row, Table, Value

CHAT_COLUMNS = ("sender", "time", "text", "attachment")
LONGEST_JSON = 100_000
"""A longer record isn't a row."""

_ATTACHED = re.compile(
    r"\b[^\n<>:\"|?*/\\]{1,200}\.(?P<ending>jpe?g|png|webp|gif|heic|mp4|mov|3gp|opus|ogg|m4a|mp3|aac|wav|pdf|docx?|xlsx?|"
    r"pptx?|vcf|zip|txt|csv)\b",
    re.IGNORECASE,
)
_ENDINGS = {
    "image": "jpg jpeg png gif heic",
    "sticker": "webp",
    "video": "mp4 mov 3gp",
    "audio": "opus ogg m4a mp3 aac wav",
    "document": "pdf doc docx xls xlsx ppt pptx vcf zip txt csv",
}
_KINDS = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}
# Placeholders of the app: "image omitted", "imagen omitida", "imagem ocultada", "‎video omitted".
_OMITTED = {
    "image": re.compile(r"\b(?:image|photo|imagen|imagem|foto)\b", re.IGNORECASE),
    "video": re.compile(r"\bv[ií]deo\b", re.IGNORECASE),
    "audio": re.compile(r"\b(?:audio|áudio|voice|voz)\b", re.IGNORECASE),
    "sticker": re.compile(r"\b(?:sticker|figurinha)\b", re.IGNORECASE),
    "document": re.compile(r"\b(?:document|documento|file|archivo|arquivo)\b", re.IGNORECASE),
}


def chat_table(document: Document) -> Table:
    """Return the messages of a chat, without the messenger's notices."""
    rows = []
    for part in document.parts:
        if part.kind is not PartKind.MESSAGE or part.sender is None:
            continue
        body = part.end if part.body is None else part.body
        # Before the body stands the header; what else stands there is a placeholder for an attachment.
        head = document.content[part.start : body]
        text = document.content[body : part.end].strip()
        attachment = _attachment(head, text, part.sender)
        values = (Value(part.sender), Value(f"{part.time or ''}", time=part.time), Value(text), Value(attachment))
        rows.append(Row(part.start, part.end, values))
    kinds = (Kind.TEXT, Kind.DATE, Kind.TEXT, Kind.TEXT)
    columns = tuple(Column(name, kind) for name, kind in zip(CHAT_COLUMNS, kinds, strict=True))
    return Table(Origin.CHAT, document.title, columns, tuple(rows))


def _attachment(head: str, text: str, sender: str) -> str:
    """Return the kind of a message's attachment; "media" if the export doesn't tell, "" without one."""
    placeholder = head.partition(sender)[2].strip(" :\u200e\n\t\u202f\u00a0")
    first_line = text.partition("\n")[0][:300]
    if placeholder:
        found = next((kind for kind, words in _OMITTED.items() if words.search(placeholder)), "media")
        match = _ATTACHED.search(placeholder)
        return _KINDS[match["ending"].lower()] if match else found
    match = _ATTACHED.search(first_line) if ")" in first_line or ">" in first_line else None
    return _KINDS[match["ending"].lower()] if match else ""


_PROPERTY = re.compile(
    r"(?m)^(?:item\d+\.)?(?P<name>[A-Za-z-]{1,30})(?:;[^:\n]{0,300})?:(?P<value>[^\n]*(?:\n[ \t][^\n]*)*)"
)
_STAMP = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?Z?)?")
_EVENTS = {"SUMMARY": "event", "DTSTART": "start", "DTEND": "end", "LOCATION": "location", "DESCRIPTION": "description"}
_CARDS = {
    "FN": "name",
    "TEL": "phone",
    "EMAIL": "email",
    "ORG": "organisation",
    "TITLE": "title",
    "BDAY": "birthday",
    "ADR": "address",
    "NOTE": "note",
}


def calendar_table(document: Document) -> RawTable:
    """Return the events of an iCalendar file (RFC 5545)."""
    return _of_properties(document, "VEVENT", _EVENTS, Origin.CALENDAR)


def contacts_table(document: Document) -> RawTable:
    """Return the contacts of a vCard file (RFC 6350)."""
    return _of_properties(document, "VCARD", _CARDS, Origin.CONTACTS)


def _of_properties(document: Document, block: str, names: Mapping[str, str], origin: Origin) -> RawTable:
    rows = []
    for start, end in _blocks(document.content, f"BEGIN:{block}", f"END:{block}"):
        found: dict[str, list[str]] = {}
        for each in _PROPERTY.finditer(document.content, start, end):
            found.setdefault(each["name"].upper(), []).append(_unescaped(each["value"]))
        rows.append((start, end, [", ".join(found.get(name, ())) for name in names]))
    return RawTable(list(names.values()), rows, document.title, origin)


def _blocks(content: str, begin: str, end: str) -> Iterator[Span]:
    start = content.find(begin)
    while start >= 0 and (close := content.find(end, start)) >= 0:
        yield start, close + len(end)
        start = content.find(begin, close)


def _unescaped(value: str) -> str:
    plain = re.sub(r"\r?\n[ \t]", "", value).strip()
    if match := _STAMP.fullmatch(plain):
        year, month, day, hour, minute, _ = match.groups()
        return f"{year}-{month}-{day}" + (f" {hour}:{minute}" if hour else "")
    return re.sub(r"\\([,;\\])", r"\1", plain.replace("\\n", "\n").replace("\\N", "\n")).replace(";", " ").strip()


_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<body>(?:[^\n]*\n){1,200}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_KEY = re.compile(r"(?m)^(?P<key>[\w][\w -]{0,60}):[ \t]+(?P<value>\S[^\n]*)$")


def front_matter_table(document: Document) -> RawTable | None:
    """Return the front matter of a Markdown file as a table of one row; None without."""
    match = _FRONT_MATTER.match(document.content)
    pairs = [(each["key"], each["value"].strip(" \"'")) for each in _KEY.finditer(match["body"])] if match else []
    if match is None or not pairs:
        return None
    start, end = match.span("body")
    row = (start, start + len(match["body"].rstrip()), [value for _, value in pairs])
    return RawTable([key for key, _ in pairs], [row], document.title, Origin.FRONT_MATTER) if end > start else None


def json_table(document: Document) -> RawTable | None:
    """Return a document of JSON records as a table; an object within an object gives columns such as `address.city`."""
    names: dict[str, int] = {}
    rows: list[tuple[int, int, dict[str, str]]] = []
    for part in document.parts:
        if part.kind is not PartKind.RECORD or part.end - part.start > LONGEST_JSON:
            continue
        try:
            record = json.loads(document.content[part.start : part.end])
        except (ValueError, RecursionError):
            return None
        fields = dict(_fields(record))
        for name in fields:
            names.setdefault(name, len(names))
        rows.append((part.start, part.end, fields))
    if not rows:
        return None
    grid = [(start, end, [fields.get(name, "") for name in names]) for start, end, fields in rows]
    return RawTable(list(names), grid, document.title)


def _fields(record: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(record, list):
        record = {str(number): value for number, value in enumerate(record, 1)}
    for name, value in record.items():
        if isinstance(value, dict) and not prefix:
            yield from _fields(value, f"{name}.")
        else:
            yield f"{prefix}{name}", _shown(value)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
