"""Compare the words of an answer with those of the expected answers, normalised as in SQuAD.

Normalised text is in lower case, without punctuation and articles, with single spaces (Rajpurkar et al. 2016,
arXiv:1606.05250). Each language has its own articles, as in Lewis et al. 2020 (arXiv:1910.07475). In scripts without
spaces each character counts as a word.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from answerable.text.word_lists import read_toml

_ARTICLES = read_toml(Path(__file__).with_name("words.toml"))["articles"]
ARTICLES = {language: frozenset(words.split()) for language, words in _ARTICLES.items()}
# In these languages an apostrophe separates article and noun; in others it is dropped.
_ELIDING = ("fr", "it")
_APOSTROPHES = str.maketrans("'’", "  ")
_UNSEPARATED = ((0x0E00, 0x0EFF), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))


def tokens(text: str, language: str) -> list[str]:
    """Return the words without articles, or all words if there are only articles."""
    plain = unicodedata.normalize("NFC", text).lower()
    if language in _ELIDING:
        plain = plain.translate(_APOSTROPHES)
    found = "".join(map(_spread, plain)).split()
    articles = ARTICLES.get(language, frozenset())
    return [token for token in found if token not in articles] or found


def holds(text: str, expected: Iterable[str], language: str) -> bool:
    """Return whether the text contains one of the expected answers, word for word."""
    said = tokens(text, language)
    return any(_stands_in(tokens(each, language), said) for each in expected)


def token_f1(text: str, expected: Iterable[str], language: str) -> float:
    """Return the F1 of the words (harmonic mean of precision and recall) for the best expected answer."""
    said = Counter(tokens(text, language))
    return max((_f1(said, Counter(tokens(each, language))) for each in expected), default=0.0)


def _f1(said: Counter[str], wanted: Counter[str]) -> float:
    shared = (said & wanted).total()
    return 2 * shared / (said.total() + wanted.total()) if shared else 0.0


def _stands_in(wanted: Sequence[str], said: Sequence[str]) -> bool:
    width = len(wanted)
    return width > 0 and any(said[start : start + width] == wanted for start in range(len(said) - width + 1))


def _spread(character: str) -> str:
    """Return "" for punctuation, and a character of a script without spaces with a space on each side."""
    if any(first <= ord(character) <= last for first, last in _UNSEPARATED):
        return f" {character} "
    category = unicodedata.category(character)
    return "" if category[0] == "P" or character in "$+<=>^`|~" else character
