"""A conversation of any app → Document: every message as a line with time, notes, sender and text, and a part.

    [2024-03-05 21:15, in reply to Ben: “see you at eight”, 👍 Cara] Ana: I'll bring the drill.

Notes come before the sender, so that only the sender's own words are quoted. The content is made from the export and
isn't the file's text, so its lines aren't cited; such a chat has `metadata["app"]`, WhatsApp's has not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.sources.text import stem
from answerable.text.characters import encodable

LOCAL = "local time of the export"
UTC = "UTC"
_LONGEST_SENDER = 160
_LONGEST_NOTE = 200
_LONGEST_QUOTE = 80
_LONGEST_TITLE = 200
_MOST_NOTES = 20
_BARE_NAMES = frozenset({"chat", "index", "data", "messages"})
_DELETED = "This message was deleted"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message, or a notice if `sender` is None.

    `time` is naive, in the conversation's time zone. `files` are names of attached files, `media` kinds of those
    without a name. `notes` are what the app shows beside the text: replies, edits, reactions. `anchor` is its place on
    the page of an export in HTML.
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
    metadata: dict[str, str] = field(default_factory=dict)


def documents_of(conversations: Iterable[Conversation], source: str, is_one: bool) -> list[Document]:
    """Return a document for each conversation that has a message.

    If the file holds one conversation, its source is the file's; of several, each is named as a member of the file.
    """
    taken: Counter[str] = Counter()
    documents = []
    for conversation in conversations:
        if not any(each.sender is not None for each in conversation.messages):
            continue
        name = source if is_one else _member(source, conversation.title, taken)
        documents.append(document_of(conversation, name))
    return documents


def document_of(conversation: Conversation, source: str) -> Document:
    """Return a conversation as a document with a part for each message and notice."""
    lines: list[str] = []
    parts: list[Part] = []
    end = 0
    for message in conversation.messages:
        head, placeholders, body = _pieces(message)
        line = head + placeholders + body
        before = 1 if lines else 0
        start, end = end + before, end + before + len(line)
        lines.append(line)
        own = end if message.is_deleted else start + len(head) + len(placeholders)
        kind = PartKind.MESSAGE if message.sender is not None else PartKind.NOTICE
        sender = one_line(message.sender, _LONGEST_SENDER) if message.sender is not None else None
        parts.append(Part(start, end, kind, anchor=message.anchor, time=message.time, sender=sender, body=own))
    content = "\n".join(lines)
    title = one_line(conversation.title, _LONGEST_TITLE) or _title(source)
    metadata = {"app": conversation.app, "time_zone": conversation.time_zone, **conversation.metadata}
    return Document(
        document_id(source, content),
        content,
        source,
        title,
        DocumentType.CHAT,
        metadata={**metadata, **_counted(parts)},
        parts=tuple(parts),
    )


def _title(source: str) -> str:
    """Return the file's name; of a file that is called `chat` in every folder, the folder's."""
    path = PurePosixPath(source.replace("\\", "/").replace("!/", "/"))
    return path.parent.name if path.stem.lower() in _BARE_NAMES and path.parent.name else stem(source)


def _counted(parts: list[Part]) -> dict[str, object]:
    days = [part.time.date() for part in parts if part.time is not None]
    span = {"first_day": min(days).isoformat(), "last_day": max(days).isoformat()} if days else {}
    senders = sorted({part.sender for part in parts if part.sender is not None})
    return {"participants": senders, "messages": len(parts), **span}


def _pieces(message: ChatMessage) -> tuple[str, str, str]:
    """Return a message's header, placeholders of media without a name, and text with the names of attached files."""
    stamp = [f"{message.time:%Y-%m-%d %H:%M}"] if message.time else []
    notes = [one_line(note, _LONGEST_NOTE) for note in message.notes[:_MOST_NOTES]]
    inside = ", ".join(filter(None, stamp + notes))
    head = f"[{inside}] " if inside else ""
    if message.sender is not None:
        head += f"{one_line(message.sender, _LONGEST_SENDER)}: "
    if message.is_deleted:
        return head, "", _DELETED
    files = [f"{one_line(name, _LONGEST_NOTE)} (file attached)" for name in message.files if name.strip()]
    text = plain_text(message.text)
    body = "\n".join(filter(None, [*files, text]))
    placeholders = "".join(f"<{kind} omitted>\n" for kind in message.media)
    return head, placeholders if body else placeholders.rstrip("\n"), body


def plain_text(text: str) -> str:
    """Return a text without white space at its ends, lone surrogates, NULs and foreign line ends."""
    return encodable(text).replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").strip()


def one_line(text: str | None, longest: int) -> str:
    """Return a text in one line, cut at its last word."""
    line = " ".join(plain_text((text or "")[: 4 * longest]).split())
    return line if len(line) <= longest else f"{line[:longest].rsplit(' ', 1)[0]}…"


def reply_note(sender: str, text: str) -> str:
    """Return the note of a reply: `in reply to Ben: “see you at eight”`."""
    quote = one_line(text, _LONGEST_QUOTE)
    name = one_line(sender, _LONGEST_SENDER)
    if not name:
        return f"in reply to “{quote}”" if quote else "in reply to an earlier message"
    return f"in reply to {name}: “{quote}”" if quote else f"in reply to {name}"


def in_order(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return messages by time; one without a time stays behind the one before it."""

    def dated() -> Iterator[tuple[datetime, ChatMessage]]:
        last = datetime.min
        for message in messages:
            last = message.time or last
            yield last, message

    return [message for _, message in sorted(dated(), key=lambda pair: pair[0])]


def _member(source: str, title: str, taken: Counter[str]) -> str:
    name = one_line(title, _LONGEST_TITLE).replace("/", "-").replace("\\", "-") or "untitled"
    taken[name] += 1
    return f"{source}!/{name}" if taken[name] == 1 else f"{source}!/{name} ({taken[name]})"
