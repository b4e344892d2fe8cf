"""Forms of a word that count as the same word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from answerable.text.terms import fold, terms, words
from answerable.text.word_lists import LANGUAGES

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def spoken(name: str) -> str:
    """Return the name of a column in words: "paid by" for `paid_by` and `paidBy`."""
    return _HUMP.sub(" ", name.replace("_", " "))


@lru_cache(maxsize=50_000)
def stems(word: str) -> frozenset[str]:
    """Return the stems of a word in each language, and the word itself, without accents."""
    plain = fold(word.lower())
    return frozenset({plain, *(stem for language in LANGUAGES for stem in terms(plain, language))})


def stems_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the stems of all words of these texts."""
    return frozenset[str]().union(*(stems(word) for text in texts for word in words(text)))
