"""Where a text stands in another one, whatever the white space between its words.

A regular expression with `\\s+` between the words takes the product of both lengths where words repeat, and no other
thread runs meanwhile. `str.find` takes their sum (two-way search, Crochemore and Perrin 1991).
"""

from __future__ import annotations

import re
from itertools import islice

# Characters that are looked through at once: other threads wait for no more.
_PIECE = 500_000
# How much longer than the words a span may be, so that one over the border of two pieces is found.
_SPREAD = 4

_WORD = re.compile(r"\S+")


def find_words(content: str, text: str, start: int = 0) -> tuple[int, int] | None:
    """The first span of `content`, from `start` on, with the words of `text` and any white space between them."""
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
    """Where the character of `held` at a position, no space, stands in the piece that `held` has the words of."""
    (word,) = islice(_WORD.finditer(piece), held.count(" ", 0, position), held.count(" ", 0, position) + 1)
    return word.start() + position - (held.rfind(" ", 0, position) + 1)
