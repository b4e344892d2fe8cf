"""Reads exports of WhatsApp chats: Android and iPhone, every language and date format.

An export has no grammar that its authors promise: the phone's language decides how dates, notices and placeholders
look. `whatsapp_headers` finds where messages begin, `whatsapp_bodies` tells what they are; this module puts them
together and finds out who wrote them. Times are naive: an export doesn't know its time zone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain, islice

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import EmptySource
from answerable.sources.whatsapp import wordings
from answerable.sources.whatsapp.bodies import EDGES, Body, MessageKind, cleaned, is_encryption_notice, read_body
from answerable.sources.whatsapp.dates import DateOrder
from answerable.sources.whatsapp.headers import Enclosure, Headers, find_headers
from answerable.sources.whatsapp.wordings import without_marks

__all__ = ["DateOrder", "Message", "MessageKind", "is_chat", "parse_chat", "read_chat"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message or notice. `content[start:end]` is all of it, `content[body:end]` its text as it was exported.

    `line` counts from 1. `sender` is None for notices. `text` has no edit mark and no marks of direction that the
    app put in. `attachment` is the name of the attached file.
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


_LONGEST_SENDER = 160
_AFTER_COLON = frozenset(" \t\r\n\u00a0\u202f\u2009\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\u061c")
_CLOSING_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "”": "”"}

# So many messages under "Work: Ana" and never one under "Work" alone: the colon belongs to the name.
_REPEATED = 3


def parse_chat(content: str, date_order: DateOrder | None = None) -> list[Message]:
    """The messages and notices of an export, in its order; none if it isn't one.

    `date_order` overrules what the file says about the order of day and month.
    """
    headers = find_headers(content, date_order)
    if not headers.starts:
        return []
    return list(_messages(content, headers, _Senders(content, headers)))


def _messages(content: str, headers: Headers, senders: _Senders) -> Iterator[Message]:
    line, counted = 1, 0
    days: dict[int, date] = {}
    is_iphone = [layout.enclosure is not Enclosure.DASH for layout in headers.known_layouts]
    followings = chain(islice(headers.starts, 1, None), [len(content)])
    for start, header_end, following, day_number, seconds, layout in zip(
        headers.starts, headers.ends, followings, headers.days, headers.seconds, headers.layouts, strict=True
    ):
        line += content.count("\n", counted, start)
        counted = start
        sender, raw_start = senders.split(header_end)
        end = _end(content, raw_start, following)
        raw = content[raw_start:end]
        body = raw_start if raw.isascii() else raw_start + len(raw) - len(raw.lstrip(EDGES))
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


def _end(content: str, start: int, following: int) -> int:
    """Where the text ends that runs up to the following message: the blank lines at its end aren't part of it."""
    end = following
    while end > start and content[end - 1].isspace():
        end -= 1
    line_end = content.find("\n", end, following)
    if line_end < 0:
        return following
    return line_end - 1 if line_end > start and content[line_end - 1] == "\r" else line_end


class _Senders:
    """Tells the sender from the text of a message, for which all messages of the file are looked at first."""

    def __init__(self, content: str, headers: Headers) -> None:
        self._content = content
        self._counts: Counter[str] = Counter()
        self._longer: dict[str, Counter[str]] = {}
        self._names: dict[str, str | None] = {}
        for start in headers.ends:
            self._count(start)
        self._with_colon = {name for name in self._longer if self._always_goes_on(name)}

    def split(self, start: int) -> tuple[str | None, int]:
        """The sender, None for a notice, and where the text begins that follows a header which ends at `start`."""
        content = self._content
        line_end = self._line_end(start)
        colon = self._colon(start, line_end)
        if colon >= 0 and content[start:colon] in self._with_colon:
            colon = self._colon(colon + 1, line_end)
        if colon < 0:
            # "Ana:hello", typed by hand, if Ana is a sender elsewhere.
            colon = content.find(":", start, line_end)
            if colon < 0 or content[start:colon] not in self._counts:
                return None, start
        name = self._name(content[start:colon])
        if name is None:
            return None, start
        has_blank = colon + 1 < line_end and content[colon + 1] in " \t\u00a0\u202f"
        return name, colon + 1 + has_blank

    def _line_end(self, start: int) -> int:
        line_end = self._content.find("\n", start)
        return line_end if line_end >= 0 else len(self._content)

    def _colon(self, start: int, line_end: int) -> int:
        """The first colon that may end a name, -1 if there is none."""
        content = self._content
        limit = min(line_end, start + _LONGEST_SENDER)
        colon = content.find(":", start, limit)
        while colon >= 0:
            if colon + 1 == line_end or content[colon + 1] in _AFTER_COLON:
                return colon
            colon = content.find(":", colon + 1, limit)
        return -1

    def _count(self, start: int) -> None:
        line_end = self._line_end(start)
        colon = self._colon(start, line_end)
        if colon < 0:
            return
        name = self._content[start:colon]
        self._counts[name] += 1
        second = self._colon(colon + 1, min(line_end, colon + 80))
        if second >= 0:
            self._longer.setdefault(name, Counter())[self._content[start:second]] += 1

    def _always_goes_on(self, name: str) -> bool:
        """Whether each message of "Work" is one of "Work: Ana" or "Work: Ben", who appear again and again."""
        longer = self._longer[name]
        return self._counts[name] >= _REPEATED and longer.total() == self._counts[name] and min(longer.values()) > 1

    def _name(self, prefix: str) -> str | None:
        """The name as people read it, or None if it is the beginning of a notice with a colon in it."""
        if prefix not in self._names:
            is_notice = self._counts[prefix] < _REPEATED and _begins_notice(prefix)
            name = " ".join(without_marks(prefix).split())
            self._names[prefix] = None if is_notice or not name else name
        return self._names[prefix]


