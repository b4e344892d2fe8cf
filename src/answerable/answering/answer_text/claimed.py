"""Find what a statement claims about the documents, and tell claims from courtesies, refusals and lead-ins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from answerable.answering.answer_text.statements import Statement
from answerable.answering.phrases import REFUSAL
from answerable.answering.small_talk import claims_nothing_exact
from answerable.answering.word_lists import word_lists
from answerable.text.negation import negations
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import terms, words

FRAMES = 4
_MARKUP = re.compile(r"\*\*+|__+|`+|(?<!\w)[*_](?=\w)|(?<=[\w.,!?;:)])[*_](?!\w)|^\s*\||\|\s*$")
_BARS = re.compile(r"\s*\|\s*")


def claimed(body: str) -> str:
    """Return what a statement claims, without mark-up and without frames such as "Yes," or "According to the text,"."""
    text = _BARS.sub(", ", _MARKUP.sub("", body)).strip()
    for _ in range(FRAMES):
        found = max((match.end() for frame in _frames() if (match := frame.match(text))), default=0)
        if not found or not text[found:].strip():
            break
        text = text[found:].lstrip()
    return text[:1].upper() + text[1:]


def courtesy(body: str, language: str) -> str:
    """Return what claims nothing of the documents: `refusal`, `lead-in`, or `yes or no` alone; "" for a claim."""
    plain = _plain(body)
    if not plain or plain in _REFUSALS:
        return "refusal" if plain else "lead-in"
    if plain in _polarities():
        return "yes or no"
    for spoken in dict.fromkeys((language, *STOP_WORDS)):
        said = terms(body, spoken)
        is_about_it = spoken in STOP_WORDS and said and about_the_answer(spoken).issuperset(said)
        if is_about_it and claims_nothing_exact(body, spoken):
            return "refusal" if negations(body, spoken) else "lead-in"
    return ""


def lead_ins(statements: Sequence[Statement]) -> Iterator[str]:
    """Yield for each statement the lead-in of its list, without its colon; "" outside of lists."""
    lead_in = ""
    for statement in statements:
        lead_in = lead_in if statement.prefix.strip() else ""
        yield lead_in
        text = statement.body.rstrip(" *_")
        if text.endswith(":"):
            lead_in = claimed(text[:-1])


@cache
def about_the_answer(language: str) -> frozenset[str]:
    """Return the stems of words on the answer itself."""
    lists = word_lists("answers")
    return frozenset(terms((lists.get(language) or lists["en"])["about_the_answer"], language))


def _plain(text: str) -> str:
    return " ".join(words(text))


_REFUSALS = frozenset(_plain(sentence) for sentence in REFUSAL.values())


@cache
def _frames() -> tuple[re.Pattern[str], ...]:
    patterns = (lists["frames"].replace("SOURCES", lists["sources"]) for lists in word_lists("answers").values())
    return tuple(re.compile(pattern, re.VERBOSE | re.IGNORECASE) for pattern in patterns)


@cache
def _polarities() -> frozenset[str]:
    return frozenset(word for lists in word_lists("answers").values() for word in lists["polarity"].split())
