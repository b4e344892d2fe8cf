"""DiscordChatExporter's plain text. Its dates are in the exporter's language and local time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from answerable.sources.chats.conversation import LOCAL, ChatMessage, Conversation, one_line
from answerable.sources.chats.discord import channel_title
from answerable.sources.chats.fields import file_name
from answerable.sources.chats.stamps import read_stamps

_HEAD = re.compile(
    r"={20,80}\nGuild: (?P<guild>[^\n]*)\nChannel: (?P<channel>[^\n]*)\n(?:[^=\n][^\n]*\n){0,9}={20,80}(?:\n|$)"
)
_FOOT = re.compile(r"\n={20,80}\nExported [^\n]{1,60}\n={20,80}\s{0,9}\Z")
_HEADER = re.compile(r"^\[(?P<stamp>[^\]\n]{8,40})\] (?P<author>[^\n]{1,160})$", re.MULTILINE)
_BLOCK = re.compile(r"^\{(?P<name>Attachments|Embed|Stickers|Reactions|Forwarded Message)\}$", re.MULTILINE)
_PINNED = " (pinned)"
_LONGEST_FOOT = 300


def is_discord_text(content: str) -> bool:
    """Whether a text begins as an export."""
    return _HEAD.match(content.lstrip()[:3_000]) is not None


def read_discord_text(content: str) -> Conversation:
    """Return the conversation of an export."""
    content = content.lstrip()
    head = _HEAD.match(content)
    foot = _FOOT.search(content, max(0, len(content) - _LONGEST_FOOT))
    body = content[head.end() if head else 0 : foot.start() if foot else len(content)]
    title = channel_title(head["guild"], head["channel"].rpartition(" / ")[2]) if head else ""
    return Conversation("Discord", title, _messages(body), LOCAL)


def _messages(body: str) -> list[ChatMessage]:
    found = list(_HEADER.finditer(body))
    times = read_stamps([match["stamp"] for match in found])
    # A line in brackets without a time belongs to the message above.
    headers = [(match, time) for match, time in zip(found, times, strict=True) if time is not None]
    ends = [*(match.start() for match, _ in headers[1:]), len(body)][: len(headers)]
    return [
        _message(ChatMessage(time, match["author"].removesuffix(_PINNED), ""), match, body[match.end() : end])
        for (match, time), end in zip(headers, ends, strict=True)
    ]


def _message(message: ChatMessage, header: re.Match[str], raw: str) -> ChatMessage:
    notes = ["pinned"] if header["author"].endswith(_PINNED) else []
    files: list[str] = []
    media: list[str] = []
    text = ""
    for name, block in _blocks(raw):
        match name:
            case "Attachments":
                files += [file_name(line) for line in block.split("\n") if line.strip()]
            case "Stickers":
                media.append("sticker")
            case "Reactions":
                notes.append(one_line(block, 200))
            case "Forwarded Message":
                notes.append("forwarded")
                text = "\n".join(filter(None, (text, block.strip())))
            case "":
                text = block.strip()
            case _:
                text = text or block.strip()
    return replace(message, text=text, files=files, media=media, notes=notes)


def _blocks(raw: str) -> Iterator[tuple[str, str]]:
    """Yield the text with the name "", then each block with its own."""
    marks = list(_BLOCK.finditer(raw))
    starts = [0, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(raw)]
    for name, start, end in zip(["", *(mark["name"] for mark in marks)], starts, ends, strict=True):
        yield name, raw[start:end].strip("\n")
