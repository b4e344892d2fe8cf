"""Read exports of WhatsApp chats from Android and iPhone in any language and date format.

The format is undocumented, and the phone's language determines dates, notices and placeholders. `headers` finds where
messages begin, `senders` who wrote them, `bodies` what kind they are. Times are naive: exports have no time zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain, islice

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import EmptySource
from answerable.sources.whatsapp.dates import DateOrder
from answerable.sources.whatsapp.headers import Enclosure, Headers, find_headers
from answerable.sources.whatsapp.senders import Senders
from answerable.text.whatsapp import wordings
from answerable.text.whatsapp.bodies import Body, MessageKind, cleaned, is_encryption_notice, read_body
from answerable.text.whatsapp.wordings import MARKS

__all__ = ["DateOrder", "Message", "MessageKind", "is_chat", "parse_chat", "read_chat"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message or notice. `content[start:end]` is all of it, `content[body:end]` its exported text.

    `line` counts from 1. `sender` is None for notices. `text` is without the edit mark and the app's direction marks.
    `attachment` is the name of the attached file.
    """

    start: int
    end: int
    line: int
    body: int
    time: datetime
    sender: str | None
    text: str
    kind: MessageKind
    attachment: str | None
    edited: bool


def parse_chat(content: str, date_order: DateOrder | None = None) -> list[Message]:
    """Return the messages and notices of an export, in its order; empty if the text isn't one.

    `date_order` overrides the order of day and month found in the file.
    """
    return list(_messages(content, find_headers(content, date_order)))


