"""Chunks of a chat: windows of whole messages that belong to one conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from statistics import median

from answerable.datatypes import Chunk, Document, Part
from answerable.splitting.chunks import make_chunks
from answerable.splitting.recursive import RecursiveSplitter

# A reply may wait for the morning.
SILENCE = timedelta(hours=12)
USUAL = 10


class ChatSplitter:
    """Windows of `window_size` messages, neighbours sharing `window_overlap`, none longer than `within` allows.

    A window ends at a long silence, across which nothing is shared: more than twelve hours, and more than ten times
    what usually passes between two messages of this chat, so that one who writes once a day isn't cut to pieces. A
    message that is too long for itself is cut by `within`. Raises ValueError when the numbers make no sense.
    """

    def __init__(self, within: RecursiveSplitter, window_size: int = 30, window_overlap: int = 10) -> None:
        if window_size < 1 or not 0 <= window_overlap < window_size:
            raise ValueError(
                f"window_size is {window_size} and window_overlap {window_overlap}: "
                "overlap must be at least 0 and below the other"
            )
        self._within = within
        self.window_size = window_size
        self.window_overlap = window_overlap

    def split(self, document: Document) -> list[Chunk]:
        """Chunks in order that cover everything but white space."""
        return make_chunks(document, self._spans(document))

    def _spans(self, document: Document) -> Iterator[tuple[int, int]]:
        parts, size = document.parts, self._within.chunk_size
        if not parts:
            yield from self._within.spans(document.content, 0, len(document.content))
            return
        # What stands between two messages belongs to the first: the windows leave nothing out.
        starts = [0, *(part.start for part in parts[1:]), len(document.content)]
        first = 0
        for end in _conversation_ends(parts):
            while first < end:
                last = first + 1
                while last < end and last - first < self.window_size and starts[last + 1] - starts[first] <= size:
                    last += 1
                yield from self._within.spans(document.content, starts[first], starts[last])
                if last == end:
                    break
                # The overlap shrinks with a window that long messages made short, and leaves room for the next
                # message: every window brings something new.
                first = last - self.window_overlap * (last - first) // self.window_size
                while first < last and starts[last + 1] - starts[first] > size:
                    first += 1
            first = end


def _conversation_ends(parts: Sequence[Part]) -> Iterator[int]:
    """The index behind the last message of each conversation."""
    gaps = [
        abs((after.time - before.time).total_seconds()) if after.time and before.time else 0.0
        for before, after in pairwise(parts)
    ]
    longest = max(SILENCE.total_seconds(), USUAL * median(gaps)) if gaps else 0.0
    yield from (index for index, gap in enumerate(gaps, 1) if gap > longest)
    yield len(parts)
