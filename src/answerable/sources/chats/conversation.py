"""A conversation of any app → Document: each message is a part, written as time, notes, sender and text.

    [2024-03-05 21:15, in reply to Ben: “see you at eight”, 👍 Cara] Ana: I'll bring the drill.

Notes come before the sender, so that only the sender's own words are quoted. The content is made from the export and
isn't the file's text, so its lines aren't cited. These chats have `metadata["app"]`; chats of WhatsApp don't.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import accumulate
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any

from answerable.datatypes import Document, DocumentType, PartKind
from answerable.sources.exported import member_name, one_line, plain_text, words
from answerable.sources.text import PartedText, make_document, stem
from answerable.sources.whatsapp.read import chat_metadata
from answerable.tables.values import DayOrder, decide_order, read_date

LOCAL = "local time of the export"
UTC = "UTC"
_LONGEST_SENDER = 160  # characters, as in a chat of WhatsApp
_LONGEST_NOTE = 200  # characters
_LONGEST_TITLE = 200  # characters
_BARE_NAMES = frozenset({"chat", "index", "data", "messages"})


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message, or a notice if `sender` is None.

    `time` is naive, in the conversation's time zone. `files` are names of attached files, `media` the kinds of
    attachments without a name. `notes` are what the app shows next to the text: replies, edits, reactions. `anchor` is
    the message's anchor on the page of an HTML export.
    """

    time: datetime | None
    sender: str | None
    text: str
    files: Sequence[str] = ()
    media: Sequence[str] = ()
    notes: Sequence[str] = ()
    anchor: str | None = None
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one conversation, in order; `title` is "" if the export doesn't name it."""

    app: str
    title: str
    messages: Sequence[ChatMessage]
    time_zone: str = UTC


def documents_of(found: Conversation | list[Conversation] | None, source: str) -> list[Document]:
    """Return a document for each conversation that has a message.

    The document of a single conversation has the file's source; each of a list is named as a member of the file.
    """
    if isinstance(found, Conversation):
        return [_document(found, source)] if _has_message(found) else []
    used: Counter[str] = Counter()
    return [_document(each, member_name(source, each.title, used)) for each in found or () if _has_message(each)]


def _has_message(conversation: Conversation) -> bool:
    return any(each.sender is not None for each in conversation.messages)


def _document(conversation: Conversation, source: str) -> Document:
    """Return a conversation as a document with a part for each message and notice."""
    written = PartedText()
    for message in conversation.messages:
        head, placeholders, body = _pieces(message)
        written.write("\n" if written.parts else "")
        own = written.length + len(head + placeholders + (body if message.is_deleted else ""))
        kind = PartKind.MESSAGE if message.sender is not None else PartKind.NOTICE
        sender = one_line(message.sender, _LONGEST_SENDER) if message.sender is not None else None
        line = head + placeholders + body
        written.part(line, kind, anchor=message.anchor, time=message.time, sender=sender, body=own)
    title = one_line(conversation.title, _LONGEST_TITLE) or _title(source)
    metadata = {"app": conversation.app, "time_zone": conversation.time_zone, **chat_metadata(written.parts)}
    return make_document(source, written.content, DocumentType.CHAT, written.parts, title, metadata)


def _title(source: str) -> str:
    """Return the file's name, or the folder's name for a file that every export names alike, such as `chat`."""
    path = PurePosixPath(source.replace("\\", "/").replace("!/", "/"))
    return path.parent.name if path.stem.lower() in _BARE_NAMES and path.parent.name else stem(source)


def _pieces(message: ChatMessage) -> tuple[str, str, str]:
    """Return a message's header, placeholders for media without a name, and text with the names of attached files."""
    stamp = [f"{message.time:%Y-%m-%d %H:%M}"] if message.time else []
    notes = [one_line(note, _LONGEST_NOTE) for note in message.notes[:20]]
    inside = ", ".join(filter(None, stamp + notes))
    head = f"[{inside}] " if inside else ""
    if message.sender is not None:
        head += f"{one_line(message.sender, _LONGEST_SENDER)}: "
    if message.is_deleted:
        return head, "", "This message was deleted"
    files = [f"{one_line(name, _LONGEST_NOTE)} (file attached)" for name in message.files if name.strip()]
    text = plain_text(message.text)
    body = "\n".join(filter(None, [*files, text]))
    placeholders = "".join(f"<{kind} omitted>\n" for kind in message.media)
    return head, placeholders if body else placeholders.rstrip("\n"), body


def reply_note(sender: str, text: str) -> str:
    """Return the note of a reply: `in reply to Ben: “see you at eight”`."""
    quote = one_line(text, 80)
    name = one_line(sender, _LONGEST_SENDER)
    if not name:
        return f"in reply to “{quote}”" if quote else "in reply to an earlier message"
    return f"in reply to {name}: “{quote}”" if quote else f"in reply to {name}"


def in_order(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return messages sorted by time; a message without a time stays behind the message before it."""
    listed = list(messages)
    times = list(accumulate((each.time for each in listed), lambda last, time: time or last, initial=datetime.min))
    return [message for _, message in sorted(zip(times[1:], listed, strict=True), key=itemgetter(0))]


def zone_name(offsets: set[timedelta | None]) -> str:
    """Return the name of the time zone that all times of an export share."""
    if len(offsets) != 1:
        return "as written, with several offsets from UTC" if offsets - {None} else LOCAL
    (offset,) = offsets
    return LOCAL if offset is None else "UTC" if not offset else str(timezone(offset))


def file_name(path: Any) -> str:
    """Return the name at the end of a path or address."""
    return words(path).split("?", 1)[0].replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def counted(names: list[str], count: Any) -> str:
    """Return the names of who reacted, or else how many reacted; skip blank names."""
    names = list(filter(None, names))
    if names:
        more = count - len(names) if isinstance(count, int) and count > len(names) else 0
        return ", ".join(names[:5]) + (f" and {more + len(names[5:])} more" if more or names[5:] else "")
    return str(count) if isinstance(count, int) and not isinstance(count, bool) and count > 1 else ""


def read_stamps(stamps: Sequence[str]) -> list[datetime | None]:
    """Return the times of all timestamps of a file; None for a timestamp that can't be parsed."""
    order = decide_order(stamps, DayOrder.MONTH_FIRST)
    return [read_stamp(stamp, order) for stamp in stamps]


def read_stamp(stamp: str, order: DayOrder = DayOrder.MONTH_FIRST) -> datetime | None:
    """Return the time of a timestamp, which ends at a bracket, or None."""
    found = read_date(stamp.partition("(")[0].strip(), order)
    return found.time if found and not found.is_day else None


def messages_below(headers: re.Pattern[str], content: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each header with the text below it, up to the next header."""
    found = list(headers.finditer(content))
    ends = [*(header.start() for header in found[1:]), len(content)]
    for header, end in zip(found, ends, strict=False):
        yield header, content[header.end() : end]