def _messages(content: str, headers: Headers) -> Iterator[Message]:
    senders = Senders(content, headers.ends)
    line, counted = 1, 0
    days: dict[int, date] = {}
    is_iphone = [layout.enclosure is not Enclosure.DASH for layout in headers.known_layouts]
    nexts = chain(islice(headers.starts, 1, None), [len(content)])
    for (start, header_end, day_number, seconds, layout), next_start in zip(headers.rows(), nexts, strict=False):
        line += content.count("\n", counted, start)
        counted = start
        sender, raw_start = senders.split(header_end)
        end = _end(content, raw_start, next_start)
        raw = content[raw_start:end]
        body = raw_start if raw.isascii() else raw_start + len(raw) - len(raw.lstrip(MARKS))
        if sender is None:
            read = Body(MessageKind.SYSTEM, cleaned(raw))
        else:
            read = read_body(raw, sender, is_iphone[layout])
            if read.kind is MessageKind.SYSTEM:
                sender = None
        if day_number not in days:
            days[day_number] = date.fromordinal(day_number)
        day = days[day_number]
        time = datetime(day.year, day.month, day.day, seconds // 3600, seconds // 60 % 60, seconds % 60)
        yield Message(start, end, line, body, time, sender, read.text, read.kind, read.attachment, read.edited)


def _end(content: str, start: int, next_start: int) -> int:
    """Return where the text before the next message ends, without blank lines at its end."""
    end = next_start
    while end > start and content[end - 1].isspace():
        end -= 1
    line_end = content.find("\n", end, next_start)
    if line_end < 0:
        return next_start
    return line_end - 1 if line_end > start and content[line_end - 1] == "\r" else line_end


_LINES_LOOKED_AT = 200
_CHARACTERS_LOOKED_AT = 100_000
_LONGEST_PREAMBLE = 20
_LOG_LEVEL = re.compile(
    r"(?:^|[\s.\[(])(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|ALERT|EMERGENCY)\)?$", re.I
)


def is_chat(content: str) -> bool:
    """Whether a text is an export of WhatsApp, judging by its first 200 lines."""
    beginning = _beginning(content)
    headers = find_headers(beginning)
    messages = list(_messages(beginning, headers))
    if not messages or _looks_like_log(messages, headers):
        return False
    preamble = sum(1 for line in beginning[: messages[0].start].splitlines() if line.strip(MARKS + " \t"))
    if preamble == 0:
        return True
    lines = sum(1 for line in beginning[messages[0].start :].splitlines() if line.strip())
    share = len(messages) / lines
    return (preamble <= 3 and share >= 0.5) or (preamble <= _LONGEST_PREAMBLE and len(messages) >= 3 and share >= 0.3)


def _beginning(content: str) -> str:
    end = -1
    for _ in range(_LINES_LOOKED_AT):
        end = content.find("\n", end + 1, _CHARACTERS_LOOKED_AT)
        if end < 0:
            return content[:_CHARACTERS_LOOKED_AT]
    return content[:end]


def _looks_like_log(messages: list[Message], headers: Headers) -> bool:
    """Whether this is a program's log: log levels as senders, or no senders and no notice of WhatsApp."""
    senders = [message.sender for message in messages if message.sender is not None]
    if not senders:
        return not any(
            is_encryption_notice(message.text) or wordings.NOTICE.search(message.text) for message in messages
        )
    if 2 * sum(1 for sender in senders if _LOG_LEVEL.search(sender)) > len(senders):
        return True
    layout = headers.known_layouts[headers.layouts[0]]
    # Logs too have only a blank after the date, and they put the year first.
    return layout.enclosure is Enclosure.BLANK and (layout.year_at == 0 or 2 * len(senders) < len(messages))


def read_chat(content: str, source: str, date_order: DateOrder | None = None) -> Document:
    """Return the export as a document with a part for each message and notice.

    Raises EmptySource if it has no message.
    """
    messages = parse_chat(content, date_order)
    if not messages:
        raise EmptySource(
            f"{source or 'the text'} contains no WhatsApp message: export the chat again, or read it as plain text"
        )
    parts = tuple(
        Part(
            start=message.start,
            end=message.end,
            kind=PartKind.NOTICE if message.sender is None else PartKind.MESSAGE,
            time=message.time,
            sender=message.sender,
            body=_own_text(content, message),
        )
        for message in messages
    )
    days = [message.time.date() for message in messages]
    return Document(
        id=document_id(source, content),
        content=content,
        source=source,
        title=chat_title(source),
        type=DocumentType.CHAT,
        metadata={
            "participants": sorted({message.sender for message in messages if message.sender is not None}),
            "messages": len(messages),
            "first_day": min(days).isoformat(),
            "last_day": max(days).isoformat(),
        },
        parts=parts,
    )


def _own_text(content: str, message: Message) -> int:
    """Return where the sender's own words begin: after "<Media omitted>"; a deleted message has none."""
    if message.kind is MessageKind.DELETED:
        return message.end
    if message.kind is MessageKind.MEDIA and message.attachment is None:
        return content.find("\n", message.body, message.end) + 1 or message.end
    return message.body


_ARCHIVE_MEMBER = "!/"
_TITLE = re.compile(
    r"^.{0,24}?(?:WhatsApp|واتساب|व्हाट्सएप)\b.{0,24}?"
    r"(?:\s[-–—]\s|:\s|\s(?:with|con|com|mit|avec|met|med|с|з|z|s|cu|amb|dengan|với|kanssa|με|עם|مع)\s)"
    r"(?P<name>.+)$",
    re.IGNORECASE,
)
_TITLE_FIRST = re.compile(r"^(?P<name>.+?)(?: ile| के साथ|との|님과의|님과)? ?WhatsApp .{2,30}$", re.IGNORECASE)
_COPY_NUMBER = re.compile(r"\s*\(\d{1,3}\)$")


def chat_title(source: str) -> str:
    """Return the group or contact named in the file name that WhatsApp chose, otherwise the file name."""
    path, _, member = source.rpartition(_ARCHIVE_MEMBER)
    stem = _stem(member)
    if path and stem.casefold() in {"_chat", "chat"}:
        stem = _stem(path)
    name = stem if " " in stem else stem.replace("_", " ").strip() or stem
    match = _TITLE.match(name) or _TITLE_FIRST.match(name)
    return _COPY_NUMBER.sub("", match["name"]).strip() if match else stem


def _stem(path: str) -> str:
    name = re.split(r"[/\\]", path)[-1]
    return re.sub(r"\.(?:txt|zip)$", "", name, flags=re.IGNORECASE)
