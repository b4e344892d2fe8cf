"""A page → chunks: windows over one tokenisation of the whole page, in the vocabulary cl100k_base."""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Iterator

from answerable.errors import MissingPackage
from book.models import ContentChunk, ContentPage, Heading

VOCABULARY = "cl100k_base"
FEWEST, MOST = 500, 1000
_NOWHERE = Heading("")

_log = logging.getLogger("book")


def chunk_content(page: ContentPage, target_tokens: int = 750, overlap_tokens: int = 100) -> list[ContentChunk]:
    """The chunks of a page, each of `target_tokens` tokens, the last of what is left.

    Neighbours share exactly `overlap_tokens` tokens of the page; a character that a window's end would cut apart goes
    to the text that begins there. Raises ValueError for numbers out of bounds, MissingPackage where tokens can't be
    counted.
    """
    if not FEWEST <= target_tokens <= MOST:
        raise ValueError(f"target_tokens is {target_tokens}: it must be from {FEWEST} to {MOST}")
    if not 0 <= overlap_tokens < target_tokens:
        raise ValueError(f"overlap_tokens is {overlap_tokens}: it must be at least 0 and below target_tokens")
    headings = sorted((each for each in page.headings if isinstance(each, Heading)), key=lambda each: each.start)
    starts = [heading.start for heading in headings]
    chunks = []
    for index, (start, end, tokens) in enumerate(_windows(page.content, target_tokens, overlap_tokens)):
        text = page.content[start:end]
        # The blank lines before a heading say nothing of the section above it.
        begins = start + len(text) - len(text.lstrip())
        place = bisect_right(starts, begins)
        heading = headings[place - 1] if place else _NOWHERE
        chunks.append(ContentChunk(page.url, page.title, index, text, tokens, str(heading), heading.anchor))
        _log.debug("%s, chunk %d: %d tokens under %r", page.url, index, tokens, str(heading))
    return chunks


def _windows(text: str, size: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    """Start and end of each window in characters, and its tokens."""
    try:
        from toktok import truncate
    except ImportError as error:
        raise MissingPackage(
            "Counting tokens needs the package toktok-rs (Python 3.11 or later): pip install toktok-rs"
        ) from error
    total = truncate(text, 1, VOCABULARY)[1]
    first = 0
    while first < total:
        last = min(first + size, total)
        # Of a text cut behind so many tokens only whole characters are kept.
        start, end = (len(truncate(text, tokens, VOCABULARY)[0]) if tokens else 0 for tokens in (first, last))
        yield start, end, last - first
        first = total if last == total else last - overlap
