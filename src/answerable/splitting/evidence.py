"""Find the spans of a chunk that can be quoted as an answer: sentences, rows of tables, statements of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from answerable.datatypes import Chunk, Part, PartKind
from answerable.protocols import Span
from answerable.splitting.make_chunks import trim
from answerable.splitting.statements import statement_spans
from answerable.text.sentences import is_furniture, sentence_spans


def evidence_spans(chunk: Chunk, language: str) -> tuple[Span, ...]:
    """Return start and end within `chunk.content` of every sentence, row of a table or statement of code, in order.

    Headings, rules, code fences, and the headers and notices of chats are no evidence.
    """
    kinds = {part.kind for part in chunk.parts}
    if PartKind.RECORD in kinds:
        return tuple(_within(part, chunk) for part in chunk.parts)
    if PartKind.SYMBOL in kinds:
        return tuple(statement_spans(chunk.content))
    messages = [part for part in chunk.parts if part.kind in (PartKind.MESSAGE, PartKind.NOTICE)]
    if not messages:
        in_parts = any(part.page is not None or part.body is not None for part in chunk.parts)
        return tuple(_part_spans(chunk, language) if in_parts else _sentences(chunk.content, 0, language))
    spans = []
    for part in messages:
        if part.kind is PartKind.NOTICE:
            continue
        start = max(part.start if part.body is None else part.body, chunk.start) - chunk.start
        end = min(part.end, chunk.end) - chunk.start
        spans += [(start + first, start + last) for first, last in sentence_spans(chunk.content[start:end], language)]
    return tuple(spans)


def _part_spans(chunk: Chunk, language: str) -> Iterator[Span]:
    """Yield rows of a PDF's tables, statements of a notebook's code, and sentences of the text in the other parts."""
    runs: list[tuple[int, int, _Unit]] = []
    for part in chunk.parts:
        start, end = _within(part, chunk)
        start = _after_heading(part, chunk, start, end)
        unit = _unit(part)
        if runs and runs[-1][1] == start and unit is runs[-1][2] is _Unit.SENTENCE:
            start = runs.pop()[0]
        runs.append((start, end, unit))
    for start, end, unit in runs:
        if unit is _Unit.ROW:
            row = trim(chunk.content, start, end)
            if not is_furniture(chunk.content, *row):
                yield row
        elif unit is _Unit.STATEMENT:
            yield from ((start + first, start + last) for first, last in statement_spans(chunk.content[start:end]))
        else:
            yield from _sentences(chunk.content[start:end], start, language)


def _sentences(text: str, shift: int, language: str) -> Iterator[Span]:
    """Yield the sentences of a text that begins at `shift`, without furniture."""
    for start, end in sentence_spans(text, language):
        if not is_furniture(text, start, end):
            yield shift + start, shift + end


class _Unit(Enum):
    """What of a part is quoted: all of it, or its sentences or statements."""

    ROW = "row"
    SENTENCE = "sentence"
    STATEMENT = "statement"


def _unit(part: Part) -> _Unit:
    if part.cells:
        return _Unit.ROW
    return _Unit.STATEMENT if part.kind is PartKind.CELL and part.body is not None else _Unit.SENTENCE


def _after_heading(part: Part, chunk: Chunk, start: int, end: int) -> int:
    """Return where a part's text continues after the heading that it may begin with."""
    if part.body is not None:
        return min(max(start, part.body - chunk.start), end)
    if not part.headings:
        return start
    heading = re.compile(r"\s*" + r"\s+".join(map(re.escape, part.headings[-1].split())) + r"\s*(?:\n|$)")
    found = heading.match(chunk.content, start, end)
    return found.end() if found else start


def _within(part: Part, chunk: Chunk) -> Span:
    return max(part.start, chunk.start) - chunk.start, min(part.end, chunk.end) - chunk.start
