"""HTML pages of Telegram → conversations; messages keep their anchors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from answerable.sources.chats.conversation import (
    LOCAL,
    UTC,
    ChatMessage,
    Conversation,
    file_name,
    read_stamp,
    reply_note,
)
from answerable.sources.exported import one_line
from answerable.tables.values import DayOrder

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_BLOCKS = frozenset({"br", "div", "p", "li", "tr", "hr"})


def page_conversation(page: LexborHTMLParser) -> Conversation | None:
    """Return the conversation on a page, or None if the page isn't an export."""
    if page.css_first(".page_wrap .history") is None:
        return None
    title = page.css_first(".page_header .text")
    zones: set[str] = set()
    messages: list[ChatMessage] = []
    sender = ""
    by_anchor: dict[str, ChatMessage] = {}
    for node in page.css(".history > .message"):
        anchor = node.attributes.get("id") or None
        if "service" in (node.attributes.get("class") or "").split():
            last = messages[-1].time if messages else None
            text = shown(node.css_first(".body"))
            if not (anchor or "").startswith("message-"):
                messages.append(ChatMessage(last, None, text, anchor=anchor))
            continue
        sender = _text(node, ".body > .from_name") or sender
        message = _telegram_message(node, sender, anchor, zones, by_anchor)
        if anchor:
            by_anchor[anchor] = message
        messages.append(message)
    zone = f"UTC{zones.pop()}" if len(zones) == 1 else LOCAL
    return Conversation("Telegram", shown(title), messages, UTC if zone == "UTC+00:00" else zone)


def shown(node: LexborNode | None) -> str:
    """Return the text of an element with a line end for each block and break."""
    if node is None:
        return ""
    pieces = []
    for each in node.traverse(include_text=True):
        if each.tag == "-text":
            pieces.append(each.text_content or "")
        elif each.tag in _BLOCKS:
            pieces.append("\n")
    lines = (line.strip() for line in "".join(pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _text(node: LexborNode, selector: str) -> str:
    found = node.css_first(selector)
    return one_line(shown(found), 200) if found is not None else ""


def _telegram_message(
    node: LexborNode, sender: str, anchor: str | None, zones: set[str], by_anchor: dict[str, ChatMessage]
) -> ChatMessage:
    date = node.css_first(".body > .date")
    # "01.03.2024 09:05:10 UTC+01:00"
    stamp, _, zone = ((date.attributes.get("title") or "") if date is not None else "").partition(" UTC")
    zones.update(filter(None, [zone]))
    time = read_stamp(stamp, DayOrder.DAY_FIRST)
    forwarded = node.css_first(".forwarded.body")
    inner = forwarded if forwarded is not None else node
    texts = [shown(each) for each in inner.css(":not([class*=reaction]) > .text")]
    files = [file_name(each.attributes.get("href")) for each in inner.css(".media_wrap a[href]")]
    media = [] if files else [_text(each, ".title").lower() or "media" for each in inner.css(".media_wrap .media")]
    notes = []
    if reply := node.css_first(".reply_to a[href]"):
        target = by_anchor.get((reply.attributes.get("href") or "").rpartition("#go_to_")[2])
        notes.append(reply_note(target.sender or "", target.text) if target else reply_note("", ""))
    if forwarded is not None:
        notes.append(f"forwarded from {_text(forwarded, '.from_name')}")
    notes += [one_line(shown(each), 60) for each in node.css(".reactions .reaction")]
    sender = sender or "Deleted Account"
    return ChatMessage(time, sender, "\n".join(texts), files, media, notes, anchor)
