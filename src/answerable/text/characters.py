"""Remove characters that encoders, tokenizers, servers and terminals must not receive."""

from __future__ import annotations

import re

LONGEST_ESCAPE = 256

# CSI, OSC and similar sequences (ended by BEL or ST), and escapes of two characters (ECMA-48).
ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    rf"|(?:\x1b[\]P^_X]|[\x9d\x90\x9e\x9f\x98])[^\x07\x1b\x9c]{{0,{LONGEST_ESCAPE - 4}}}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,8}[0-OQ-WYZ\\`-~]"
)
"""A terminal escape sequence."""


def encodable(text: str) -> str:
    """Replace each lone surrogate, which UTF-8 cannot encode, by a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def sendable(text: str) -> str:
    """Replace each lone surrogate by a question mark and each NUL by a space."""
    return encodable(text).replace("\0", " ")


def printable_line(text: str) -> str:
    """Return the text as one line, without terminal escapes and unprintable characters."""
    line = " ".join(ESCAPE.sub("", text).split())
    return "".join(character for character in line if character.isprintable())
