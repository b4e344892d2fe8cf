"""imessage-exporter's plain text. Times are the exporter's local time.

The file has each reply twice: indented below the message that it answers, and at the time when it was sent.
"""

from __future__ import annotations

import re

from answerable.sources.chats.conversation import LOCAL, ChatMessage, Conversation, reply_note
from answerable.sources.chats.fields import file_name
from answerable.sources.chats.headers import messages_below
from answerable.sources.chats.stamps import named_moment

_STAMP = r"[A-Z][a-z]{2} \d{2}, \d{4} {1,2}\d{1,2}:\d{2}:\d{2} [AP]M"
_HEADER = re.compile(
    rf"^(?P<stamp>{_STAMP})(?: \((?:Read|Delivered) [^\n]{{1,80}}\))?(?:(?P<notice> \S[^\n]*)|\n(?P<sender>[^\n]+))$",
    re.MULTILINE,
)
_REPLY = re.compile(rf"^ {{4}}(?P<stamp>{_STAMP})[^\n]*\n {{4}}(?P<sender>[^\n]+)$", re.MULTILINE)
_REACTIONS = re.compile(r"^(?:Tapbacks|Reactions):\n(?P<lines>(?:[^\n]+(?:\n|\Z))*)", re.MULTILINE)
_FILE = re.compile(r"(?:/|~/|\./|attachments/)[^\n]{1,500}\.\w{1,8}")
_IS_REPLY = "This message responded to an earlier message."
_DELETED = "This message was deleted from the conversation!"


def is_imessage(content: str) -> bool:
    """Whether a text begins as an export."""
    return _HEADER.match(content.lstrip()[:1_000]) is not None


def read_imessage(content: str) -> Conversation:
    """Return the conversation of an export."""
    answered: dict[tuple[str, str], tuple[str, str]] = {}
    messages = [_message(header, raw, answered) for header, raw in messages_below(_HEADER, content.lstrip())]
    return Conversation("iMessage", "", messages, LOCAL)


def _message(header: re.Match[str], raw: str, answered: dict[tuple[str, str], tuple[str, str]]) -> ChatMessage:
    time, sender = named_moment(header["stamp"]), header["sender"]
    if sender is None:
        return ChatMessage(time, None, header["notice"].strip())
    sender = sender.strip()
    replies = list(_REPLY.finditer(raw))
    own = raw[: replies[0].start()] if replies else raw
    # Reactions may follow the replies.
    notes: list[str] = []
    for match in _REACTIONS.finditer(own):
        notes += [line.strip() for line in match["lines"].strip().split("\n") if line.strip()]
    lines = [line.strip() for line in _REACTIONS.sub("", own).strip().split("\n")]
    if _IS_REPLY in raw:
        notes.insert(0, reply_note(*answered.get((header["stamp"], sender), ("", ""))))
    lines = [line for line in lines if line != _IS_REPLY]
    if _DELETED in lines:
        lines.remove(_DELETED)
        notes.append("deleted")
    files = [file_name(line) for line in lines if _FILE.fullmatch(line)]
    text = "\n".join(line for line in lines if not _FILE.fullmatch(line))
    for reply in replies:
        answered[reply["stamp"], reply["sender"].strip()] = sender, text
    return ChatMessage(time, sender, text, files, notes=notes)
