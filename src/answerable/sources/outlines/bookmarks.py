"""Bookmarks exported by a browser (Netscape's format) → Document: a list by folders, with addresses, days and tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timezone
from html import unescape

from answerable.datatypes import Document
from answerable.sources.outlines.nodes import Node, outline, plain_lines

# Each kind of piece begins with its own character, and none crosses the next tag.
_TAG = re.compile(r"<(/?)(dl|dt|dd|h1|h3|a|title)\b((?:[^<>\"]|\"[^\"<]*\")*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w-]+)=\"([^\"<]*)\"")
_MOST_LINES = 100
_UNREAD = ("javascript:", "place:", "data:", "about:")


def read_bookmarks(content: str, source: str) -> Document:
    """Return a document with a part for each bookmark and folder. Raise EmptySource."""
    title = re.search(r"<h1[^<>]*>([^<]{1,500})", content, re.IGNORECASE)
    name = " ".join(unescape(title[1]).split()) if title else ""
    return outline(_nodes(content), source, name, {})


def _nodes(content: str) -> Iterator[Node]:
    depth = 0
    waiting: Node | None = None
    tags = list(_TAG.finditer(content))
    for number, tag in enumerate(tags):
        closes, name = bool(tag[1]), tag[2].lower()
        if name == "dl":
            depth = max(depth + (-1 if closes else 1), 0)
        end = tags[number + 1].start() if number + 1 < len(tags) else len(content)
        if closes or name not in ("a", "h3", "dd"):
            continue
        lines = plain_lines(content[tag.end() : end])
        if name == "dd":
            if waiting and len(waiting.more) < _MOST_LINES:
                waiting = waiting._replace(more=(*waiting.more, *lines))
            continue
        if waiting:
            yield waiting
        waiting = _node(depth, name, lines, dict(_attributes(tag[3])))
    if waiting:
        yield waiting


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    return ((found[1].lower(), unescape(found[2]).strip()) for found in _ATTRIBUTE.finditer(text))


def _node(depth: int, name: str, lines: list[str], attributes: dict[str, str]) -> Node | None:
    """Return the node of a bookmark or a folder; None for a program or a query of the browser."""
    text = " ".join(lines)
    if name == "h3":
        return Node(depth, text) if text else None
    address = " ".join(attributes.get("href", "").split())
    if not address or address.lower().startswith(_UNREAD):
        return None
    facts = [address]
    if added := _day(attributes.get("add_date", "")):
        facts.append(f"added {added}")
    if tags := attributes.get("tags", ""):
        facts.append(f"tags: {', '.join(filter(None, map(str.strip, tags.split(','))))}")
    return Node(depth, f"{text} ({', '.join(facts)})" if text else address)


def _day(seconds: str) -> str:
    """Return the day of a time in seconds since 1970, or in the microseconds of some browsers."""
    if not seconds.isascii() or not seconds.isdecimal() or len(seconds) > 17:
        return ""
    number = int(seconds)
    while number > 1e11:
        number //= 1000
    return f"{datetime.fromtimestamp(number, timezone.utc):%Y-%m-%d}" if number else ""
