"""Chat exports → Documents, recognised by their content whatever the file is called; [] or None for anything else.

This module also reads conversations with ChatGPT and Claude (`conversations.json`), whose times are UTC.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Document
from answerable.errors import DamagedSource
from answerable.formats.marks import BUNDLE
from answerable.sources.chats.conversation import ChatMessage, Conversation, documents_of, file_name
from answerable.sources.exported import epoch, first, moment, row, rows, words

if TYPE_CHECKING:
    from answerable.sources.context import ReadContext

# Every chat export contains one of these words: searching for them first saves parsing other JSON twice.
_WORDS = (f'"{BUNDLE}"', *(f'"{word}"' for word in "messages mapping chat_messages ts".split()))
# A file with one of these words that isn't valid JSON is a damaged export.
_OF_AN_EXPORT = re.compile('"(?:date_unixtime|timestamp_ms|current_node|chat_messages|timestampEdited|client_msg_id)"')


def chats_in_json(content: str, source: str) -> list[Document]:
    """Return the chats in JSON as documents. Raise DamagedSource for an export that is cut off."""
    if content.lstrip()[:1] not in ("{", "[") or not any(word in content for word in _WORDS):
        return []
    try:
        exported = json.loads(content)
    except (ValueError, RecursionError) as error:
        # Several objects one after the other are records.
        if _OF_AN_EXPORT.search(content, 0, 20_000) and not str(error).startswith("Extra data"):
            raise DamagedSource(
                f"{source} is a chat export that is cut off or damaged ({str(error)[:100]}): export the chat again"
            ) from error
        return []
    return documents_of(_conversations(exported, source), source)


def _conversations(exported: Any, source: str) -> Conversation | list[Conversation] | None:
    """Return the conversation of a file that can hold only one, otherwise the conversations; None if it has none."""
    from answerable.sources.chats import communities, messengers, slack

    if BUNDLE in row(exported):
        return _bundled(exported, source)
    if messengers.is_messenger(exported):
        return messengers.read_messenger([exported], source)
    if slack.is_slack(exported):
        return slack.read_slack(exported, _channel(source), {})
    apps = (communities.read_telegram, communities.read_discord, communities.read_google_chat, read_assistant)
    return next((found for read in apps if (found := read(exported)) is not None), None)


def _bundled(exported: Any, source: str) -> Conversation | None:
    """Return the conversation in a bundle: a channel of Slack, a space of Google Chat, or a thread of Messenger."""
    from answerable.sources.chats import communities, messengers, slack

    files: Mapping[str, Any] = {name: _lenient(text) for name, text in row(exported[BUNDLE]).items()}
    if any(name.startswith("message_") for name in files):
        return messengers.read_messenger([files[name] for name in sorted(files)], source)
    if "group_info.json" in files:
        return communities.read_google_chat(files["messages.json"], files["group_info.json"])
    beside = {name: value for name, value in files.items() if name.startswith("../")}
    channels = [each for name in ("channels", "groups") for each in rows(beside.get(f"../{name}.json"))]
    names = slack.names_of(beside.get("../users.json"), channels)
    days = [each for name in sorted(files.keys() - beside.keys()) for each in rows(files[name])]
    return slack.read_slack(days, PurePosixPath(source.rpartition("!/")[2]).name, names)


def _lenient(text: Any) -> Any:
    """Return parsed JSON, or None if it is damaged, so that a channel is read without a damaged day."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _channel(source: str) -> str:
    """Return the channel and the day of a daily file: `general 2024-01-05`."""
    path = PurePosixPath(source.rpartition("!/")[2])
    return f"{path.parent.name} {path.stem}".strip()


def read_plain(content: str, source: str) -> Document | list[Document]:
    """Return chats or Kindle's clippings, or read other text as `read_text` does.

    Raise EmptySource, and DamagedSource for damaged chats.
    """
    from answerable.sources.chats import messengers
    from answerable.sources.markup.outlines import read_clippings
    from answerable.sources.text import read_text
    from answerable.sources.whatsapp.read import is_chat, read_chat

    found = messengers.read_line(content) or messengers.read_imessage(content)
    if chats := documents_of(found, source) if found else chats_in_json(content, source):
        return chats
    if clippings := read_clippings(content, source):
        return clippings
    return read_chat(content, source) if is_chat(content) else read_text(content, source)


def read_markdown_or_chat(content: str, source: str) -> Document:
    """Return Signal's chat in Markdown, or any other Markdown as `read_markdown` does. Raise EmptySource."""
    from answerable.sources.chats.messengers import read_signal
    from answerable.sources.markdown import read_markdown

    chats = documents_of(read_signal(content), source)
    return chats[0] if chats else read_markdown(content, source)


