"""Text → the terms that keyword search counts: words without stop words, stemmed, without accents.

Stemming is Snowball's (Porter 2001). Scripts without spaces give pairs of neighbouring characters, the usual treatment
of Chinese, Japanese and Thai without a dictionary.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

import Stemmer

from answerable.text.stop_words import STOP_WORDS

__all__ = ["fold", "question_words", "term_counts", "terms", "words"]

_SNOWBALL = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip

# Python's `\w` lacks combining marks, which are part of words in Hindi or vowelled Arabic.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0903\u093a-\u094f"
_MARKS += "\u0962\u0963\u0980-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3"
_TOKEN = re.compile(rf"[\w{_MARKS}]+")
_ASCII_TOKEN = re.compile(r"\w+")
_UNSEPARATED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
)


def terms(text: str, language: str) -> list[str]:
    """Return the terms of a text, in order, with repeats; `language` is a two-letter code or ""."""
    stop_words = STOP_WORDS.get(language, frozenset())
    found = []
    for word in words(text):
        if word not in stop_words:
            found.append(_stem(word, language))
    return found


def term_counts(text: str, language: str) -> dict[str, int]:
    """Return how often each term of a text occurs, in the order of their first places."""
    stop_words = STOP_WORDS.get(language, frozenset())
    counts: dict[str, int] = {}
    for word, count in Counter(words(text)).items():
        if word not in stop_words:
            term = _stem(word, language)
            counts[term] = counts.get(term, 0) + count
    return counts


def question_words(question: str, question_language: str, languages: Collection[str]) -> list[frozenset[str]]:
    """Return the distinct words of a question, each as the set of its stems in these languages."""
    spoken = STOP_WORDS.get(question_language, frozenset())
    found: dict[frozenset[str], None] = {}
    for word in words(question):
        if word in spoken:
            continue
        variants = frozenset(
            _stem(word, language)
            for language in {*languages, question_language}
            if word not in STOP_WORDS.get(language, frozenset())
        )
        if variants:
            found[variants] = None
    return list(found)


def plain_words(text: str, languages: Collection[str]) -> list[frozenset[str]]:
    """Return the words of `text`, each as its stems, that are among the terms of every text that contains it.

    Stop words are not terms, and letters beyond ASCII can be written in several ways, so words of both kinds are left
    out.
    """
    return [
        frozenset(_stem(word, language) for language in languages)
        for word in words(text)
        if word.isascii() and not any(word in STOP_WORDS.get(language, ()) for language in languages)
    ]


def words(text: str) -> Iterable[str]:
    """Return the words in lower case, compatibility forms resolved; scripts without spaces as pairs of characters."""
    normal = unicodedata.normalize("NFKC", text).lower()
    if normal.isascii():
        return _ASCII_TOKEN.findall(normal)
    tokens = _TOKEN.findall(normal)
    return _pairs(tokens) if _UNSEPARATED.search(normal) else tokens


def _pairs(tokens: Iterable[str]) -> Iterator[str]:
    """Yield tokens, scripts without spaces in them as pairs of neighbouring characters."""
    for token in tokens:
        if token.isascii():
            yield token
            continue
        for piece in _UNSEPARATED.split(token):
            if not piece:
                continue
            if _UNSEPARATED.match(piece) and len(piece) > 1:
                yield from (piece[index : index + 2] for index in range(len(piece) - 1))
            else:
                yield piece


def fold(word: str) -> str:
    """Return the word without accents."""
    if word.isascii():
        return word
    return "".join(mark for mark in unicodedata.normalize("NFD", word) if not _is_accent(mark))


def _is_accent(character: str) -> bool:
    # By combining class: Hebrew and Arabic vowel points, and marks above or below. Vowels of Indic scripts stay.
    place = unicodedata.combining(character)
    return 10 <= place <= 36 or place >= 200


@lru_cache(maxsize=100_000)
def _stem(word: str, language: str) -> str:
    name = _SNOWBALL.get(language)
    return fold(_stemmer(name).stemWord(word) if name else word)


@lru_cache(maxsize=len(_SNOWBALL))
def _stemmer(name: str) -> Stemmer.Stemmer:
    # Snowball's objects are not thread-safe, but hold the interpreter's lock while they work.
    return Stemmer.Stemmer(name, 0)
