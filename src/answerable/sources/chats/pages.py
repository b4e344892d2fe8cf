"""HTML pages of Telegram and DiscordChatExporter → conversations; messages keep their anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from answerable.sources.chats.communities import channel_title
from answerable.sources.chats.conversation import (
    LOCAL,
    UTC,
    ChatMessage,
    Conversation,
    file_name,
    read_stamp,
    read_stamps,
    reply_note,
)
from answerable.sources.exported import one_line
from answerable.tables.values import DayOrder

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NUMBERED = re.compile(r"messages\d*\.html?$")
_BLOCKS = frozenset({"br", "div", "p", "li", "tr", "hr"})


def page_conversation(page: LexborHTMLParser) -> Conversation | None:
    """Return the conversation on a page, or None if the page isn't one of these exports."""
    if page.css_first(".page_wrap .history") is not None:
        return _telegram(page)
    if page.css_first(".chatlog") is not None:
        return _discord(page)
    return None


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


def _telegram(page: LexborHTMLParser) -> Conversation:
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
    texts = [shown(each) for each in inner.css(".text") if not _is_reaction(each)]
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


def _is_reaction(node: LexborNode) -> bool:
    return "reaction" in (node.parent.attributes.get("class") or "") if node.parent is not None else False


def _discord(page: LexborHTMLParser) -> Conversation:
    names = [shown(each) for each in page.css(".preamble__entry")]
    channel = names[1].rpartition("/")[2].strip() if len(names) > 1 else ""
    title = channel_title(names[0] if names else "", channel)
    found = list(_discord_nodes(page))
    times = read_stamps([stamp for _, _, stamp, _ in found])
    messages: list[ChatMessage] = []
    last: datetime | None = None
    for (node, sender, _, clock), time in zip(found, times, strict=True):
        last = time or _after(last, clock)
        messages.append(_discord_message(node, sender, last))
    return Conversation("Discord", title, messages, LOCAL)


def _discord_nodes(page: LexborHTMLParser) -> Iterator[tuple[LexborNode, str | None, str, str]]:
    """Yield each message's element, sender (None for a notice), date and time, and time of day; "" if missing."""
    sender = ""
    for node in page.css(".chatlog__message-container"):
        # Only the first message of a group names its author.
        author = node.css_first(".chatlog__author, .chatlog__author-name")
        sender = one_line(shown(author), 160) if author is not None else sender
        is_notice = node.css_first(".chatlog__system-notification-content") is not None
        stamp = _text(node, ".chatlog__timestamp, .chatlog__system-notification-timestamp")
        yield node, None if is_notice else sender or "unknown", stamp, _text(node, ".chatlog__short-timestamp")


def _after(last: datetime | None, clock: str) -> datetime | None:
    """Return this time of day on the day of the previous message, or on the next day if that would be earlier."""
    time = read_stamp(f"{last:%Y-%m-%d} {clock}") if last else None
    if last is None or time is None:
        return last
    return time if time >= last.replace(second=0) else time + timedelta(days=1)


def _discord_message(node: LexborNode, sender: str | None, time: datetime | None) -> ChatMessage:
    anchor = node.attributes.get("id") or None
    if sender is None:
        who = _text(node, ".chatlog__system-notification-author")
        return ChatMessage(time, None, f"{who} {_text(node, '.chatlog__system-notification-content')}", anchor=anchor)
    notes = []
    if reply := node.css_first(".chatlog__reply"):
        notes.append(reply_note(_text(reply, ".chatlog__reply-author"), _text(reply, ".chatlog__reply-link")))
    if node.css_first(".chatlog__edited-timestamp") is not None:
        notes.append("edited")
    notes += [
        f"{_alt(each)} {_text(each, '.chatlog__reaction-count')}"
        for each in node.css(".chatlog__reactions .chatlog__reaction")
    ]
    content = node.css_first(".chatlog__content .chatlog__markdown-preserve")
    forwarded = node.css_first(".chatlog__forwarded-content .chatlog__markdown-preserve")
    notes += ["forwarded"] if forwarded is not None else []
    texts = [shown(content), shown(forwarded)]
    texts = texts if any(texts) else [shown(each) for each in node.css(".chatlog__embed-text")]
    links = node.css(
        ".chatlog__attachment a[href], .chatlog__attachment-media[src], .chatlog__attachment-media source[src]"
    )
    files = [file_name(each.attributes.get("href") or each.attributes.get("src")) for each in links]
    return ChatMessage(time, sender, "\n".join(filter(None, texts)), list(dict.fromkeys(files)), [], notes, anchor)


def _alt(node: LexborNode) -> str:
    image = node.css_first("img")
    return (image.attributes.get("alt") or "") if image is not None else ""
