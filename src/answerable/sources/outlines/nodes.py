"""Nodes of a tree → Document: an indented list, with a part for each node under the path of those above it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import NamedTuple

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import EmptySource
from answerable.sources.text import stem

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_BREAK = re.compile(r"<(?:br|/p|/div|/li)\s*/?>", re.IGNORECASE)
_DEEPEST = 8
_LONGEST_STEP = 200


class Node(NamedTuple):
    """A node: how many are above it, its text, and the lines that belong to it. One without a text is left out."""

    depth: int
    text: str
    more: tuple[str, ...] = ()


def outline(nodes: Iterable[Node], source: str, title: str, metadata: dict[str, str]) -> Document:
    """Return the document of these nodes in their order. Raise EmptySource if none has a text."""
    pieces: list[str] = []
    parts: list[Part] = []
    path: list[Node] = []
    top = (title[:_LONGEST_STEP],) if title else ()
    length = 0
    for node in nodes:
        while path and path[-1].depth >= node.depth:
            path.pop()
        if not node.text:
            continue
        indent = "  " * min(len(path), _DEEPEST)
        marker = f"{indent}- "
        text = f"\n{indent}  ".join((node.text, *node.more))
        headings = (*top, *(each.text[:_LONGEST_STEP] for each in path[-_DEEPEST:]))
        start = length + len(marker)
        parts.append(Part(start, start + len(text), PartKind.RECORD, headings=headings))
        pieces.append(f"{marker}{text}\n")
        length += len(pieces[-1])
        path.append(node)
    content = "".join(pieces)
    if not parts:
        raise EmptySource(f"{source} has no entry with a text: export it again, or leave it out")
    return Document(
        document_id(source, content),
        content,
        source,
        title or stem(source),
        DocumentType.OUTLINE,
        metadata=metadata,
        parts=tuple(parts),
    )


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text that may hold HTML, without tags and blank lines."""
    text = _BREAK.sub("\n", text) if "<" in text else text
    text = _TAG.sub("", text) if "<" in text else text
    lines = (" ".join(line.split()) for line in unescape(text).split("\n"))
    return [line for line in lines if line]
