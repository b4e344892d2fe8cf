"""Drop repeated results: overlapping windows and copies of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from answerable.datatypes import Chunk, RetrievalResult
from answerable.text.places import text_hash

OVERLAP = 0.5


def drop_repeats(
    results: Iterable[RetrievalResult], text_of: Callable[[Chunk], str] = text_hash
) -> list[RetrievalResult]:
    """Drop results that mostly overlap a better one or repeat its text."""
    kept: list[RetrievalResult] = []
    seen: set[str] = set()
    for result in results:
        text = text_of(result.chunk)
        if text in seen or any(_overlaps(result, better) for better in kept):
            continue
        seen.add(text)
        kept.append(result)
    return kept


def _overlaps(one: RetrievalResult, other: RetrievalResult) -> bool:
    if one.document.id != other.document.id:
        return False
    shared = min(one.chunk.end, other.chunk.end) - max(one.chunk.start, other.chunk.start)
    return shared > OVERLAP * min(len(one.chunk.content), len(other.chunk.content))
