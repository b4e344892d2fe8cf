"""Read exports of WhatsApp chats from Android and iPhone in any language and date format.

The format is undocumented, and the phone's language determines dates, notices and placeholders. `headers` finds where
messages begin, `Senders` who wrote them, `bodies` which kind they are. Times are naive: exports have no time zone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.errors import EmptySource
from answerable.sources.text import make_document
from answerable.sources.whatsapp.dates import DateOrder
from answerable.sources.whatsapp.headers import Enclosure, Header, find_headers
from answerable.text import whatsapp_words as wordings
from answerable.text.whatsapp_bodies import Body, MessageKind, cleaned, is_encryption_notice, read_body
from answerable.text.whatsapp_words import MARKS, without_marks

_LONGEST_SENDER = 160  # characters of a sender's name at most; longer than any contact's name
_AFTER_COLON = frozenset(" \t\r\n\u00a0\u202f\u2009\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\u061c")
_CLOSING_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "”": "”"}
# If at least 3 messages are by "Work: Ana" and none by "Work" alone, the colon belongs to the sender's name.
_REPEATED = 3
__all__ = ["DateOrder", "Message", "MessageKind", "is_chat", "parse_chat", "read_chat"]
_LINES_LOOKED_AT, _CHARACTERS_LOOKED_AT = 200, 100_000  # of the beginning, by which chats are recognised
_LONGEST_PREAMBLE = 20  # lines before the first message at most; a guess, not measured
_LOG_LEVEL = re.compile(
    r"(?:^|[\s.\[(])(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|ALERT|EMERGENCY)\)?$", re.I
)
_TITLE = re.compile(
    r"^.{0,24}?(?:WhatsApp|واتساب|व्हाट्सएप)\b.{0,24}?"
    r"(?:\s[-–—]\s|:\s|\s(?:with|con|com|mit|avec|met|med|с|з|z|s|cu|amb|dengan|với|kanssa|με|עם|مع)\s)"
    r"(?P<name>.+)$",
    re.IGNORECASE,
)
_TITLE_FIRST = re.compile(r"^(?P<name>.+?)(?: ile| के साथ|との|님과의|님과)? ?WhatsApp .{2,30}$", re.IGNORECASE)
_COPY_NUMBER = re.compile(r"\s*\(\d{1,3}\)$")


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
    """Return the messages and notices of an export, in its order; [] if the text isn't an export.

    `date_order` overrides the order of day and month that the file suggests.
    """
    return list(_messages(content, find_headers(content, date_order)))


def _messages(content: str, headers: list[Header]) -> Iterator[Message]:
    senders = Senders(content, (header.end for header in headers))
    line, counted = 1, 0
    nexts = [*(header.start for header in headers[1:]), len(content)]
    for (start, header_end, time, layout), next_start in zip(headers, nexts, strict=False):
        line += content.count("\n", counted, start)
        counted = start
        sender, raw_start = senders.split(header_end)
        end = _end(content, raw_start, next_start)
        raw = content[raw_start:end]
        body = raw_start if raw.isascii() else raw_start + len(raw) - len(raw.lstrip(MARKS))
        if sender is None:
            read = Body(MessageKind.SYSTEM, cleaned(raw))
        else:
            read = read_body(raw, sender, layout.enclosure is not Enclosure.DASH)
            if read.kind is MessageKind.SYSTEM:
                sender = None
        yield Message(start, end, line, body, time, sender, read.text, read.kind, read.attachment, read.edited)


def _end(content: str, start: int, next_start: int) -> int:
    """Return where the text before the next message ends, without the blank lines at its end."""
    end = next_start
    while end > start and content[end - 1].isspace():
        end -= 1
    line_end = content.find("\n", end, next_start)
    if line_end < 0:
        return next_start
    return line_end - 1 if line_end > start and content[line_end - 1] == "\r" else line_end


def is_chat(content: str) -> bool:
    """Whether a text is an export of WhatsApp, judging by its first 200 lines."""
    beginning = "\n".join(content[:_CHARACTERS_LOOKED_AT].split("\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT])
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


def _looks_like_log(messages: list[Message], headers: list[Header]) -> bool:
    """Whether this is a program's log: log levels in place of senders, or neither senders nor a notice of WhatsApp."""
    senders = [message.sender for message in messages if message.sender is not None]
    if not senders:
        return not any(
            is_encryption_notice(message.text) or wordings.NOTICE.search(message.text) for message in messages
        )
    if 2 * sum(1 for sender in senders if _LOG_LEVEL.search(sender)) > len(senders):
        return True
    layout = headers[0].layout
    # Logs, too, have only a blank after the date, and they put the year first.
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
    return make_document(source, content, DocumentType.CHAT, parts, chat_title(source), chat_metadata(parts))


