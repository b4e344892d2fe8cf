"""Messages of Facebook Messenger and Instagram (`message_1.json`), and of Messenger's end-to-end encrypted chats.

The files escape each byte of UTF-8 as a character of its own ("cafÃ©"), which is undone. Times are UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from answerable.sources.chats.conversation import ChatMessage, Conversation, in_order
from answerable.sources.chats.fields import file_name, first, milliseconds, row, rows, words

_FILES = ("photos", "videos", "audio_files", "files", "gifs")


def is_messenger(exported: Any) -> bool:
    """Whether parsed JSON has the shape of a file of messages."""
    messages = rows(row(exported).get("messages"))[:20]
    return bool(messages) and all(
        ("sender_name" in each and "timestamp_ms" in each) or ("senderName" in each and "timestamp" in each)
        for each in messages
    )


def read_messenger(exported: list[Any], source: str) -> Conversation:
    """Return the conversation in the parsed files of one thread."""
    wholes = [row(each) for each in exported]
    messages = in_order(reversed([_message(each) for whole in wholes for each in rows(whole.get("messages"))]))
    title = next((name for whole in wholes if (name := _title(whole))), "")
    app = "Instagram" if "instagram" in source.lower() else "Messenger"
    return Conversation(app, title, messages)


def _title(whole: dict[str, Any]) -> str:
    named = mended(first(whole.get("title"), whole.get("threadName")))
    people = [mended(first(each.get("name"))) for each in rows(whole.get("participants"))]
    return named or ", ".join(people[:3])


def mended(text: str) -> str:
    """Return a text whose characters are the bytes of UTF-8 as what they spell; any other text unchanged."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _message(raw: dict[str, Any]) -> ChatMessage:
    time = milliseconds(raw.get("timestamp_ms", raw.get("timestamp")))
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
    return ChatMessage(time, sender, "\n".join(filter(None, lines)), [*map(mended, files)], media, [*_reactions(raw)])


def _reactions(raw: dict[str, Any]) -> Iterator[str]:
    for each in rows(raw.get("reactions")):
        yield f"{mended(words(each.get('reaction')))} {mended(words(each.get('actor')))}"
