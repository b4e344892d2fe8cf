"""Tell greetings, thanks and questions about the assistant from questions to the documents."""

from __future__ import annotations

from functools import cache

from answerable.answering.word_lists import word_lists
from answerable.text.claims import Kind, find_claims
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import terms


def is_small_talk(message: str) -> bool:
    """Return whether all words of a message are greetings, courtesies or words on the conversation itself."""
    return any((said := set(terms(message, language))) and said <= _courtesies(language) for language in STOP_WORDS)


def claims_nothing_exact(text: str, language: str) -> bool:
    """Return whether a text has no numbers, dates and addresses."""
    return not any(claim.is_sure and claim.kind is not Kind.NAME for claim in find_claims(text, language))


@cache
def _courtesies(language: str) -> frozenset[str]:
    return frozenset(terms(word_lists("small_talk")[language], language))
