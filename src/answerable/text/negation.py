"""Find the words of a text that negate, and tell whether a quote leaves one out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest

from answerable.text.claim_words import claim_words, shared_words
from answerable.text.terms import fold

BEFORE = 60
NEAR = 3

_CLAUSE_END = re.compile(r"[.;:!?]")
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


def loses_negation(text: str, quote: Sequence[tuple[int, int]], around: str, language: str) -> bool:
    """Return whether a negation precedes a quote or stands between its spans, and none is in the text `around` it."""
    before = text[max(quote[0][0] - BEFORE, 0) : quote[0][0]]
    clause = " ".join(_CLAUSE_END.split(before)[-1].split()[-NEAR:])
    gaps = [text[one[1] : other[0]] for one, other in pairwise(quote)]
    return any(negations(gap, language) for gap in (clause, *gaps)) and not negations(around, language)
