"""DiscordChatExporter's JSON and CSV. Its times have the exporter's offset from UTC, or are in UTC."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from answerable.sources.chats.conversation import LOCAL, ChatMessage, Conversation, reply_note
from answerable.sources.chats.fields import counted, file_name, first, moment, row, rows, words, zone_name

_APP = "Discord"
_DIRECT = frozenset({"Direct Messages", ""})
# Other kinds are the app's notices: joins, pins, calls, threads.
_WRITTEN = frozenset({"Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "ThreadStarterMessage", "0", ""})
_WRITTEN_NUMBERS = frozenset({"19", "20", "21", "23"})
CSV_HEADER = "AuthorID,Author,Date,Content,Attachments,Reactions"


def is_discord(exported: Any) -> bool:
    """Whether parsed JSON has the shape of an export."""
    whole = row(exported)
    first_ones = rows(whole.get("messages"))[:20]
    is_dated = all("timestamp" in each and "author" in each for each in first_ones)
    return "channel" in whole and "guild" in whole and bool(first_ones) and is_dated


def read_discord(exported: Any) -> Conversation:
    """Return the conversation of an export in JSON."""
    whole = row(exported)
    raw = rows(whole.get("messages"))
    by_id = {words(each.get("id")): each for each in raw}
    offsets = {moment(each.get("timestamp"))[1] for each in raw}
    guild, channel = row(whole.get("guild")), row(whole.get("channel"))
    title = channel_title(words(guild.get("name")), words(channel.get("name")))
    topic = {"topic": words(channel.get("topic"))} if channel.get("topic") else {}
    return Conversation(_APP, title, [_message(each, by_id) for each in raw], zone_name(offsets, LOCAL), topic)


def channel_title(server: str, channel: str) -> str:
    """Return `Server - channel`; of direct messages, the channel's name."""
    return channel if server in _DIRECT else f"{server} - {channel}"


def _message(raw: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> ChatMessage:
    time, content = moment(raw.get("timestamp"))[0], words(raw.get("content"))
    author = _author(raw)
    if words(raw.get("type")) not in _WRITTEN | _WRITTEN_NUMBERS:
        return ChatMessage(time, None, f"{author}: {content}" if content else author)
    files = [first(each.get("fileName"), file_name(each.get("url"))) for each in rows(raw.get("attachments"))]
    media = ["sticker"] * len(rows(raw.get("stickers"))[:3])
    forwarded = row(raw.get("forwardedMessage"))
    files += [first(each.get("fileName")) for each in rows(forwarded.get("attachments"))]
    text = "\n".join(filter(None, [content, words(forwarded.get("content"))]))
    text = text or "\n\n".join(filter(None, map(_embed, rows(raw.get("embeds")))))
    return ChatMessage(time, author, text, list(filter(None, files)), media, list(_notes(raw, by_id)))


def _author(raw: dict[str, Any]) -> str:
    author = row(raw.get("author"))
    return first(author.get("nickname"), author.get("name"), author.get("id")) or "unknown"


def _embed(embed: dict[str, Any]) -> str:
    """Return the text of a card, with which bots write."""
    pieces = [words(embed.get("title")), words(embed.get("description"))]
    pieces += [f"{words(each.get('name'))}: {words(each.get('value'))}" for each in rows(embed.get("fields"))]
    return "\n".join(piece for piece in pieces if piece.strip())


def _notes(raw: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> Iterator[str]:
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
        yield f"{emoji} {counted(list(filter(None, names)), reaction.get('count'))}"


def read_discord_csv(content: str) -> Conversation:
    """Return the conversation of an export in CSV."""
    messages: list[ChatMessage] = []
    offsets: set[timedelta | None] = set()
    try:
        for record in csv.DictReader(io.StringIO(content, newline="")):
            time, offset = moment(record.get("Date"))
            offsets.add(offset)
            files = [file_name(each) for each in words(record.get("Attachments")).split(",") if each.strip()]
            reactions = words(record.get("Reactions")).strip()
            author = words(record.get("Author")).removesuffix("#0000") or "unknown"
            notes = [reactions] if reactions else []
            messages.append(ChatMessage(time, author, words(record.get("Content")), files, notes=notes))
    except csv.Error:
        # A field over the module's limit: what was read so far is kept only if it is everything.
        messages = []
    return Conversation(_APP, "", messages, zone_name(offsets, LOCAL))
