"""Filling chunks with whole pieces: rows of a table, functions of a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def pack(starts: Sequence[int], size: int) -> Iterator[tuple[int, int]]:
    """Spans of as many whole pieces as fit in `size`, at least one; each piece goes from one start to the next."""
    first = 0
    while first < len(starts) - 1:
        last = first + 1
        while last < len(starts) - 1 and starts[last + 1] - starts[first] <= size:
            last += 1
        yield starts[first], starts[last]
        first = last
