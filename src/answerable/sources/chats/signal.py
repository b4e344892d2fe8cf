"""signal-export's Markdown (`chat.md`) and JSON lines (`data.json`). Times are the exporter's local time."""

from __future__ import annotations

import re
from typing import Any

from answerable.sources.chats.conversation import LOCAL, ChatMessage, Conversation, reply_note
from answerable.sources.chats.fields import first, moment, row, rows, texts, words
from answerable.sources.chats.headers import messages_below

_APP = "Signal"
_HEADER = re.compile(
    r"^\[(?P<stamp>\d{4}-\d\d-\d\d,? \d\d:\d\d(?::\d\d)?)\] (?P<sender>[^\n:]{1,160}):(?: |$)", re.MULTILINE
)
_REACTIONS = re.compile(r"\(- (?P<who>[^\n]{1,1000}) -\)\s{0,9}\Z")
_FILE = re.compile(r"!?\[(?P<name>[^\]\n]{0,300})\]\((?:\./)?media/(?P<path>[^)\n]{1,500})\)")
_LONGEST_REACTIONS = 1_100


def is_signal(content: str) -> bool:
    """Whether a Markdown text begins with a message."""
    return _HEADER.match(content.lstrip()[:500]) is not None


def read_signal(content: str) -> Conversation:
    """Return the conversation in a Markdown text."""
    messages = [_message(header, raw) for header, raw in messages_below(_HEADER, content.lstrip())]
    return Conversation(_APP, "", messages, LOCAL)


def _message(header: re.Match[str], raw: str) -> ChatMessage:
    time = moment(header["stamp"].replace(",", "").replace(" ", "T"))[0]
    notes: list[str] = []
    if reactions := _REACTIONS.search(raw, max(0, len(raw) - _LONGEST_REACTIONS)):
        raw = raw[: reactions.start()]
        notes.append(reactions["who"])
    lines = [line.rstrip() for line in raw.strip().split("\n")]
    quoted = 0
    while quoted < len(lines) and lines[quoted].startswith(">"):
        quoted += 1
    if quoted:
        quote = "\n".join(line.lstrip("> ") for line in lines[:quoted])
        notes.insert(0, reply_note("", quote))
    text = "\n".join(lines[quoted:]).strip()
    files = [match["name"] or match["path"] for match in _FILE.finditer(text)]
    return ChatMessage(time, header["sender"].strip(), _FILE.sub("", text), files, notes=notes)


def is_signal_rows(exported: Any) -> bool:
    """Whether parsed JSON lines are messages."""
    some = rows(exported)[:20]
    return bool(some) and all({"date", "sender", "body"} <= each.keys() for each in some)


def read_signal_rows(exported: Any) -> Conversation:
    """Return the conversation in parsed JSON lines."""
    return Conversation(_APP, "", [_row_message(each) for each in rows(exported)], LOCAL)


def _row_message(raw: dict[str, Any]) -> ChatMessage:
    text, quote = words(raw.get("body")), words(raw.get("quote"))
    notes = [reply_note("", "\n".join(line.lstrip("> ") for line in quote.split("\n")))] if quote.strip() else []
    for reaction in raw["reactions"] if isinstance(raw.get("reactions"), list) else []:
        names = list(texts(reaction)) or [words(row(reaction).get("emoji")), words(row(reaction).get("name"))]
        notes.append(" ".join(filter(None, names)))
    files = [first(each.get("name"), each.get("path")) for each in rows(raw.get("attachments"))]
    media = ["sticker"] if words(raw.get("sticker")).strip() else []
    time, sender = moment(raw.get("date"))[0], words(raw.get("sender")).strip()
    is_notice = not sender or sender == "No-Sender"
    return ChatMessage(time, None if is_notice else sender, text, list(filter(None, files)), media, notes)
