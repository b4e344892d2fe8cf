"""Slack's export, with a file for each day of a channel; and conversations in several files, read as one file.

Times are seconds since 1970, shown in UTC, as the export doesn't say who made it. In an archive, the daily files of a
Slack channel, the parts of a Messenger thread, and the files of a Google Chat space are read as if their folder were
one member.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import unescape

from answerable.errors import UnsupportedSource
from answerable.formats.marks import BUNDLE
from answerable.sources.chats.conversation import ChatMessage, Conversation, counted, in_order, reply_note
from answerable.sources.exported import epoch, first, row, rows, texts, words
from answerable.sources.text import decode

_DEEPEST = 20  # levels of blocks inside blocks
# Subtypes of messages that people and bots write. Other subtypes are notices: joins, topics, pins, archives.
_WRITTEN = frozenset(
    "bot_message file_share file_comment file_mention me_message thread_broadcast reply_broadcast assistant_app_thread "
    "document_comment_root huddle_thread".split()
) | {""}
_LINK = re.compile(r"<([^<>\n]{1,3000})>")
_STAMP = re.compile(r"\d{9,11}\.\d{6}")


def is_slack(exported: Any) -> bool:
    """Whether parsed JSON has the shape of a channel's daily file."""
    messages = rows(exported)[:20]
    return bool(messages) and all(
        each.get("type", "message") == "message"
        and _STAMP.fullmatch(words(each.get("ts")))
        and ("text" in each or "blocks" in each)
        for each in messages
    )


Names = Mapping[str, str]
"""The names of users and channels by their ids, of which no two are alike."""


def names_of(users: Any, channels: Any) -> Names:
    """Return the names in the parsed `users.json`, and in the rows of `channels.json` and `groups.json`."""
    named = {words(each.get("id")): words(each.get("name")) for each in rows(channels)}
    return named | {words(each.get("id")): _shown_name(each) for each in rows(users)}


def _spelt_out(text: str, names: Names) -> str:
    """Return a message's text with its references to users, channels and addresses spelt out."""
    return unescape(_LINK.sub(lambda match: _reference(match[1], names), text) if "<" in text else text)


def _reference(inside: str, names: Names) -> str:
    target, _, label = inside.partition("|")
    match target[:1]:
        case "@":
            return f"@{names.get(target[1:]) or label or target[1:]}"
        case "#":
            return f"#{label or names.get(target[1:]) or target[1:]}"
        case "!":
            return label or f"@{target[1:].split('^')[0]}"
    address = target.removeprefix("mailto:").removeprefix("tel:")
    return address if not label or label in address else f"{label} ({address})"


def _shown_name(user: dict[str, Any]) -> str:
    profile = row(user.get("profile"))
    return first(profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))


def read_slack(exported: Any, title: str, names: Names) -> Conversation:
    """Return the messages of one or more daily files as a conversation."""
    raw = [each for each in rows(exported) if each.get("type", "message") == "message" and epoch(each.get("ts"))]
    by_stamp = {words(each.get("ts")): each for each in raw}
    # A reply that was also sent to the channel is one message, even if it is in the files of two days.
    messages = in_order(_message(each, by_stamp, names) for each in by_stamp.values())
    return Conversation("Slack", title, messages)


def _message(raw: dict[str, Any], by_stamp: Mapping[str, dict[str, Any]], names: Names) -> ChatMessage:
    time, text = epoch(raw.get("ts")), _text(raw, names)
    sender = _sender(raw, names)
    if words(raw.get("subtype")) not in _WRITTEN:
        return ChatMessage(time, None, text if not sender or sender in text else f"{sender} {text}")
    if "attachments" in raw and not text:
        text = "\n\n".join(filter(None, (_attachment(each, names) for each in rows(raw["attachments"]))))
    files = [first(each.get("name"), each.get("title")) for each in (*rows(raw.get("files")), row(raw.get("file")))]
    return ChatMessage(time, sender or "unknown", text, files, notes=list(_notes(raw, by_stamp, names)))


def _sender(raw: dict[str, Any], names: Names) -> str:
    # In exports before 2018, the author of a comment on a file is inside the comment.
    identity = first(raw.get("user"), row(raw.get("comment")).get("user"))
    profile = row(raw.get("user_profile"))
    known = names.get(identity) or first(profile.get("display_name"), profile.get("real_name"))
    is_bot = raw.get("subtype") == "bot_message" or not identity
    bot = first(raw.get("username"), row(raw.get("bot_profile")).get("name")) if is_bot else ""
    return bot or known or first(raw.get("username"), identity, raw.get("bot_id"))


def _text(raw: dict[str, Any], names: Names) -> str:
    return (
        _spelt_out(words(raw.get("text")), names).strip() or _spelt_out(blocks_text(raw.get("blocks")), names).strip()
    )


