"""Chunks in order → the text that they were cut from, as far as they tell it, and its pages."""

from __future__ import annotations

from collections.abc import Sequence

from answerable.datatypes import Part, PartKind

# Fewer characters that two neighbours share may do so by accident.
SURELY_SHARED = 20


def joined(texts: Sequence[tuple[str, int | None]]) -> tuple[str, list[tuple[int, int]]]:
    """One text made of chunks, each given with its page, and where each stands in it, verbatim.

    Between pages stands a form feed. Within one, what a chunk repeats of the one before stands there once; where it
    repeats nothing for sure, a line end stands between the two.
    """
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    before: tuple[str, int | None] | None = None
    for text, page in texts:
        shared = 0
        if before is not None:
            shared = _shared(before[0], text) if before[1] == page else 0
            gap = "" if shared else "\n" if before[1] == page else "\f"
            pieces.append(gap)
            length += len(gap)
        pieces.append(text[shared:])
        spans.append((length - shared, length - shared + len(text)))
        length += len(text) - shared
        before = text, page
    return "".join(pieces), spans


def _shared(before: str, text: str) -> int:
    """How many characters the end of a text has in common with the beginning of the next one, less than it all."""
    if len(text) <= SURELY_SHARED:
        return 0
    start = before.find(text[:SURELY_SHARED])
    while start >= 0:
        if len(before) - start < len(text) and text.startswith(before[start:]):
            return len(before) - start
        start = before.find(text[:SURELY_SHARED], start + 1)
    return 0


def page_parts(pages: Sequence[int | None], spans: Sequence[tuple[int, int]]) -> tuple[Part, ...]:
    """A part for each run of chunks of the same page; none where a chunk tells no page."""
    parts: list[Part] = []
    for page, (start, end) in zip(pages, spans, strict=True):
        if page is None:
            return ()
        # LangChain counts from 0.
        if parts and parts[-1].page == page + 1:
            start, end = parts[-1].start, max(end, parts.pop().end)
        parts.append(Part(start, end, PartKind.PAGE, page=page + 1))
    return tuple(parts)
