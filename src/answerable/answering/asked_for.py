"""Find out whether a question asks for a date, a number or a person, and whether a sentence contains one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache, lru_cache

from answerable.answering.evidence import Sentence
from answerable.answering.rows import shown_row
from answerable.answering.word_lists import word_lists
from answerable.text.terms import fold, words

_CONJUNCTIONS = ("when", "cuando", "quando")
_OTHER_QUESTION = re.compile(r"\b(?:what|which|how|why|where|que|cual(?:es)?|como|donde|por\ ?que|onde|qual|quais)\b")
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)(?<!\n)\b[^\W\d_]\w+")
_NUMERAL = re.compile(r"\d|^[ivxlc]{2,}$")
_DATE = re.compile(r"\b1[0-9]{3}\b|\b20[0-9]{2}\b|\b\d{1,2}[:/.h]\d{2}|\b\d{1,2}[/-]\d{1,2}")


CONFIDENT = 0.8
SHORTEST_STEM = 5


class Kind(str, Enum):
    """The kinds of answers that a question may ask for."""

    DATE = "date"
    NUMBER = "number"
    PERSON = "person"


@lru_cache(maxsize=16)
def asked_for(question: str) -> Kind | None:
    """Return the kind of answer that a question asks for, in English, Spanish or Portuguese; otherwise None.

    "When" after another question word introduces a condition ("What should I do when the light is red?") and doesn't
    ask for a date.
    """
    text = fold(question.lower())
    found = [(match.start(), kind, match[0]) for kind in Kind if (match := _pattern(kind.value).search(text))]
    if not found:
        return None
    start, kind, asking = min(found)
    return None if asking in _CONJUNCTIONS and _OTHER_QUESTION.search(text, 0, start) else kind


def offers(sentence: Sentence, kind: Kind, question: str) -> bool:
    """Return whether a sentence contains a date, number or person (`kind`) that the question doesn't contain.

    A chat message always counts as containing a person and a date: its sender and its time.
    """
    if sentence.message is not None and kind is not Kind.NUMBER:
        return True
    asked = set(words(question))
    if kind is Kind.PERSON:
        names = (match[0] for match in _NAME.finditer(sentence.text))
        return any(name[0].isupper() and name.lower() not in asked for name in names)
    fresh = [fold(word) for word in words(sentence.text) if word not in asked]
    if kind is Kind.NUMBER:
        return any(word in _words("numbers") or _NUMERAL.search(word) for word in fresh)
    return any(word in _words("dates") for word in fresh) or any(
        match[0].lower() not in asked for match in _DATE.finditer(sentence.text)
    )


def lack_what_is_asked(question: str, language: str, quotes: Sequence[Sentence], confidence: float) -> bool:
    """Return whether the quotes, best first, can't answer.

    They can't if an e-mail address or telephone number is asked for and none has one, or the best one is a row of a
    table without one. Nor can they if the question asks how many there are of a thing that the best one's passage, if
    it is in the question's language, doesn't name, unless the gate's confidence is high.
    """
    sentence = quotes[0]
    text = fold(question.lower())
    for shape in word_lists("asked_for")["shapes"].values():
        if re.search(rf"\b(?:{shape['asked']})\b", text, re.VERBOSE):
            # Another row is about somebody else.
            own = quotes[:1] if shown_row(sentence) else quotes
            return not any(re.search(shape["is"], each.text) for each in own)
    counted = _pattern("counted").search(text)
    is_of_another_language = sentence.result.document.language not in ("", language)
    if counted is None or confidence >= CONFIDENT or is_of_another_language:
        return False
    named = set(words(fold(f"{sentence.result.chunk.context} {sentence.result.chunk.content}".lower())))
    noun = counted["noun"]
    return not any(word[:SHORTEST_STEM] == noun[:SHORTEST_STEM] for word in named)


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(fold(word) for word in word_lists("asked_for")[name].split())


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{word_lists('asked_for')['patterns'][kind]})\b", re.VERBOSE)
