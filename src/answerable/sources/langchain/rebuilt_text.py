"""Rebuild a text, and its pages, from its chunks."""

from __future__ import annotations

from collections.abc import Sequence

from answerable.datatypes import Part, PartKind
from answerable.protocols import Span

# A shorter overlap may be accidental.
SURELY_SHARED = 20


def joined(chunks: Sequence[tuple[str, int | None]]) -> tuple[str, list[Span]]:
    """Join chunks, given as (text, page), into one text; return it and the span of each chunk in it.

    A form feed separates pages. Within a page, overlapping text appears once, and a line end separates chunks that
    don't overlap.
    """
    content: list[str] = []
    spans: list[Span] = []
    length = 0
    for number, (text, page) in enumerate(chunks):
        previous, previous_page = chunks[number - 1] if number else ("", page)
        shared = _shared(previous, text) if previous_page == page else 0
        gap = "" if shared or not number else "\n" if previous_page == page else "\f"
        content += (gap, text[shared:])
        start = length + len(gap) - shared
        spans.append((start, start + len(text)))
        length = start + len(text)
    return "".join(content), spans


def _shared(before: str, text: str) -> int:
    """Return how many characters at the end of `before` are the beginning of `text`, but not all of `text`."""
    if len(text) <= SURELY_SHARED:
        return 0
    start = before.find(text[:SURELY_SHARED])
    while start >= 0:
        if len(before) - start < len(text) and text.startswith(before[start:]):
            return len(before) - start
        start = before.find(text[:SURELY_SHARED], start + 1)
    return 0


def page_parts(pages: Sequence[int | None], spans: Sequence[Span]) -> tuple[Part, ...]:
    """Return a part for each run of chunks on one page; none if the page of a chunk is unknown."""
    parts: list[Part] = []
    for page, (start, end) in zip(pages, spans, strict=True):
        if page is None:
            return ()
        # LangChain counts from 0.
        if parts and parts[-1].page == page + 1:
            start, end = parts[-1].start, max(end, parts.pop().end)
        parts.append(Part(start, end, PartKind.PAGE, page=page + 1))
    return tuple(parts)
