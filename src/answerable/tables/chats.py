"""A chat as a table: who wrote what, when, and what was attached."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from answerable.datatypes import Document, Part, PartKind
from answerable.tables.grid import MOST_CELLS
from answerable.tables.table import Column, Kind, Origin, Row, Table, Value
from answerable.tables.words import meanings
from answerable.text.locate import is_heard
from answerable.text.whatsapp.bodies import Body, MessageKind, cleaned, read_body
from answerable.text.whatsapp.wordings import plain

COLUMNS = (
    Column("sender", Kind.TEXT),
    Column("time", Kind.DATE),
    Column("text", Kind.TEXT),
    Column("attachment", Kind.TEXT),
)
_LONGEST_HEADER = 6_000
# How the reader of other apps' chats names files, several in one message.
_ATTACHED = " (file attached)"
_UNKNOWN = "media"
_NONE = Value("")


def chat_table(document: Document) -> Table | None:
    """Return the messages of a chat, without the messenger's notices; None if there are none."""
    messages: list[list[Part]] = []
    for part in document.parts:
        if is_heard(part) and messages:
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
    """Return the row of a message and of what is said in its voice note."""
    name = part.sender or ""
    sender = senders.setdefault(name, Value(name))
    time = Value(f"{part.time:%Y-%m-%d %H:%M}", time=part.time) if part.time else _NONE
    text, attachment = _message(content, part)
    said = (content[each.body or each.start : each.end] for each in heard)
    text = "\n".join(filter(None, (text, *said)))
    end = heard[-1].end if heard else part.end
    return Row(part.start, end, (sender, time, Value(text), Value(attachment) if attachment else _NONE))


def _message(content: str, part: Part) -> tuple[str, str]:
    """Return a message's own words, and the kind of its attachment or ""."""
    begin = part.start if part.body is None else part.body
    own = content[begin : part.end]
    # A placeholder stands on the line above the sender's own words.
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
    # The last: a note before the sender may name the same person.
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
