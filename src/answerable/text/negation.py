"""Find the words of a text that negate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from answerable.text.claim_words import claim_words, shared_words
from answerable.text.terms import fold

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")


def folded_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text with start and end: in lower case, without most accents and apostrophes."""
    for match in _WORD.finditer(text):
        yield fold(match[0].lower()).replace("'", "").replace("’", ""), *match.span()


def negations(text: str, language: str) -> list[str]:
    """Return the words that negate; "not only" negates nothing."""
    known = claim_words(language).negations
    words = [word for word, _, _ in folded_words(text)]
    pairs = zip_longest(words, words[1:], fillvalue="")
    return [word for word, after in pairs if word in known and after not in shared_words("only")]
