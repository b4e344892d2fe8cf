"""Tell greetings, thanks and questions about the assistant from questions to the documents."""

from __future__ import annotations

import re
from functools import cache

from answerable.answering.follow_up_detection import asks_to_go_on
from answerable.answering.question_words import listed, pattern
from answerable.answering.word_lists import word_lists
from answerable.text.claims import Kind, find_claims
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import fold, words


def is_small_talk(message: str) -> bool:
    """Return whether a message only greets, thanks, asks for help, or asks about the assistant."""
    return bool(small_talk_language(message))


def small_talk_language(message: str, likely: str = "", is_first: bool = False) -> str:
    """Return the language of a message that asks nothing of the documents, the `likely` one if several have its words.

    Return "" for any other message: "hello, when is the rent due?" is a question. In the first message of all "this"
    is the assistant.
    """
    if asks_to_go_on(message):
        return ""
    text = fold(" ".join(words(message)))
    languages = sorted(STOP_WORDS, key=lambda one: one != likely)
    return next((one for one in languages if _is_small_talk(text, "?" in message, one, is_first)), "")


def claims_nothing_exact(text: str, language: str) -> bool:
    """Return whether a text has no numbers, dates and addresses."""
    return not any(claim.is_sure and claim.kind is not Kind.NAME for claim in find_claims(text, language))


def _is_small_talk(text: str, is_question: bool, language: str, is_first: bool) -> bool:
    rules = "en" if language == "en" else "es"
    rest = " ".join(_courtesies(language).sub(" ", text).split())
    said = set(rest.split())
    addressing = _words(language, "addressed") | (_words(language, "this") if is_first else frozenset())
    if addressed := said & addressing:
        # "Can you do it?" is about what was said before.
        said -= addressed
        return said <= _words(language, "about") | _stop_words(language) - _pronouns(rules)
    # "ok, and before that"
    goes_on = rest[match.end() :] if (match := pattern("connector", rules).match(rest)) else ""
    asks = bool(rest) and (is_question or goes_on or not said.isdisjoint(listed("interrogatives", rules)))
    return rest != text and not asks and said <= _words(language, "about") | _stop_words(language)


@cache
def _courtesies(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{word_lists('small_talk')[language]['courtesies']})\b", re.VERBOSE)


@cache
def _words(language: str, name: str) -> frozenset[str]:
    return frozenset(word_lists("small_talk")[language][name].split())


@cache
def _stop_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, STOP_WORDS[language]))


@cache
def _pronouns(rules: str) -> frozenset[str]:
    return frozenset(map(fold, listed("pronouns", rules)))
