"""Microsoft Teams: messages as its interface gives them (Graph), and the export of personal data. Times are UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from answerable.sources.chats.conversation import LOCAL, ChatMessage, Conversation, in_order, reply_note
from answerable.sources.chats.fields import first, moment, row, rows, words, zone_name

_APP = "Microsoft Teams"
_BREAK = re.compile(r"<(?:br|/p|/div|/li|/tr|/blockquote)\b[^>]{0,200}>", re.IGNORECASE)
_QUOTES = ("blockquote", "quote")
_TAG = re.compile(r"<[^<>]{0,2000}>")
_BLANKS = re.compile(r"\n{3,}")


def is_teams(exported: Any) -> bool:
    """Whether parsed JSON has the shape of either."""
    return any("createdDateTime" in each and "body" in each for each in _graph(exported)[:20]) or any(
        "MessageList" in each for each in rows(row(exported).get("conversations"))[:20]
    )


def read_teams(exported: Any) -> list[Conversation]:
    """Return the conversations of either."""
    personal = rows(row(exported).get("conversations"))
    if any("MessageList" in each for each in personal):
        return [_personal(each) for each in personal]
    raw = _graph(exported)
    by_id = {words(each.get("id")): each for each in raw}
    zone = zone_name({moment(each.get("createdDateTime"))[1] for each in raw}, LOCAL)
    title = first(*(row(exported).get(name) for name in ("topic", "displayName", "chatName", "title")))
    return [Conversation(_APP, title, in_order(_message(each, by_id) for each in raw), zone)]


def _graph(exported: Any) -> list[dict[str, Any]]:
    whole = row(exported)
    listed = exported if isinstance(exported, list) else whole.get("messages", whole.get("value"))
    found = []
    for each in rows(listed):
        found.append(each)
        found += rows(each.get("replies"))
    return found


def _message(raw: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> ChatMessage:
    time, body = moment(raw.get("createdDateTime"))[0], row(raw.get("body"))
    text = words(body.get("content"))
    text = shown_text(text) if body.get("contentType") != "text" else text
    if raw.get("messageType", "message") != "message":
        return ChatMessage(time, None, text or words(row(raw.get("eventDetail")).get("@odata.type")).rpartition(".")[2])
    if raw.get("deletedDateTime"):
        return ChatMessage(time, _sender(raw), "", is_deleted=True)
    files = [first(each.get("name")) for each in rows(raw.get("attachments"))]
    return ChatMessage(time, _sender(raw), text, list(filter(None, files)), notes=list(_notes(raw, by_id)))


def _sender(raw: dict[str, Any]) -> str:
    by = row(raw.get("from"))
    names = (row(by.get(kind)).get("displayName") for kind in ("user", "application", "device"))
    return first(*names, by.get("displayName"), raw.get("from")) or "unknown"


def _notes(raw: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> Iterator[str]:
    if replied := by_id.get(words(raw.get("replyToId"))):
        yield reply_note(_sender(replied), shown_text(words(row(replied.get("body")).get("content"))))
    if raw.get("lastEditedDateTime"):
        yield "edited"
    for reaction in rows(raw.get("reactions")):
        user = row(row(reaction.get("user")).get("user"))
        yield f"{words(reaction.get('reactionType'))} {words(user.get('displayName'))}"


def _personal(conversation: dict[str, Any]) -> Conversation:
    messages = []
    for raw in rows(conversation.get("MessageList")):
        time = moment(raw.get("originalarrivaltime"))[0]
        sender = first(raw.get("displayName"), raw.get("from")).removeprefix("8:").removeprefix("live:")
        kind, text = words(raw.get("messagetype")), shown_text(words(raw.get("content")))
        is_written = kind.startswith(("RichText", "Text")) or not kind
        messages.append(ChatMessage(time, (sender or "unknown") if is_written else None, text))
    return Conversation(_APP, first(conversation.get("displayName"), conversation.get("id")), in_order(messages))


def shown_text(markup: str) -> str:
    """Return the text that a message's markup shows, without the message that it quotes."""
    for name in _QUOTES:
        markup = _without(markup, f"<{name}", f"</{name}>")
    text = _TAG.sub("", _BREAK.sub("\n", markup))
    return _BLANKS.sub("\n\n", unescape(text).replace("\xa0", " ")).strip()


def _without(markup: str, begin: str, end: str) -> str:
    kept, position = [], 0
    while (start := markup.find(begin, position)) >= 0 and (stop := markup.find(end, start)) >= 0:
        kept.append(markup[position:start])
        position = stop + len(end)
    return "".join([*kept, markup[position:]])