def _begins_notice(prefix: str) -> bool:
    text = without_marks(prefix)
    if _is_open_quotation(text) or wordings.NOTICE_WITH_QUOTE.search(text):
        return True
    return text.casefold().startswith(wordings.NOTICES_TO_READER) or (len(text) > 30 and is_encryption_notice(text))


def _is_open_quotation(text: str) -> bool:
    """Whether a quotation begins in the text and doesn't end there."""
    closing = ""
    for character in text:
        if closing:
            closing = "" if character == closing else closing
            continue
        closing = _CLOSING_QUOTES.get(character, "")
    return bool(closing)


_LINES_LOOKED_AT = 200
_CHARACTERS_LOOKED_AT = 100_000
_LONGEST_PREAMBLE = 20
_LOG_LEVEL = re.compile(
    r"(?:^|[\s.\[(])(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|ALERT|EMERGENCY)\)?$", re.I
)


def is_chat(content: str) -> bool:
    """Whether a text is an export of WhatsApp, as far as its first 200 lines tell."""
    beginning = _beginning(content)
    headers = find_headers(beginning)
    if not headers.starts:
        return False
    messages = parse_chat(beginning)
    senders = [message.sender for message in messages if message.sender is not None]
    if _looks_like_log(messages, senders, headers):
        return False
    preamble = sum(1 for line in beginning[: messages[0].start].splitlines() if line.strip(EDGES + " \t"))
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


def _looks_like_log(messages: list[Message], senders: list[str], headers: Headers) -> bool:
    """Whether programs write here: levels for senders, or no sender at all and nothing that WhatsApp says."""
    if not senders:
        return not any(
            is_encryption_notice(message.text) or wordings.NOTICE.search(message.text) for message in messages
        )
    if 2 * sum(1 for sender in senders if _LOG_LEVEL.search(sender)) > len(senders):
        return True
    layout = headers.known_layouts[headers.layouts[0]]
    # A blank alone sets dates off in logs, too, and these put the year first.
    return layout.enclosure is Enclosure.BLANK and (layout.year_at == 0 or 2 * len(senders) < len(messages))


def read_chat(content: str, source: str, date_order: DateOrder | None = None) -> Document:
    """The export as a document with a part for each message and notice.

    Raises EmptySource when there is no message in it.
    """
    messages = parse_chat(content, date_order)
    if not messages:
        raise EmptySource(
            f"{source or 'the text'} holds no WhatsApp message: export the chat again, or read it as plain text"
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
    participants = sorted({message.sender for message in messages if message.sender is not None})
    return Document(
        id=document_id(source, content),
        content=content,
        source=source,
        title=chat_title(source),
        type=DocumentType.CHAT,
        metadata={
            "participants": participants,
            "messages": len(messages),
            "first_day": min(message.time for message in messages).date().isoformat(),
            "last_day": max(message.time for message in messages).date().isoformat(),
        },
        parts=parts,
    )


def _own_text(content: str, message: Message) -> int:
    """Where the sender's own words begin: behind "<Media omitted>"; nothing of a deleted message is theirs."""
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
    """The name of the group or contact from the name that WhatsApp gave the file, else the file's name."""
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
