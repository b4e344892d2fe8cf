"""Telegram's export in JSON (`result.json`) of one chat or of all.

`date` is the exporter's local time; exports without it, which other programs write, have seconds since 1970 in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from answerable.sources.chats.conversation import LOCAL, UTC, ChatMessage, Conversation, reply_note
from answerable.sources.chats.fields import counted, epoch, file_name, first, moment, row, rows, texts, words

_APP = "Telegram"
_UNNAMED = "Deleted Account"
_TYPES = ("message", "service")
_NO_FILE = "(File"
_MEDIA = {
    "sticker": "sticker",
    "voice_message": "voice message",
    "video_message": "video",
    "video_file": "video",
    "audio_file": "audio",
    "animation": "GIF",
}
# Old exports say of a message that wasn't edited that it was in 1970.
_NEVER = 1970
_SAVED = "Saved Messages"


def is_telegram(exported: Any) -> bool:
    """Whether parsed JSON has the shape of an export."""
    chats = _chats(exported)
    return any(_is_message(each) for chat in chats[:50] for each in rows(chat.get("messages"))[:20])


def read_telegram(exported: Any) -> list[Conversation]:
    """Return the conversations of an export."""
    return [_conversation(chat) for chat in _chats(exported)]


def is_single(exported: Any) -> bool:
    """Whether an export is of one chat."""
    return isinstance(row(exported).get("messages"), list)


def _chats(exported: Any) -> list[dict[str, Any]]:
    whole = row(exported)
    if is_single(whole):
        return [whole]
    return [chat for name in ("chats", "left_chats") for chat in rows(row(whole.get(name)).get("list"))]


def _is_message(value: dict[str, Any]) -> bool:
    is_dated = "date_unixtime" in value or moment(value.get("date"))[0] is not None
    return value.get("type") in _TYPES and is_dated and ("text" in value or "actor" in value)


def _conversation(chat: dict[str, Any]) -> Conversation:
    raw = [each for each in rows(chat.get("messages")) if _is_message(each)]
    by_id = {words(each.get("id")): each for each in raw if "id" in each}
    title = first(chat.get("name")) or (_SAVED if chat.get("type") == "saved_messages" else "")
    zone = LOCAL if any("date" in each for each in raw) else UTC
    return Conversation(_APP, title, [_message(each, by_id) for each in raw], zone)


def _message(raw: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> ChatMessage:
    time = moment(raw.get("date"))[0] or epoch(raw.get("date_unixtime"))
    anchor = None
    if raw.get("type") == "service":
        return ChatMessage(time, None, _service(raw), anchor=anchor)
    files, media = _attached(raw)
    text = "\n".join(filter(None, [flat_text(raw.get("text")), *_extras(raw)]))
    return ChatMessage(time, _sender(raw), text, files, media, list(_notes(raw, by_id)))


def _sender(raw: dict[str, Any]) -> str:
    return first(raw.get("from"), raw.get("author")) or _UNNAMED


def flat_text(value: Any) -> str:
    """Return a text that is given whole or in pieces with formats; a link behind words follows them."""
    if isinstance(value, str):
        return value
    pieces = []
    for piece in value if isinstance(value, list) else []:
        if isinstance(piece, str):
            pieces.append(piece)
        elif isinstance(piece, dict):
            text, address = words(piece.get("text")), words(piece.get("href"))
            pieces.append(f"{text} ({address})" if address and address != text else text)
    return "".join(pieces)


def _attached(raw: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the names of attached files, and the kinds of media without a name."""
    file, photo = words(raw.get("file")), words(raw.get("photo"))
    name = first(raw.get("file_name")) or ("" if file.startswith(_NO_FILE) else file_name(file))
    kind = _MEDIA.get(words(raw.get("media_type")), "document")
    if photo:
        return ([], ["image"]) if photo.startswith(_NO_FILE) else ([file_name(photo)], [])
    if name and kind != "sticker":
        return [name], []
    return ([], [kind]) if file or raw.get("media_type") else ([], [])


def _extras(raw: dict[str, Any]) -> Iterator[str]:
    if raw.get("media_type") == "sticker":
        yield words(raw.get("sticker_emoji"))
    poll = row(raw.get("poll"))
    if poll:
        yield f"Poll: {flat_text(poll.get('question'))}"
        for answer in rows(poll.get("answers")):
            yield f"- {flat_text(answer.get('text'))} ({words(answer.get('voters')) or 0})"
    place = row(raw.get("location_information"))
    if place:
        name = first(raw.get("place_name"), raw.get("address"))
        yield f"Location: {name} {place.get('latitude')}, {place.get('longitude')}".replace("  ", " ")
    contact = row(raw.get("contact_information"))
    if contact:
        names = (words(contact.get(name)) for name in ("first_name", "last_name", "phone_number"))
        yield "Contact: " + " ".join(filter(None, names))


def _notes(raw: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> Iterator[str]:
    if "reply_to_message_id" in raw:
        replied = by_id.get(words(raw["reply_to_message_id"]), {})
        yield reply_note(_sender(replied) if replied else "", flat_text(replied.get("text")))
    if forwarded := first(raw.get("forwarded_from"), raw.get("saved_from")):
        yield f"forwarded from {forwarded}"
    if via := first(raw.get("via_bot")):
        yield f"via {via}"
    edited = moment(raw.get("edited"))[0]
    if edited and edited.year > _NEVER:
        yield "edited"
    for reaction in rows(raw.get("reactions")):
        names = [words(each.get("from")) for each in rows(reaction.get("recent"))]
        emoji = first(reaction.get("emoji"), reaction.get("type"))
        yield f"{emoji} {counted(list(filter(None, names)), reaction.get('count'))}"


def _service(raw: dict[str, Any]) -> str:
    """Return the sentence of a notice: `Ana: invite members: Ben, Cara`."""
    who = first(raw.get("actor"), raw.get("from"))
    action = words(raw.get("action")).replace("_", " ") or "notice"
    duration = words(raw.get("duration_seconds"))
    what = [
        first(raw.get("title"), raw.get("new_title")),
        ", ".join(texts(raw.get("members"))),
        f"{duration} seconds" if duration else "",
        words(raw.get("discard_reason")),
        flat_text(raw.get("text")),
    ]
    return ": ".join(filter(None, [who, action, ", ".join(filter(None, what))]))
