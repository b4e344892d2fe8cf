r"""Find a text in another one, with any white space between its words.

With repeated words, a regular expression with `\s+` between them takes time proportional to the product of both
lengths, and blocks all threads. `str.find` is linear (two-way search, Crochemore and Perrin 1991).
"""

from __future__ import annotations

import re
from itertools import islice

# Characters searched at once, while other threads wait.
_PIECE = 500_000
# How many times longer than its words a span may be, if it crosses the border of two pieces.
_SPREAD = 4

_WORD = re.compile(r"\S+")


def find_words(content: str, text: str, start: int = 0) -> tuple[int, int] | None:
    """Return the first span of `content`, from `start` on, that has the words of `text` with any white space."""
    wanted = " ".join(text.split())
    if not wanted:
        return None
    for begin in range(start, len(content), _PIECE):
        piece = content[begin : begin + _PIECE + _SPREAD * len(wanted)]
        held = " ".join(piece.split())
        found = held.find(wanted)
        if found >= 0:
            return begin + _place(piece, held, found), begin + _place(piece, held, found + len(wanted) - 1) + 1
    return None


def _place(piece: str, held: str, position: int) -> int:
    """Map a position in `held` (the piece with single spaces) to a position in the piece."""
    (word,) = islice(_WORD.finditer(piece), held.count(" ", 0, position), held.count(" ", 0, position) + 1)
    return word.start() + position - (held.rfind(" ", 0, position) + 1)
