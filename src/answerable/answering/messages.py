"""Recognise small talk (`words/small_talk.toml`) and two questions in one message; the engine's own sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from answerable.datatypes import Reason
from answerable.retrieval.times import fold_in_place
from answerable.text.terms import STOP_WORDS, fold, words
from answerable.text.word_lists import read_toml

_SENTENCES = re.compile(r"(?<=[?!.])\s+")

REFUSAL: Mapping[str, str] = {
    "en": "The documents don't say.",
    "es": "Los documentos no lo dicen.",
    "pt": "Os documentos não dizem.",
}

QUOTING: Mapping[str, str] = {
    "en": "The documents say:",
    "es": "Los documentos dicen:",
    "pt": "Os documentos dizem:",
}

NEAREST: Mapping[str, str] = {
    "en": "The documents don't say that. Nearest:",
    "es": "Los documentos no lo dicen. Lo más cercano:",
    "pt": "Os documentos não dizem isso. O mais próximo:",
}

SAYS: Mapping[str, str] = {
    "en": "It says {says}, not {asked}.",
    "es": "Dice {says}, no {asked}.",
    "pt": "Diz {says}, não {asked}.",
}
"""How the nearest quote differs: the names or numbers that it has in place of the one asked for."""

LACKS: Mapping[str, str] = {
    "en": "It doesn't say {asked}.",
    "es": "No dice {asked}.",
    "pt": "Não diz {asked}.",
}

LEFT_OUT: Mapping[str, str] = {
    "en": "(Sentences left out, because their source words don't say them: {n}.)",
    "es": "(Frases omitidas, porque sus fuentes no las dicen: {n}.)",
    "pt": "(Frases omitidas, porque as fontes não as dizem: {n}.)",
}
"""What strict grounding says below an answer."""

EMPTY_LIBRARY: Mapping[str, str] = {
    "en": "The library is empty: add documents first.",
    "es": "La biblioteca está vacía: añade documentos primero.",
    "pt": "A biblioteca está vazia: adicione documentos primeiro.",
}

MORE: Mapping[str, str] = {"en": " … and {} more", "es": " … y {} más", "pt": " … e mais {}"}

HOW_TO_ASK: Mapping[str, str] = {
    "en": "Ask a question about these documents: the answer quotes them and says where each quote is. "
    "“What documents are there?” lists them.",
    "es": "Haz una pregunta sobre estos documentos: la respuesta los cita y dice dónde está cada cita. "
    "«¿Qué documentos hay?» los enumera.",
    "pt": "Faça uma pergunta sobre estes documentos: a resposta os cita e diz onde está cada citação. "
    "“Quais documentos há?” os enumera.",
}


def refusal(reason: Reason, language: str) -> str:
    """Return the text of a refusal, in English for a language without its own text."""
    return phrase(EMPTY_LIBRARY if reason is Reason.EMPTY_LIBRARY else REFUSAL, language)


def phrase(texts: Mapping[str, str], language: str) -> str:
    """Return the text in a language, in English for a language without its own text."""
    return texts.get(language, texts["en"])


def word_lists(name: str) -> Mapping[str, Any]:
    """Return the contents of a file of word lists. Each file is read only once."""
    return read_toml(Path(__file__).with_name("words") / f"{name}.toml")


def is_small_talk(message: str) -> bool:
    """Return whether a message only greets, thanks, asks for help, or asks about the assistant."""
    return bool(small_talk_language(message))


def small_talk_language(message: str, likely: str = "", is_first: bool = False) -> str:
    """Return the language of a message that asks nothing about the documents; `likely` if several languages fit.

    Return "" for any other message: "hello, when is the rent due?" is a question. In the first message of a
    conversation, "this" means the assistant.
    """
    text = fold(" ".join(words(message)))
    languages = sorted(STOP_WORDS, key=lambda one: one != likely)
    return next((one for one in languages if _is_small_talk(text, "?" in message, one, is_first)), "")


def _is_small_talk(text: str, is_question: bool, language: str, is_first: bool) -> bool:
    rest = " ".join(_courtesies(language).sub(" ", text).split())
    said = set(rest.split())
    addressing = _words_of(language, "addressed") | (_words_of(language, "this") if is_first else frozenset())
    if addressed := said & addressing:
        # "Can you do it?" refers to an earlier message: it isn't small talk.
        said -= addressed
        return said <= _words_of(language, "about") | _stop_words(language) - _words_of(_family(language), "pronouns")
    # "ok, and before that" goes on: it isn't small talk.
    first, _, goes_on = rest.partition(" ")
    goes_on = goes_on if first in _words_of(_family(language), "connectors") else ""
    asks = bool(rest) and (
        is_question or goes_on or not said.isdisjoint(_words_of(_family(language), "interrogatives"))
    )
    return rest != text and not asks and said <= _words_of(language, "about") | _stop_words(language)


@cache
def _interrogatives() -> frozenset[str]:
    """Return the question words of all languages, without accents."""
    return _words_of("en", "interrogatives") | _words_of("romance", "interrogatives")


def _asks(text: str) -> bool:
    """Return whether a text has a question word."""
    return not _interrogatives().isdisjoint(fold(word) for word in words(text))


def _has_content(text: str) -> bool:
    """Return whether a text has a word that is neither a question word nor a stop word of any language."""
    small = _interrogatives().union(*map(_stop_words, STOP_WORDS))
    return any(fold(word) not in small for word in words(text))


def two_questions(message: str) -> tuple[str, str] | None:
    """Return both questions of a message; None if it asks one, or more than two.

    Each begins with a question word, or with a short word before one ("y a qué hora"), and the first asks for something
    by itself.
    """
    sentences = [each for each in _SENTENCES.split(message.strip()) if each]
    if len(sentences) == 1:
        cuts = [match.span() for match in _and_asks().finditer(fold_in_place(message))]
        sentences = [message[: cuts[0][0]], message[cuts[0][1] :]] if len(cuts) == 1 else sentences
    if len(sentences) != 2 or not all(map(_asks, sentences)) or not _has_content(sentences[0]):
        return None
    return sentences[0].strip(), sentences[1].strip()


@cache
def _and_asks() -> re.Pattern[str]:
    asking = "|".join(sorted(_interrogatives(), key=len, reverse=True))
    return re.compile(rf"[,;]?\s+(?:and|y|e)\s+(?=¿?(?:\w{{1,6}}\s+)?(?:{asking})\b)")


@cache
def _courtesies(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{word_lists('small_talk')[language]['courtesies']})\b", re.VERBOSE)


@cache
def _words_of(language: str, name: str) -> frozenset[str]:
    return frozenset(word_lists("small_talk")[language][name].split())


def _family(language: str) -> str:
    return "en" if language == "en" else "romance"


@cache
def _stop_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, STOP_WORDS[language]))
