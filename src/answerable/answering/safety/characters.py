"""Remove invisible characters, control characters and terminal escapes from prompts.

A search for a quote in a document must ignore the characters removed here; see `text.characters.is_hidden`.
"""

from __future__ import annotations

import re

from answerable.text.characters import EMOJI, ESCAPE, LINE_ENDS, is_hidden

_OPENER = re.compile(r"[\x1b\x90\x98\x9b\x9d-\x9f]")
_SELECTORS = "\ufe0e\ufe0f"
_JOINER = "\u200d"
# Scripts that need joiners: Arabic and related scripts, scripts of India.
_JOINING = re.compile(r"[\u0600-\u08ff\u0900-\u0dff]")
_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    """Return the text without hidden characters and terminal escapes.

    Selectors and joiners stay in emoji, and in scripts that need them. Unusual line ends become line feeds.
    """
    kept: list[str] = []
    for character in ESCAPE.sub("", text):
        if character in LINE_ENDS:
            kept.append("\n")
        elif not _OPENER.match(character) and (not is_hidden(character) or _belongs(character, kept[-1:])):
            kept.append(character)
    return "".join(kept)


def _belongs(character: str, before: list[str]) -> bool:
    """Return whether a character changes the shape of the one before."""
    last = "".join(before)
    if character in _SELECTORS:
        return EMOJI.match(last) is not None
    if character == _JOINER and (last == "\ufe0f" or EMOJI.match(last)):
        return not last.isascii()
    return character in _JOINERS and _JOINING.match(last) is not None
