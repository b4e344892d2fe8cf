"""Chunk → the text that is embedded and searched by keyword, and the spans in it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise

from answerable.datatypes import Chunk

_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")
_LINE = re.compile(r"[^\s](?:[^\n]*[^\s])?")

Piece = tuple[str, int, int]


def indexed_text(chunk: Chunk) -> str:
    """Return the context line and the content.

    For PDFs: without running heads, with table rows as Markdown, and with hyphenated words joined.
    """
    return f"{chunk.context}\n{indexed_content(chunk)}" if chunk.context else indexed_content(chunk)


def indexed_content(chunk: Chunk) -> str:
    """Return the content as it is indexed, without the context line."""
    if not _has_pages(chunk):
        return chunk.content
    return "".join(glue + chunk.content[start:end] for glue, start, end in _content_pieces(chunk))


def indexed_spans(chunk: Chunk, spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Map spans of the content to `indexed_text`; a span that is not indexed becomes empty."""
    context = len(chunk.context) + 1 if chunk.context else 0
    if not _has_pages(chunk):
        # Nothing is left out, and nothing put between.
        size = len(chunk.content)
        firsts = ((min(max(start, 0), size), min(end, size)) for start, end in spans)
        return tuple((context + first, context + max(first, end)) for first, end in firsts)
    pieces = [("\n" * context, 0, 0), *_content_pieces(chunk)]
    starts = [start for _, start, _ in pieces]
    places = list(accumulate(len(glue) + end - start for glue, start, end in pieces))

    def place(offset: int, number: int) -> int:
        _, start, end = pieces[max(number, 0)]
        return places[max(number, 0)] - end + min(max(offset, start), end)

    firsts = ((place(start, bisect_right(starts, start) - 1), end) for start, end in spans)
    return tuple((first, max(first, place(end, bisect_left(starts, end) - 1))) for first, end in firsts)


def _has_pages(chunk: Chunk) -> bool:
    return any(part.page is not None for part in chunk.parts)


def _content_pieces(chunk: Chunk) -> list[Piece]:
    """Return the indexed spans of the content, in order, each with the text to put before it."""
    pieces = _pdf_pieces(chunk)
    return pieces if any(start < end for _, start, end in pieces) else [("", 0, len(chunk.content))]


def _pdf_pieces(chunk: Chunk) -> list[Piece]:
    pieces: list[Piece] = []
    glue = ""
    reached = 0
    for part in chunk.parts:
        start, end = max(part.start - chunk.start, 0), min(part.end, chunk.end) - chunk.start
        if start > reached and pieces and not glue and not chunk.content[reached - 1].isspace():
            glue = "\n"
        cuts = [cell - chunk.start for cell in part.cells if start < cell - chunk.start < end]
        if part.cells:
            pieces += _row_pieces(chunk.content, glue, [start, *cuts, end])
        else:
            pieces += _whole_words(chunk.content, glue, start, end)
        glue = " |\n" if part.cells else ""
        reached = end
    return [*pieces, (glue.rstrip(), reached, reached)] if glue else pieces


def _row_pieces(content: str, glue: str, cuts: list[int]) -> Iterator[Piece]:
    glue += "| "
    for start, end in pairwise(cuts):
        for line in _LINE.finditer(content, start, end):
            yield glue, *line.span()
            glue = " "
        glue = " | " if glue == " " else f"{glue} | "


def _whole_words(content: str, glue: str, start: int, end: int) -> Iterator[Piece]:
    for broken in _BROKEN_WORD.finditer(content, start, end):
        if content[broken.end()].islower():
            yield glue, start, broken.start()
            glue, start = "", broken.end()
    yield glue, start, end
