"""The spans of a chunk that can be quoted as an answer: sentences, in chats those of each message."""

from __future__ import annotations

import re

from answerable.analysis.sentences import sentence_spans
from answerable.datatypes import Chunk, PartKind

_FURNITURE = re.compile(r"#{1,6}\s[^\n]*|[-*_=|:\s]+|(?:```|~~~|:::)[^\n]*")


def evidence_spans(chunk: Chunk, language: str) -> tuple[tuple[int, int], ...]:
    """Start and end within `chunk.content`, in order, of every sentence.

    Headings, rules and the marks around code say nothing by themselves; chat headers and notices aren't said by anybody.
    """
    messages = [part for part in chunk.parts if part.kind in (PartKind.MESSAGE, PartKind.NOTICE)]
    if not messages:
        spans = sentence_spans(chunk.content, language)
        return tuple(span for span in spans if not _FURNITURE.fullmatch(chunk.content, *span))
    spans = []
    for part in messages:
        if part.kind is PartKind.NOTICE:
            continue
        start = max(part.start if part.body is None else part.body, chunk.start) - chunk.start
        end = min(part.end, chunk.end) - chunk.start
        spans += [(start + first, start + last) for first, last in sentence_spans(chunk.content[start:end], language)]
    return tuple(spans)
