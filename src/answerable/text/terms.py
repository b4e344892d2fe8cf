"""Text → the terms that keyword search counts: words without stop words, stemmed, without accents.

Stemming is Snowball's (Porter 2001). Scripts without spaces give pairs of neighbouring characters, the usual treatment
of Chinese, Japanese and Thai without a dictionary.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
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
# What stands between ASCII words, as spaces: dividing at spaces is several times as fast as `\w+`.
_BETWEEN_ASCII_WORDS = {code: " " for code in range(128) if not re.match(r"\w", chr(code))}
# Words of a language; more than most of its texts have.
_REMEMBERED = 30_000
_UNSEPARATED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
)


def terms(text: str, language: str) -> list[str]:
    """Return the terms of a text, in order, with repeats; `language` is a two-letter code or ""."""
    return [term for term in map(_terms_of(language).__getitem__, words(text)) if term is not None]


def term_counts(text: str, language: str) -> dict[str, int]:
    """Return how often each term of a text occurs, in the order of their first places."""
    counts = Counter(map(_terms_of(language).__getitem__, words(text)))
    return {term: count for term, count in counts.items() if term is not None}


def question_words(question: str, question_language: str, languages: Collection[str]) -> list[frozenset[str]]:
    """Return the distinct words of a question, each as the set of its stems in these languages."""
    spoken = STOP_WORDS.get(question_language, frozenset())
    found: dict[frozenset[str], None] = {}
    for word in words(question):
        if word in spoken:
            continue
        stems = {_terms_of(language)[word] for language in {*languages, question_language}}
        variants = frozenset(stem for stem in stems if stem is not None)
        if variants:
            found[variants] = None
    return list(found)


def plain_words(text: str, languages: Collection[str]) -> list[frozenset[str]]:
    """Return the words of `text`, each as its stems, that are among the terms of every text that contains it.

    Stop words are not terms, and letters beyond ASCII can be written in several ways, so words of both kinds are left
    out.
    """
    plain = (word for word in words(text) if word.isascii())
    found = ([_terms_of(language)[word] for language in languages] for word in plain)
    return [frozenset(stem for stem in stems if stem is not None) for stems in found if None not in stems]


def words(text: str) -> Iterable[str]:
    """Return the words in lower case, compatibility forms resolved; scripts without spaces as pairs of characters."""
    normal = unicodedata.normalize("NFKC", text).lower()
    if normal.isascii():
        return normal.translate(_BETWEEN_ASCII_WORDS).split()
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


class _Terms(dict[str, "str | None"]):
    """Word → its term in a language, or None for a stop word; remembers the words that it was asked for."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stop_words = STOP_WORDS.get(language, frozenset())
        name = _SNOWBALL.get(language)
        # Snowball's objects are not thread-safe, but hold the interpreter's lock while they work.
        self._stem: Callable[[str], str] = Stemmer.Stemmer(name, 0).stemWord if name else str

    def __missing__(self, word: str) -> str | None:
        if len(self) >= _REMEMBERED:
            self.clear()
        term = self[word] = None if word in self._stop_words else fold(self._stem(word))
        return term


@lru_cache(maxsize=16)
def _terms_of(language: str) -> _Terms:
    return _Terms(language)
