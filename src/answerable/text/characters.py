"""Remove characters that encoders, tokenizers, servers and terminals must not receive, and needless white space. Find
words in a text, whatever white space is between them.
"""

from __future__ import annotations

import re
from itertools import islice
from unicodedata import category

LONGEST_ESCAPE = 256  # characters of a terminal escape; a longer match isn't an escape. This bounds the time

# CSI sequences, OSC and similar sequences (ended by BEL or ST), and escapes of two characters (ECMA-48).
ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    rf"|(?:\x1b[\]P^_X]|[\x9d\x90\x9e\x9f\x98])[^\x07\x1b\x9c]{{0,{LONGEST_ESCAPE - 4}}}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,8}[0-OQ-WYZ\\`-~]"
)
"""A terminal escape sequence."""

QUESTION_MARKS = ("?", "？", "؟")
LINE_ENDS = "\f\v\x85\u2028\u2029"
EMOJI = re.compile(r"[#*0-9©®‼⁉™ℹ\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff〰〽㊗㊙\U0001f000-\U0001faff]")
# Characters that are invisible despite their Unicode category: joiners, fillers, variation selectors, empty Braille.
_BLANK = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def is_hidden(character: str) -> bool:
    """Return whether a character is invisible and not white space."""
    if character in "\n\t" or character in LINE_ENDS:
        return False
    if _BLANK.match(character):
        return True
    # A recent emoji may be missing from Python's Unicode tables.
    return category(character) in ("Cc", "Cf", "Cs", "Cn") and not EMOJI.match(character)


def encodable(text: str) -> str:
    """Replace each lone surrogate, which UTF-8 cannot encode, by a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def sendable(text: str) -> str:
    """Replace each lone surrogate by a question mark and each NUL by a space."""
    return encodable(text).replace("\0", " ")


def single_spaced(text: str) -> str:
    """Return the text with each run of white space as one space, and none at its ends."""
    # Fast path: the space is the only white space that `isprintable` accepts.
    return text.strip() if text.isprintable() and "  " not in text else " ".join(text.split())


def printable_line(text: str) -> str:
    """Return the text as one line, without terminal escapes and unprintable characters."""
    line = " ".join(ESCAPE.sub("", text).split())
    return "".join(character for character in line if character.isprintable())


# Characters that one regular-expression search covers; other threads wait meanwhile.
_PIECE = 500_000
# How many times longer than its words a span may be if it crosses the boundary between two pieces.
_SPREAD = 4

_WORD = re.compile(r"\S+")


def find_words(content: str, text: str, start: int = 0) -> tuple[int, int] | None:
    """Return the first span of `content`, from `start` on, with the words of `text` and any white space between."""
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
