"""JSON of Telegram (`result.json`, of one chat or of all), DiscordChatExporter and Google Chat.

Telegram's `date` is the exporter's local time; exports that other programs write lack it, and have seconds since 1970
in UTC. Discord's times have the exporter's offset from UTC, or are in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from answerable.sources.chats.conversation import (
    LOCAL,
    UTC,
    ChatMessage,
    Conversation,
    counted,
    file_name,
    read_stamp,
    reply_note,
    zone_name,
)
from answerable.sources.exported import epoch, first, moment, row, rows, texts, words

_NO_FILE = "(File"
_MEDIA = {
    "sticker": "sticker",
    "voice_message": "voice message",
    "video_message": "video",
    "video_file": "video",
    "audio_file": "audio",
    "animation": "GIF",
}
# Old exports give a time of editing in 1970 to a message that wasn't edited.
_NEVER = 1970


def read_telegram(exported: Any) -> Conversation | list[Conversation] | None:
    """Return the conversations of Telegram's export, which may be of a single chat."""
    chats = _chats(exported)
    if not any(_is_message(each) for chat in chats[:50] for each in rows(chat.get("messages"))[:20]):
        return None
    found = [_conversation(chat) for chat in chats]
    return found[0] if chats[0] is exported else found


def _chats(exported: Any) -> list[dict[str, Any]]:
    whole = row(exported)
    if isinstance(whole.get("messages"), list):
        return [whole]
    return [chat for name in ("chats", "left_chats") for chat in rows(row(whole.get(name)).get("list"))]


def _is_message(value: dict[str, Any]) -> bool:
    is_dated = "date_unixtime" in value or moment(value.get("date"))[0] is not None
    return value.get("type") in ("message", "service") and is_dated and ("text" in value or "actor" in value)


def _conversation(chat: dict[str, Any]) -> Conversation:
    raw = [each for each in rows(chat.get("messages")) if _is_message(each)]
    by_id = {words(each.get("id")): each for each in raw if "id" in each}
    title = first(chat.get("name")) or ("Saved Messages" if chat.get("type") == "saved_messages" else "")
    zone = LOCAL if any("date" in each for each in raw) else UTC
    return Conversation("Telegram", title, [_message(each, by_id) for each in raw], zone)