def _attachment(attachment: dict[str, Any], names: Names) -> str:
    """Return what an app's message shows instead of text."""
    pieces = [words(attachment.get(name)) for name in ("pretext", "title", "text")]
    for shown in rows(attachment.get("fields")):
        pieces.append(": ".join(filter(None, (words(shown.get("title")), words(shown.get("value"))))))
    found = "\n".join(piece for piece in pieces if piece.strip())
    return _spelt_out(found or blocks_text(attachment.get("blocks")) or words(attachment.get("fallback")), names)


def _notes(raw: dict[str, Any], by_stamp: Mapping[str, dict[str, Any]], names: Names) -> Iterator[str]:
    thread = words(raw.get("thread_ts"))
    if thread and thread != raw.get("ts"):
        # The parent may be in another day's file.
        parent = by_stamp.get(thread) or row(raw.get("root")) or {"user": raw.get("parent_user_id")}
        yield reply_note(_sender(parent, names), _text(parent, names))
    if "edited" in raw:
        yield "edited"
    if raw.get("pinned_to"):
        yield "pinned"
    for reaction in rows(raw.get("reactions")):
        who = [names.get(each) or each for each in texts(reaction.get("users"))]
        yield f":{words(reaction.get('name'))}: {counted(who, reaction.get('count'))}"


def blocks_text(blocks: Any) -> str:
    """Return the text of blocks, with references as in a message's text: `<@U1>`, `<https://x.org|page>`."""
    return "\n".join(filter(None, ("".join(_pieces(block, 0)).strip() for block in rows(blocks))))


def _pieces(element: dict[str, Any], depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    text = element.get("text")
    match words(element.get("type")):
        case "link":
            yield f"<{words(element.get('url'))}|{words(text)}>" if text else f"<{words(element.get('url'))}>"
        case "user":
            yield f"<@{words(element.get('user_id'))}>"
        case "channel":
            yield f"<#{words(element.get('channel_id'))}>"
        case "broadcast":
            yield f"@{words(element.get('range'))}"
        case "emoji":
            yield f":{words(element.get('name'))}:"
        case "image":
            yield first(row(element.get("title")).get("text"), element.get("alt_text"))
        case _:
            yield from _inside(element, depth)


def _inside(element: dict[str, Any], depth: int) -> Iterator[str]:
    text = element.get("text")
    yield words(row(text).get("text")) if isinstance(text, dict) else words(text)
    is_list = element.get("type") == "rich_text_list"
    for inner in (*rows(element.get("elements")), *rows(element.get("fields"))):
        yield "\n- " if is_list else ""
        yield from _pieces(inner, depth + 1)
    if element.get("type") in ("rich_text_preformatted", "rich_text_quote", "rich_text_list"):
        yield "\n"


_DAY = re.compile(r"\d{4}-\d\d-\d\d\.json")
_MESSENGER = re.compile(r"message_\d{1,5}\.json")
_SPACE = ["group_info.json", "messages.json"]  # of Google Chat
SLACK_LISTS = frozenset(
    "users.json org_users.json channels.json groups.json dms.json mpims.json integration_logs.json canvases.json "
    "huddle_transcripts.json file_conversations.json".split()
)
"""Files beside the channels' folders that aren't chats."""
_READ_WITH = ("users.json", "channels.json", "groups.json")
SLACK_LIST = "list of a Slack export"


def _bundled(names: Collection[str], names_above: Collection[str]) -> list[str]:
    """Return the names of a folder's files that are one conversation of Slack, Messenger or Google Chat.

    Daily files belong to a channel of Slack only if the folder above has its `users.json`.
    """
    days = sorted(name for name in names if _DAY.fullmatch(name))
    if days:
        return days if "users.json" in names_above else []
    parts = sorted(name for name in names if _MESSENGER.fullmatch(name))
    return parts if len(parts) > 1 else _SPACE if set(_SPACE).issubset(names) else []


def bundle(files: Mapping[str, bytes]) -> bytes:
    """Return the files as JSON for `chats_in_json`; the names of files in the folder above begin with `../`."""
    texts: dict[str, str] = {}
    for name, data in files.items():
        try:
            texts[name] = decode(data, name)
        except UnsupportedSource:
            texts[name] = ""
    return json.dumps({BUNDLE: texts}, ensure_ascii=False).encode("utf-8", "replace")


def in_archive(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """For each folder of an archive that holds a conversation, return the full names of its files by short name."""
    folders: dict[str, set[str]] = {}
    for name in names:
        folder, _, short = name.rpartition("/")
        folders.setdefault(folder, set()).add(short)
    found = {}
    for folder, inside in folders.items():
        upper = folder.rpartition("/")[0]
        above = folders.get(upper, set()) if folder else set()
        if days := _bundled(inside, above):
            own = {short: f"{folder}/{short}".lstrip("/") for short in days}
            # The days of a channel are read with these files of the folder above.
            lists = _READ_WITH if _DAY.fullmatch(days[0]) else ()
            found[folder] = own | {f"../{name}": f"{upper}/{name}".lstrip("/") for name in lists if name in above}
    return found
