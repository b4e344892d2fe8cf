"""Words and passages in a text, whatever marks of Markdown stand around them."""

from __future__ import annotations

import re
from collections import Counter

_MARK = re.compile(r"\]\([^()\s]*(?:\s\"[^\"]*\")?\)|[*_`\\\[\]]")
_GAP = re.compile(r"[\s|>#]+")
_WORD = re.compile(r"\w+")
_SAME = str.maketrans("‘’“”", "''\"\"")


def share(expected: str, found: Counter[str]) -> float:
    """How many of the expected words are found, of 1, each as often as it is expected."""
    wanted = words(expected)
    return (wanted & found).total() / max(wanted.total(), 1)


def words(text: str) -> Counter[str]:
    """The words of a text, in lower case."""
    return Counter(_WORD.findall(text.lower()))


def passages(text: str, wanted: str) -> list[tuple[int, int]]:
    """Where the wanted words stand in a text, next to each other."""
    folded, places = _folded(text)
    needle = _folded(wanted)[0].strip()
    found = re.finditer(rf"(?<!\w){re.escape(needle)}(?!\w)", folded)
    return [(places[match.start()], places[match.end() - 1] + 1) for match in found]


def _folded(text: str) -> tuple[str, list[int]]:
    """The text without marks, in lower case, each gap a space, and where each of its characters was."""
    folded: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(text):
        if mark := _MARK.match(text, at):
            at = mark.end()
            continue
        gap = _GAP.match(text, at)
        letter = " " if gap else text[at].translate(_SAME).lower()
        if not (gap and folded[-1:] == [" "]):
            folded += letter
            places += [at] * len(letter)
        at = gap.end() if gap else at + 1
    return "".join(folded), places