def read_chat_page(data: bytes, source: str, context: ReadContext) -> Document:
    """Return the conversation on a page, or any other page as `read_saved` does."""
    from answerable.sources.chats.pages import page_conversation
    from answerable.sources.html.parse import parse_page, valid_markup
    from answerable.sources.html.read import read_saved

    chats = documents_of(page_conversation(parse_page(valid_markup(data, source))), source)
    return chats[0] if chats else read_saved(data, source, context)


_NAMES = {"user": "User", "human": "User"}
# Types of content that models write for themselves or for their tools; what users see has other types.
_HIDDEN = frozenset(
    {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context", "app_pairing_content"}
)


def read_assistant(exported: Any) -> Conversation | list[Conversation] | None:
    """Return the conversations; those of ChatGPT along the branch that was current at the time of the export."""
    listed = exported if isinstance(exported, list) else row(exported).get("conversations")
    whole = rows(listed) if isinstance(listed, list) else [row(exported)]
    # ChatGPT's messages are nodes of a tree.
    nodes = [node for each in whole[:20] for node in list(row(each.get("mapping")).values())[:5]]
    said = [message for each in whole[:20] for message in rows(each.get("chat_messages"))[:5]]
    is_claude = bool(said) and all("sender" in each for each in said)
    if not (is_claude or any("message" in row(node) for node in nodes)):
        return None
    found = []
    for each in whole:
        app, messages = ("ChatGPT", _branch_messages) if "mapping" in each else ("Claude", _claude_messages)
        found.append(Conversation(app, first(each.get("name"), each.get("title")), list(messages(each))))
        if each is exported:
            return found[0]
    return found


def _branch_messages(conversation: dict[str, Any]) -> Iterator[ChatMessage]:
    time = epoch(conversation.get("create_time"))
    for node in _branch(conversation):
        raw = row(node.get("message"))
        time = epoch(raw.get("create_time")) or time
        message = _chatgpt_message(raw, time) if raw else None
        if message is not None:
            yield message


def _branch(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes from the root to the current one."""
    nodes = {name: node for name, node in row(conversation.get("mapping")).items() if isinstance(node, dict)}
    if not any(isinstance(node.get("parent"), str) for node in nodes.values()):
        return list(nodes.values())
    current = conversation.get("current_node")
    name: Any = current if isinstance(current, str) and current in nodes else next(reversed(nodes))
    branch: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(name, str) and name in nodes and name not in seen:
        seen.add(name)
        branch.append(nodes[name])
        name = nodes[name].get("parent")
    return branch[::-1]


def _chatgpt_message(raw: dict[str, Any], time: datetime | None) -> ChatMessage | None:
    """Return a message, a notice for the use of a tool, or None for a message that users don't see."""
    author, content, metadata = row(raw.get("author")), row(raw.get("content")), row(raw.get("metadata"))
    role, kind = words(author.get("role")), words(content.get("content_type"))
    if role == "system" or kind in _HIDDEN or metadata.get("is_visually_hidden_from_conversation") is True:
        return None
    text, media = _content(content)
    recipient = words(raw.get("recipient")) or "all"
    if role == "tool" or recipient != "all":
        what = f"ChatGPT to {recipient}" if role != "tool" else first(author.get("name")) or "tool"
        return ChatMessage(time, None, f"{what}: {text[:1_000]}") if text.strip() else None
    files = [first(each.get("name")) for each in rows(metadata.get("attachments"))]
    files = list(filter(None, files))
    if not (text.strip() or media or files):
        return None
    return ChatMessage(time, _NAMES.get(role, "ChatGPT"), text, files, [] if files else media)


def _content(content: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the text of a message's content, and the kinds of media in it."""
    pieces, media = [], []
    for part in content["parts"] if isinstance(content.get("parts"), list) else [content.get("text")]:
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part, dict):
            pieces.append(words(part.get("text")))
            kind = words(part.get("content_type"))
            media += ["image"] if "image" in kind else ["video"] if "video" in kind else []
    return "\n".join(piece for piece in pieces if piece.strip()) or words(content.get("result")), media


def _claude_messages(conversation: dict[str, Any]) -> Iterator[ChatMessage]:
    time = moment(conversation.get("created_at"))[0]
    for raw in rows(conversation.get("chat_messages")):
        time = moment(raw.get("created_at"))[0] or time
        said = [words(each.get("text")) for each in rows(raw.get("content")) if each.get("type") == "text"]
        text = "\n\n".join(filter(None, said)) or words(raw.get("text"))
        named = (*rows(raw.get("attachments")), *rows(raw.get("files")), *rows(raw.get("files_v2")))
        files = list(dict.fromkeys(filter(None, (file_name(each.get("file_name")) for each in named))))
        if text.strip() or files:
            yield ChatMessage(time, _NAMES.get(words(raw.get("sender")), "Claude"), text, files)
