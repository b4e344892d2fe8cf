"""Remove invisible characters, control characters and terminal escapes from prompts and from model output.

A search for a quote in a document must ignore the characters removed here; see `text.characters.is_hidden`.
"""

from __future__ import annotations

import re

from answerable.text.characters import EMOJI, ESCAPE, LINE_ENDS, LONGEST_ESCAPE, is_hidden

_OPENER = re.compile(r"[\x1b\x90\x98\x9b\x9d-\x9f]")
_SELECTORS = "\ufe0e\ufe0f"
_JOINER = "\u200d"
# Scripts that need joiners: Arabic and related scripts, scripts of India.
_JOINING = re.compile(r"[\u0600-\u08ff\u0900-\u0dff]")
_JOINERS = "\u200c\u200d"


class VisibleText:
    """A filter that removes hidden characters from a stream; the result doesn't depend on how the stream is cut.

    Selectors and joiners stay in emoji, and in scripts that need them. Unusual line ends become line feeds.
    """

    def __init__(self) -> None:
        self._held = ""
        self._last = ""

    def feed(self, text: str, is_final: bool = False) -> str:
        """Return the text that is now final and wasn't returned before."""
        text = self._held + text
        kept, position = [], 0
        while position < len(text):
            if _OPENER.match(text, position):
                escape = ESCAPE.match(text, position)
                if escape is None and not is_final and len(text) - position < LONGEST_ESCAPE:
                    break
                position = escape.end() if escape else position + 1
                continue
            kept.append(self._shown(text[position]))
            position += 1
        self._held = text[position:]
        return "".join(kept)

    def _shown(self, character: str) -> str:
        if character in LINE_ENDS:
            character = "\n"
        elif is_hidden(character) and not self._belongs(character):
            return ""
        self._last = character
        return character

    def _belongs(self, character: str) -> bool:
        """Return whether a character changes the shape of the previous character."""
        if character in _SELECTORS:
            return EMOJI.match(self._last) is not None
        if character == _JOINER and (self._last == "\ufe0f" or EMOJI.match(self._last)):
            return not self._last.isascii()
        return character in _JOINERS and _JOINING.match(self._last) is not None


def visible(text: str) -> str:
    """Return the text without hidden characters and terminal escapes."""
    return VisibleText().feed(text, is_final=True)
