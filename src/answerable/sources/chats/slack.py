"""Slack's export: a channel's messages day by day, with the users and channels of the workspace.

Times are seconds since 1970 and are shown in UTC: the export doesn't say who made it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from answerable.sources.chats.conversation import ChatMessage, Conversation, in_order, reply_note
from answerable.sources.chats.fields import counted, epoch, first, row, rows, texts, words
from answerable.sources.chats.slack_blocks import blocks_text

_APP = "Slack"
# Subtypes of what people and bots write. All others are notices: joins, topics, pins, archives.
_WRITTEN = frozenset(
    {
        "",
        "bot_message",
        "file_share",
        "file_comment",
        "file_mention",
        "me_message",
        "thread_broadcast",
        "reply_broadcast",
        "assistant_app_thread",
        "document_comment_root",
        "huddle_thread",
    }
)
_LINK = re.compile(r"<([^<>\n]{1,3000})>")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_STAMP = re.compile(r"\d{9,11}\.\d{6}")


def is_slack(exported: Any) -> bool:
    """Whether parsed JSON has the shape of one of the daily files."""
    messages = rows(exported)[:20]
    return bool(messages) and all(
        each.get("type", "message") == "message" and _is_stamp(each.get("ts")) and ("text" in each or "blocks" in each)
        for each in messages
    )


def _is_stamp(value: Any) -> bool:
    return bool(_STAMP.fullmatch(words(value)))


@dataclass(frozen=True, slots=True)
class Workspace:
    """The names of users and channels by id."""

    users: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, users: Any, channels: Any) -> Workspace:
        """Read the parsed `users.json`, and the rows of `channels.json` and `groups.json`."""
        names = {words(each.get("id")): _shown_name(each) for each in rows(users)}
        return cls(names, {words(each.get("id")): words(each.get("name")) for each in rows(channels)})

    def text(self, text: str) -> str:
        """Return a message's text with its references to users, channels and addresses spelt out."""
        text = _LINK.sub(lambda match: self._reference(match[1]), text) if "<" in text else text
        for entity, character in _ENTITIES:
            text = text.replace(entity, character)
        return text

    def user(self, identity: str) -> str:
        """Return a user's name, or the id if it isn't known."""
        return self.users.get(identity) or identity

    def _reference(self, inside: str) -> str:
        target, _, label = inside.partition("|")
        match target[:1]:
            case "@":
                return f"@{self.users.get(target[1:]) or label or target[1:]}"
            case "#":
                return f"#{label or self.channels.get(target[1:]) or target[1:]}"
            case "!":
                return label or f"@{target[1:].split('^')[0]}"
        address = target.removeprefix("mailto:").removeprefix("tel:")
        return address if not label or label in address else f"{label} ({address})"


def _shown_name(user: dict[str, Any]) -> str:
    profile = row(user.get("profile"))
    return first(profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))


def read_slack(exported: Any, title: str, workspace: Workspace | None = None) -> Conversation:
    """Return the messages of one or more daily files as a conversation."""
    workspace = workspace or Workspace()
    raw = [each for each in rows(exported) if each.get("type", "message") == "message" and epoch(each.get("ts"))]
    by_stamp = {words(each.get("ts")): each for each in raw}
    # The reply that is also sent to the channel is in the export once, but in two days' files.
    messages = in_order(_message(each, by_stamp, workspace) for each in by_stamp.values())
    return Conversation(_APP, title, messages)


def _message(raw: dict[str, Any], by_stamp: Mapping[str, dict[str, Any]], workspace: Workspace) -> ChatMessage:
    time, text = epoch(raw.get("ts")), _text(raw, workspace)
    sender = _sender(raw, workspace)
    if words(raw.get("subtype")) not in _WRITTEN:
        return ChatMessage(time, None, text if not sender or sender in text else f"{sender} {text}")
    if "attachments" in raw and not text:
        text = "\n\n".join(filter(None, (_attachment(each, workspace) for each in rows(raw["attachments"]))))
    files = [first(each.get("name"), each.get("title")) for each in (*rows(raw.get("files")), row(raw.get("file")))]
    return ChatMessage(
        time, sender or "unknown", text, list(filter(None, files)), notes=list(_notes(raw, by_stamp, workspace))
    )


def _sender(raw: dict[str, Any], workspace: Workspace) -> str:
    # The comment on a file, in exports before 2018, names its author itself.
    identity = first(raw.get("user"), row(raw.get("comment")).get("user"))
    profile = row(raw.get("user_profile"))
    known = workspace.users.get(identity) or first(profile.get("display_name"), profile.get("real_name"))
    is_bot = raw.get("subtype") == "bot_message" or not identity
    bot = first(raw.get("username"), row(raw.get("bot_profile")).get("name")) if is_bot else ""
    return bot or known or first(raw.get("username"), identity, raw.get("bot_id"))


def _text(raw: dict[str, Any], workspace: Workspace) -> str:
    return workspace.text(words(raw.get("text"))).strip() or workspace.text(blocks_text(raw.get("blocks"))).strip()


def _attachment(attachment: dict[str, Any], workspace: Workspace) -> str:
    """Return what an app's message shows instead of a text."""
    pieces = [words(attachment.get(name)) for name in ("pretext", "title", "text")]
    for shown in rows(attachment.get("fields")):
        pieces.append(": ".join(filter(None, (words(shown.get("title")), words(shown.get("value"))))))
    found = "\n".join(piece for piece in pieces if piece.strip())
    return workspace.text(found or blocks_text(attachment.get("blocks")) or words(attachment.get("fallback")))


def _notes(raw: dict[str, Any], by_stamp: Mapping[str, dict[str, Any]], workspace: Workspace) -> Iterator[str]:
    thread = words(raw.get("thread_ts"))
    if thread and thread != raw.get("ts"):
        # The parent may be in another day's file.
        parent = by_stamp.get(thread) or row(raw.get("root")) or {"user": raw.get("parent_user_id")}
        yield reply_note(_sender(parent, workspace), _text(parent, workspace))
    if "edited" in raw:
        yield "edited"
    if raw.get("pinned_to"):
        yield "pinned"
    for reaction in rows(raw.get("reactions")):
        names = [workspace.user(each) for each in texts(reaction.get("users"))]
        yield f":{words(reaction.get('name'))}: {counted(names, reaction.get('count'))}"
