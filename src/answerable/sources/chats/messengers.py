"""Exports of iMessage, LINE, Signal, Messenger and Instagram.

iMessage: the plain text of imessage-exporter, which has each reply twice, indented below the message that it answers,
and at the time when it was sent. LINE: the text that the app saves, with a line for each day. Signal: the Markdown of
signal-export. Times of these are the exporter's local time. Messenger: its files (`message_1.json`, and those of
end-to-end encrypted chats) escape each byte of UTF-8 as a character of its own ("cafÃ©"), which is undone here. Their
times are UTC.
"""

from __future__ import annotations

import re
from typing import Any

from answerable.sources.chats.conversation import (
    LOCAL,
    ChatMessage,
    Conversation,
    file_name,
    in_order,
    messages_below,
    read_stamp,
    read_stamps,
    reply_note,
)
from answerable.sources.exported import epoch, first, moment, row, rows, words

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


def read_imessage(content: str) -> Conversation | None:
    """Return the conversation in imessage-exporter's plain text; None for other text."""
    if not _HEADER.match(content.lstrip()[:1_000]):
        return None
    answered: dict[tuple[str, str], tuple[str, str]] = {}
    messages = [_message(header, raw, answered) for header, raw in messages_below(_HEADER, content.lstrip())]
    return Conversation("iMessage", "", messages, LOCAL)


def _message(header: re.Match[str], raw: str, answered: dict[tuple[str, str], tuple[str, str]]) -> ChatMessage:
    time, sender = read_stamp(header["stamp"]), header["sender"]
    if sender is None:
        return ChatMessage(time, None, header["notice"].strip())
    sender = sender.strip()
    replies = list(_REPLY.finditer(raw))
    own = raw[: replies[0].start()] if replies else raw
    # Search for reactions above the replies only.
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


_LINE_HEADER = re.compile(
    r"^(?:[^\d\t\n]{0,20}(?P<day>\d{1,4}[/.]\d{1,2}[/.]\d{1,4})[^\d\t\n]{0,20}$"
    r"|(?P<clock>\d{1,2}:\d\d(?: ?[AP]M)?)\t(?:(?P<sender>[^\t\n]{1,160})\t)?)",
    re.MULTILINE,
)


def read_line(content: str) -> Conversation | None:
    """Return the conversation in a text that LINE saved, which quotes texts of several lines; None for other text."""
    if not (content.startswith("[LINE]") and any(each["clock"] for each in _LINE_HEADER.finditer(content[:5_000]))):
        return None
    day, stamps, found = "", [], []
    for header, raw in messages_below(_LINE_HEADER, content):
        day = header["day"] or day
        if header["clock"]:
            stamps.append(f"{day} {header['clock']}")
            text = raw.strip()
            is_quoted = "\n" in text and text.startswith('"') and text.endswith('"')
            found.append((header["sender"], text[1:-1] if is_quoted else text))
    messages = [ChatMessage(time, *each) for time, each in zip(read_stamps(stamps), found, strict=True)]
    return Conversation("LINE", content.partition("\n")[0].removeprefix("[LINE]"), messages, LOCAL)


_SIGNAL_HEADER = re.compile(
    r"^\[(?P<stamp>\d{4}-\d\d-\d\d,? \d\d:\d\d(?::\d\d)?)\] (?P<sender>[^\n:]{1,160}):(?: |$)", re.MULTILINE
)
_SIGNAL_REACTIONS = re.compile(r"\(- (?P<who>[^\n]{1,1000}) -\)\s{0,9}\Z")
_SIGNAL_FILE = re.compile(r"!?\[(?P<name>[^\]\n]{0,300})\]\((?:\./)?media/(?P<path>[^)\n]{1,500})\)")


def read_signal(content: str) -> Conversation | None:
    """Return the conversation in signal-export's Markdown; None for other Markdown."""
    if not _SIGNAL_HEADER.match(content.lstrip()[:500]):
        return None
    messages = [_signal_message(header, raw) for header, raw in messages_below(_SIGNAL_HEADER, content.lstrip())]
    return Conversation("Signal", "", messages, LOCAL)


def _signal_message(header: re.Match[str], raw: str) -> ChatMessage:
    time = moment(header["stamp"].replace(",", "").replace(" ", "T"))[0]
    notes: list[str] = []
    if reactions := _SIGNAL_REACTIONS.search(raw, max(0, len(raw) - 1_100)):
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
    if text == "(This message was deleted)":
        return ChatMessage(time, header["sender"].strip(), "", is_deleted=True)
    files = [match["name"] or match["path"] for match in _SIGNAL_FILE.finditer(text)]
    return ChatMessage(time, header["sender"].strip(), _SIGNAL_FILE.sub("", text), files, notes=notes)


_FILES = ("photos", "videos", "audio_files", "files", "gifs")


def is_messenger(exported: Any) -> bool:
    """Whether parsed JSON has the shape of a file of messages from Messenger or Instagram."""
    messages = rows(row(exported).get("messages"))[:20]
    return bool(messages) and all(
        ("sender_name" in each and "timestamp_ms" in each) or ("senderName" in each and "timestamp" in each)
        for each in messages
    )


def read_messenger(exported: list[Any], source: str) -> Conversation:
    """Return the conversation in the parsed files of one thread."""
    wholes = [row(each) for each in exported]
    messages = in_order(
        reversed([_messenger_message(each) for whole in wholes for each in rows(whole.get("messages"))])
    )
    title = next((name for whole in wholes if (name := _title(whole))), "")
    app = "Instagram" if "instagram" in source.lower() else "Messenger"
    return Conversation(app, title, messages)


def _title(whole: dict[str, Any]) -> str:
    named = mended(first(whole.get("title"), whole.get("threadName")))
    people = [mended(first(each.get("name"))) for each in rows(whole.get("participants"))]
    return named or ", ".join(people[:3])


def mended(text: str) -> str:
    """Decode text in which each character is a byte of UTF-8; return any other text unchanged."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _messenger_message(raw: dict[str, Any]) -> ChatMessage:
    time = epoch(raw.get("timestamp_ms", raw.get("timestamp")), 1000)
    sender = mended(first(raw.get("sender_name"), raw.get("senderName"))) or "unknown"
    if raw.get("is_unsent") is True or raw.get("isUnsent") is True:
        return ChatMessage(time, sender, "", is_deleted=True)
    text = mended(first(raw.get("content"), raw.get("text")))
    if raw.get("type") in ("Subscribe", "Unsubscribe"):
        return ChatMessage(time, None, text or f"{sender} joined or left")
    share = row(raw.get("share"))
    shared = [words(share.get("link")), mended(words(share.get("share_text")))]
    lines = [text, *(each for each in shared if each and each not in text)]
    files = [file_name(each.get("uri")) for name in _FILES for each in rows(raw.get(name))]
    files += [file_name(each.get("uri")) for each in rows(raw.get("media"))]
    media = ["sticker"] if raw.get("sticker") else []
    duration = words(raw.get("call_duration"))
    lines += [f"Call of {duration} seconds"] if duration and not text else []
    reactions = [
        f"{mended(words(each.get('reaction')))} {mended(words(each.get('actor')))}"
        for each in rows(raw.get("reactions"))
    ]
    return ChatMessage(time, sender, "\n".join(filter(None, lines)), [*map(mended, files)], media, reactions)