def chat_metadata(parts: Sequence[Part]) -> dict[str, object]:
    """Return the participants, the number of messages and notices, and the first and the last day."""
    days = [part.time.date() for part in parts if part.time is not None]
    span = {"first_day": min(days).isoformat(), "last_day": max(days).isoformat()} if days else {}
    senders = sorted({part.sender for part in parts if part.sender is not None})
    return {"participants": senders, "messages": len(parts), **span}


def _own_text(content: str, message: Message) -> int:
    """Return where the sender's own words begin: after "<Media omitted>"; for a deleted message, at the end."""
    if message.kind is MessageKind.DELETED:
        return message.end
    if message.kind is MessageKind.MEDIA and message.attachment is None:
        return content.find("\n", message.body, message.end) + 1 or message.end
    return message.body


def chat_title(source: str) -> str:
    """Return the group or contact named in the file name that WhatsApp chose; for other file names, the file name."""
    path, _, member = source.rpartition("!/")
    stem = _stem(member)
    if path and stem.casefold() in {"_chat", "chat"}:
        stem = _stem(path)
    name = stem if " " in stem else stem.replace("_", " ").strip() or stem
    match = _TITLE.match(name) or _TITLE_FIRST.match(name)
    return _COPY_NUMBER.sub("", match["name"]).strip() if match else stem


def _stem(path: str) -> str:
    name = re.split(r"[/\\]", path)[-1]
    return re.sub(r"\.(?:txt|zip)$", "", name, flags=re.IGNORECASE)


class Senders:
    """Finds the senders in a file whose message headers end at the offsets `starts`."""

    def __init__(self, content: str, starts: Iterable[int]) -> None:
        self._content = content
        self._counts: Counter[str] = Counter()
        self._longer: dict[str, Counter[str]] = {}
        self._names: dict[str, str | None] = {}
        for start in starts:
            self._count(start)
        self._with_colon = {name for name in self._longer if self._always_continues(name)}

    def split(self, start: int) -> tuple[str | None, int]:
        """Return the sender (None for a notice) of the message at `start`, and where its text begins."""
        content = self._content
        line_end = self._line_end(start)
        colon = self._colon(start, line_end)
        if colon >= 0 and content[start:colon] in self._with_colon:
            colon = self._colon(colon + 1, line_end)
        if colon < 0:
            # "Ana:hello" may be typed by hand; it counts if Ana is a sender elsewhere.
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
        """Return the offset of the first colon that may end a sender's name, or -1."""
        limit = min(line_end, start + _LONGEST_SENDER)
        colon = self._content.find(":", start, limit)
        while colon >= 0 and colon + 1 != line_end and self._content[colon + 1] not in _AFTER_COLON:
            colon = self._content.find(":", colon + 1, limit)
        return colon

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

    def _always_continues(self, name: str) -> bool:
        """Whether a name ("Work") only begins longer names ("Work: Ana", "Work: Ben"), each with several messages."""
        longer = self._longer[name]
        return self._counts[name] >= _REPEATED and longer.total() == self._counts[name] and min(longer.values()) > 1

    def _name(self, prefix: str) -> str | None:
        """Return the sender's visible name, or None if the text is the beginning of a notice that contains a colon."""
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
    """Whether a quotation begins in the text without ending there."""
    closing = ""
    for character in text:
        if not closing:
            closing = _CLOSING_QUOTES.get(character, "")
        elif character == closing:
            closing = ""
    return bool(closing)