def _message(raw: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> ChatMessage:
    time = moment(raw.get("date"))[0] or epoch(raw.get("date_unixtime"))
    if raw.get("type") == "service":
        return ChatMessage(time, None, _service(raw))
    files, media = _attached(raw)
    text = "\n".join(filter(None, [flat_text(raw.get("text")), *_extras(raw)]))
    return ChatMessage(time, _sender(raw), text, files, media, list(_notes(raw, by_id)))


def _sender(raw: dict[str, Any]) -> str:
    return first(raw.get("from"), raw.get("author")) or "Deleted Account"


def flat_text(value: Any) -> str:
    """Return text that is one string or a list of formatted pieces; a linked piece is followed by its address."""
    if isinstance(value, str):
        return value
    pieces = []
    for piece in value if isinstance(value, list) else []:
        if isinstance(piece, str):
            pieces.append(piece)
        elif isinstance(piece, dict):
            text, address = words(piece.get("text")), words(piece.get("href"))
            if piece.get("type") == "strikethrough" and (core := text.strip()):
                text = text.replace(core, f"~~{core}~~", 1)
            pieces.append(f"{text} ({address})" if address and address != text else text)
    # Text that is struck and bold comes in several pieces.
    return "".join(pieces).replace("~~~~", "")


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
        yield f"{emoji} {counted(names, reaction.get('count'))}"


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


_DIRECT = frozenset({"Direct Messages", ""})  # names that a chat without a server has in place of one
# Types of messages that people and bots write. Other types are the app's notices: joins, pins, calls, threads.
_WRITTEN = {"", *"Default Reply ChatInputCommand ContextMenuCommand ThreadStarterMessage 0 19 20 21 23".split()}


def read_discord(exported: Any) -> Conversation | None:
    """Return the conversation of DiscordChatExporter's JSON."""
    whole = row(exported)
    raw = rows(whole.get("messages"))
    is_dated = all("timestamp" in each and "author" in each for each in raw[:20])
    if not (raw and is_dated and "channel" in whole and "guild" in whole):
        return None
    by_id = {words(each.get("id")): each for each in raw}
    offsets = {moment(each.get("timestamp"))[1] for each in raw}
    guild, channel = row(whole.get("guild")), row(whole.get("channel"))
    server, name = words(guild.get("name")), words(channel.get("name"))
    title = name if server in _DIRECT else f"{server} - {name}"
    return Conversation("Discord", title, [_discord_message(each, by_id) for each in raw], zone_name(offsets))


def _discord_message(raw: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> ChatMessage:
    time, content = moment(raw.get("timestamp"))[0], words(raw.get("content"))
    author = _author(raw)
    if words(raw.get("type")) not in _WRITTEN:
        return ChatMessage(time, None, f"{author}: {content}" if content else author)
    files = [first(each.get("fileName"), file_name(each.get("url"))) for each in rows(raw.get("attachments"))]
    media = ["sticker"] * len(rows(raw.get("stickers"))[:3])
    forwarded = row(raw.get("forwardedMessage"))
    files += [first(each.get("fileName")) for each in rows(forwarded.get("attachments"))]
    text = "\n".join(filter(None, [content, words(forwarded.get("content"))]))
    text = text or "\n\n".join(filter(None, map(_embed, rows(raw.get("embeds")))))
    return ChatMessage(time, author, text, files, media, list(_discord_notes(raw, by_id)))


def _author(raw: dict[str, Any]) -> str:
    author = row(raw.get("author"))
    return first(author.get("nickname"), author.get("name"), author.get("id")) or "unknown"


def _embed(embed: dict[str, Any]) -> str:
    """Return the text of an embed, the card in which bots write."""
    pieces = [words(embed.get("title")), words(embed.get("description"))]
    pieces += [f"{words(each.get('name'))}: {words(each.get('value'))}" for each in rows(embed.get("fields"))]
    return "\n".join(piece for piece in pieces if piece.strip())


def _discord_notes(raw: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> Iterator[str]:
    reference = row(raw.get("reference"))
    if reference and "forwardedMessage" not in raw:
        replied = by_id.get(words(reference.get("messageId")))
        yield reply_note(_author(replied), words(replied.get("content"))) if replied else reply_note("", "")
    if "forwardedMessage" in raw:
        yield "forwarded"
    if interaction := row(raw.get("interaction")):
        yield f"{_author({'author': interaction.get('user')})} used /{words(interaction.get('name'))}"
    if raw.get("timestampEdited"):
        yield "edited"
    if raw.get("isPinned") is True:
        yield "pinned"
    for reaction in rows(raw.get("reactions")):
        names = [first(each.get("nickname"), each.get("name")) for each in rows(reaction.get("users"))]
        emoji = words(row(reaction.get("emoji")).get("name"))
        yield f"{emoji} {counted(names, reaction.get('count'))}"


def read_google_chat(exported: Any, group: Any = None) -> Conversation | None:
    """Return the conversation in Google Chat's `messages.json`; `group` is the parsed `group_info.json` next to it."""
    raw = [each for each in rows(row(exported).get("messages")) if "creator" in each]
    if group is None and not any("created_date" in each for each in raw[:20]):
        return None
    listed = [_google_message(each) for each in raw]
    members = [words(each.get("name")) for each in rows(row(group).get("members"))]
    return Conversation("Google Chat", first(row(group).get("name"), ", ".join(members[:3])), listed)


def _google_message(raw: dict[str, Any]) -> ChatMessage:
    creator, quoted = row(raw.get("creator")), row(raw.get("quoted_message_metadata"))
    # "Tuesday, March 5, 2024 at 9:15:03 AM UTC"
    time = read_stamp(words(raw.get("created_date")).partition(", ")[2])
    notes = [reply_note(words(row(quoted.get("creator")).get("name")), words(quoted.get("text")))] if quoted else []
    notes += ["edited"] if raw.get("previous_message_versions") else []
    for each in rows(raw.get("reactions")):
        notes.append(f"{words(row(each.get('emoji')).get('unicode'))} {', '.join(texts(each.get('reactor_emails')))}")
    files = [first(each.get("original_name"), each.get("export_name")) for each in rows(raw.get("attached_files"))]
    return ChatMessage(
        time, first(creator.get("name"), creator.get("email")) or "unknown", words(raw.get("text")), files, notes=notes
    )
