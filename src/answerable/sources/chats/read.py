"""Exports of chats → Documents, recognised by their shape whatever the file is called; [] or None for anything else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Document
from answerable.errors import DamagedSource
from answerable.sources.chats.conversation import Conversation, document_of, documents_of
from answerable.sources.chats.fields import row
from answerable.sources.formats import BUNDLE

if TYPE_CHECKING:
    from answerable.sources.context import ReadContext

# One of these is in every export; looking for them spares other JSON a second parse.
_WORDS = (f'"{BUNDLE}"', *(f'"{word}"' for word in "messages mapping chat_messages ts MessageList sender body".split()))
# Two words that only one app's export has together: if the JSON can't be read, it is a damaged export.
_PAIRS = (
    ('"date_unixtime"', '"from_id"'),
    ('"sender_name"', '"timestamp_ms"'),
    ('"current_node"', '"mapping"'),
    ('"chat_messages"', '"sender"'),
    ('"guild"', '"channel"'),
    ('"client_msg_id"', '"ts"'),
)
_LOOKED_AT = 20_000


def chats_in_json(content: str, source: str) -> list[Document]:
    """Return the documents in JSON or JSON lines. Raise DamagedSource for an export that is cut off."""
    if content.lstrip()[:1] not in ("{", "[") or not any(word in content for word in _WORDS):
        return []
    try:
        exported = _parsed(content)
    except (ValueError, RecursionError) as error:
        start = content[:_LOOKED_AT]
        if any(one in start and other in start for one, other in _PAIRS):
            raise DamagedSource(
                f"{source} is a chat export that is cut off or damaged ({str(error)[:100]}): export the chat again"
            ) from error
        return []
    conversations, is_one = _conversations(exported, source)
    return documents_of(conversations, source, is_one)


def _parsed(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        lines = [line for line in content.split("\n") if line.strip()]
        if len(lines) < 2 or not lines[0].rstrip().endswith("}"):
            raise
        return [json.loads(line) for line in lines]


def _conversations(exported: Any, source: str) -> tuple[list[Conversation], bool]:
    """Return the conversations, and whether the file is of one only."""
    from answerable.sources.chats import assistants, discord, messenger, signal, slack, teams, telegram

    if BUNDLE in row(exported):
        return [_bundled(exported, source)], True
    if telegram.is_telegram(exported):
        return telegram.read_telegram(exported), telegram.is_single(exported)
    if discord.is_discord(exported):
        return [discord.read_discord(exported)], True
    if messenger.is_messenger(exported):
        return [messenger.read_messenger([exported], source)], True
    if slack.is_slack(exported):
        return [slack.read_slack(exported, _channel(source))], True
    if assistants.is_chatgpt(exported):
        return assistants.read_chatgpt(exported), "mapping" in row(exported)
    if assistants.is_claude(exported):
        return assistants.read_claude(exported), "chat_messages" in row(exported)
    if teams.is_teams(exported):
        found = teams.read_teams(exported)
        return found, len(found) == 1 and "conversations" not in row(exported)
    if signal.is_signal_rows(exported):
        return [signal.read_signal_rows(exported)], True
    return [], False


def _bundled(exported: Any, source: str) -> Conversation:
    """Return the conversation in a bundle: a channel of Slack, or a thread of Messenger."""
    from answerable.sources.chats import messenger, slack

    files: Mapping[str, Any] = {name: _lenient(text) for name, text in row(exported[BUNDLE]).items()}
    if any(name.startswith("message_") for name in files):
        return messenger.read_messenger([files[name] for name in sorted(files)], source)
    beside = {name: value for name, value in files.items() if name.startswith("../")}
    channels = [each for name in ("channels", "groups") for each in _list(beside.get(f"../{name}.json"))]
    workspace = slack.Workspace.of(beside.get("../users.json"), channels)
    days = [each for name in sorted(files.keys() - beside.keys()) for each in _list(files[name])]
    return slack.read_slack(days, PurePosixPath(source.rpartition("!/")[2]).name, workspace)


def _lenient(text: Any) -> Any:
    """Return parsed JSON, or None: a damaged day doesn't spoil a channel."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _channel(source: str) -> str:
    """Return the channel and the day of a daily file: `general 2024-01-05`."""
    path = PurePosixPath(source.rpartition("!/")[2])
    return f"{path.parent.name} {path.stem}".strip()


def chat_in_text(content: str, source: str) -> Document | None:
    """Return the document in plain text, or None."""
    from answerable.sources.chats import discord_text, imessage

    if discord_text.is_discord_text(content):
        return _named(discord_text.read_discord_text(content), source)
    return _named(imessage.read_imessage(content), source) if imessage.is_imessage(content) else None


def read_markdown_or_chat(content: str, source: str) -> Document:
    """Return Signal's chat in Markdown, or any other Markdown as `read_markdown` does. Raise EmptySource."""
    from answerable.sources.chats.signal import is_signal, read_signal
    from answerable.sources.markdown import read_markdown

    chat = _named(read_signal(content), source) if is_signal(content) else None
    return chat or read_markdown(content, source)


def read_records_or_chats(content: str, source: str) -> Document | list[Document]:
    """Return the chats in JSON or CSV, or other records as `read_records` does.

    Raise EmptySource, and DamagedSource for an export of chats that is cut off.
    """
    from answerable.sources.chats.discord import CSV_HEADER, read_discord_csv
    from answerable.sources.tables.read import read_records

    if chats := chats_in_json(content, source):
        return chats
    is_discord = content.partition("\n")[0].replace('"', "").strip() == CSV_HEADER
    chat = _named(read_discord_csv(content), source) if is_discord else None
    return chat or read_records(content, source)


def _named(conversation: Conversation, source: str) -> Document | None:
    """Return a conversation as a document, or None without a message."""
    is_empty = not any(each.sender is not None for each in conversation.messages)
    return None if is_empty else document_of(conversation, source)


def read_chat_page(data: bytes, source: str, context: ReadContext) -> Document:
    """Return the conversation on a page, or any other page as a page."""
    from answerable.sources.chats.pages import page_conversation
    from answerable.sources.html.parse import parse_page, valid_markup
    from answerable.sources.html.read import read_saved

    conversation = page_conversation(parse_page(valid_markup(data, source)))
    document = _named(conversation, source) if conversation else None
    return document or read_saved(data, source, context)
