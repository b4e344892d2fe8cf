"""Chunks of a chat: windows of whole messages that belong to one conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from statistics import median

from answerable.datatypes import Chunk, Document, Part
from answerable.protocols import Span
from answerable.splitting.make_chunks import check_sizes
from answerable.splitting.recursive import RecursiveSplitter

# A reply may wait until the morning.
SILENCE = timedelta(hours=12).total_seconds()
USUAL = 10


class ChatSplitter:
    """Windows of `window_size` messages that overlap by `window_overlap`, in chunks that fit the splitter `within`.

    A window ends at a long silence, without overlap: more than 12 hours, and more than 10 times the median gap between
    messages, so that a chat of one message a day stays together. `within` also cuts messages that are too long. Raises
    ValueError for invalid numbers.
    """

    def __init__(self, within: RecursiveSplitter, window_size: int = 30, window_overlap: int = 10) -> None:
        check_sizes(window_size=window_size, window_overlap=window_overlap)
        self._within = within
        self.window_size = window_size
        self.window_overlap = window_overlap

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        return self._within.chunks(document, self._windows(document))

    def _windows(self, document: Document) -> Iterator[Span]:
        parts, size = document.parts, self._within.chunk_size
        if not parts:
            yield 0, len(document.content)
            return
        # Text between two messages belongs to the first, so that the windows cover everything.
        starts = [0, *(part.start for part in parts[1:]), len(document.content)]
        first = 0
        for end in _conversation_ends(parts):
            while first < end:
                last = first + 1
                while last < end and last - first < self.window_size and starts[last + 1] - starts[first] <= size:
                    last += 1
                yield starts[first], starts[last]
                if last == end:
                    break
                # In a window with few long messages the overlap is smaller. It leaves room for the next message, so
                # that every window has a new one.
                first = last - self.window_overlap * (last - first) // self.window_size
                while first < last and starts[last + 1] - starts[first] > size:
                    first += 1
            first = end


def _conversation_ends(parts: Sequence[Part]) -> Iterator[int]:
    """Yield the index after the last message of each conversation."""
    gaps = [
        abs((after.time - before.time).total_seconds()) if after.time and before.time else 0.0
        for before, after in pairwise(parts)
    ]
    longest = max(SILENCE, USUAL * median(gaps)) if gaps else 0.0
    yield from (index for index, gap in enumerate(gaps, 1) if gap > longest)
    yield len(parts)
