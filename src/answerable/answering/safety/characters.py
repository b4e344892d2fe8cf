"""Text without what a reader can't see: invisible characters, control characters, terminal escapes.

Both ways: what a model is given holds no hidden instructions, what a model wrote holds nothing for a terminal or for
the next model. Whoever looks for a quote in a document should leave the same characters out of account (`is_hidden`).
"""

from __future__ import annotations

import re
from unicodedata import category

from answerable.text.characters import ESCAPE, LONGEST_ESCAPE

_OPENER = re.compile(r"[\x1b\x90\x98\x9b\x9d-\x9f]")
_LINE_ENDS = "\f\v\x85\u2028\u2029"
# Shown as nothing though no category says so: joiners, fillers, selectors of variants, the empty Braille cell.
_BLANK = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_EMOJI = re.compile(r"[#*0-9©®‼⁉™ℹ\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff〰〽㊗㊙\U0001f000-\U0001faff]")
_SELECTORS = "\ufe0e\ufe0f"
_JOINER = "\u200d"
# Scripts that spell with joiners: Arabic and its like, those of India.
_JOINING = re.compile(r"[\u0600-\u08ff\u0900-\u0dff]")
_JOINERS = "\u200c\u200d"


def is_hidden(character: str) -> bool:
    """Whether a character shows nothing and is no white space."""
    if character in "\n\t" or character in _LINE_ENDS:
        return False
    if _BLANK.match(character):
        return True
    # An emoji can be younger than this Python's tables.
    return category(character) in ("Cc", "Cf", "Cs", "Cn") and not _EMOJI.match(character)


class VisibleText:
    """Takes hidden characters out of a text that comes in pieces; how it is cut makes no difference.

    Kept are an emoji's own selector and joiner, and the joiners of scripts that spell with them. Unusual line ends
    become line feeds.
    """

    def __init__(self) -> None:
        self._held = ""
        self._last = ""

    def feed(self, text: str, is_final: bool = False) -> str:
        """What can be said of the text so far, less what was said before. Never longer than what came in."""
        text = self._held + text
        kept, position = [], 0
        while position < len(text):
            if _OPENER.match(text, position):
                escape = ESCAPE.match(text, position)
                if escape is None and not is_final and len(text) - position < LONGEST_ESCAPE:
                    break
                position = escape.end() if escape else position + 1
                continue
            kept.append(self._seen(text[position]))
            position += 1
        self._held = text[position:]
        return "".join(kept)

    def _seen(self, character: str) -> str:
        if character in _LINE_ENDS:
            character = "\n"
        elif is_hidden(character) and not self._belongs(character):
            return ""
        self._last = character
        return character

    def _belongs(self, character: str) -> bool:
        """Whether it shapes what stands before it."""
        if character in _SELECTORS:
            return _EMOJI.match(self._last) is not None
        if character == _JOINER and (self._last == "\ufe0f" or _EMOJI.match(self._last)):
            return not self._last.isascii()
        return character in _JOINERS and _JOINING.match(self._last) is not None


def visible(text: str) -> str:
    """The text without hidden characters and terminal escapes."""
    return VisibleText().feed(text, is_final=True)
