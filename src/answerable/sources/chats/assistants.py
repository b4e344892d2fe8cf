"""Conversations with ChatGPT and Claude (`conversations.json`). Times are UTC."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from answerable.sources.chats.conversation import ChatMessage, Conversation
from answerable.sources.chats.fields import epoch, file_name, first, moment, row, rows, words

_USER = "User"
_NAMES = {"user": _USER, "human": _USER}
_LONGEST_NOTICE = 1_000
# What the models say to themselves or to their tools; the texts of the conversation are of other types.
_HIDDEN = frozenset(
    {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context", "app_pairing_content"}
)


def is_chatgpt(exported: Any) -> bool:
    """Whether parsed JSON is ChatGPT's: conversations whose messages are nodes of a tree."""
    some = _conversations(exported, "mapping")[:20]
    return (
        bool(some)
        and all(isinstance(each.get("mapping"), dict) for each in some)
        and any(
            isinstance(node, dict) and "message" in node for each in some for node in list(each["mapping"].values())[:5]
        )
    )


def is_claude(exported: Any) -> bool:
    """Whether parsed JSON is Claude's."""
    some = _conversations(exported, "chat_messages")[:20]
    messages = [message for each in some for message in rows(each.get("chat_messages"))[:5]]
    return bool(messages) and all("sender" in each for each in messages)


def _conversations(exported: Any, name: str) -> list[dict[str, Any]]:
    listed = exported if isinstance(exported, list) else row(exported).get("conversations")
    return [each for each in (rows(listed) if isinstance(listed, list) else [row(exported)]) if name in each]


def read_chatgpt(exported: Any) -> list[Conversation]:
    """Return the conversations, each along the branch that was current when it was exported."""
    return [
        Conversation("ChatGPT", first(each.get("title")), list(_spoken(each)))
        for each in _conversations(exported, "mapping")
    ]


def _spoken(conversation: dict[str, Any]) -> Iterator[ChatMessage]:
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
    name: Any = current if isinstance(current, str) and current in nodes else _latest(nodes)
    branch: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(name, str) and name in nodes and name not in seen:
        seen.add(name)
        branch.append(nodes[name])
        name = nodes[name].get("parent")
    return branch[::-1]


def _latest(nodes: dict[str, dict[str, Any]]) -> str:
    """Return the last of the latest nodes that no other continues."""
    parents = {node["parent"] for node in nodes.values() if isinstance(node.get("parent"), str)}
    leaves = [name for name in nodes if name not in parents] or list(nodes)

    def made(name: str) -> datetime:
        return epoch(row(nodes[name].get("message")).get("create_time")) or datetime.min

    return max(reversed(leaves), key=made)


def _chatgpt_message(raw: dict[str, Any], time: datetime | None) -> ChatMessage | None:
    """Return a message, a notice for the use of a tool, or None for what isn't shown."""
    author, content, metadata = row(raw.get("author")), row(raw.get("content")), row(raw.get("metadata"))
    role, kind = words(author.get("role")), words(content.get("content_type"))
    if role == "system" or kind in _HIDDEN or metadata.get("is_visually_hidden_from_conversation") is True:
        return None
    text, media = _content(content)
    recipient = words(raw.get("recipient")) or "all"
    if role == "tool" or recipient != "all":
        what = f"ChatGPT to {recipient}" if role != "tool" else first(author.get("name")) or "tool"
        return ChatMessage(time, None, f"{what}: {text[:_LONGEST_NOTICE]}") if text.strip() else None
    files = [first(each.get("name")) for each in rows(metadata.get("attachments"))]
    files = list(filter(None, files))
    if not (text.strip() or media or files):
        return None
    return ChatMessage(time, _NAMES.get(role, "ChatGPT"), text, files, [] if files else media)


def _content(content: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the text, and the kinds of media in it."""
    pieces, media = [], []
    for part in content["parts"] if isinstance(content.get("parts"), list) else [content.get("text")]:
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part, dict):
            pieces.append(words(part.get("text")))
            kind = words(part.get("content_type"))
            media += ["image"] if "image" in kind else ["video"] if "video" in kind else []
    return "\n".join(piece for piece in pieces if piece.strip()) or words(content.get("result")), media


def read_claude(exported: Any) -> list[Conversation]:
    """Return the conversations of Claude's export."""
    return [
        Conversation("Claude", first(each.get("name"), each.get("title")), [*_claude_messages(each)])
        for each in _conversations(exported, "chat_messages")
    ]


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
