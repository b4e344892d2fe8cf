"""Get the terms that keyword search counts (words without stop words, stemmed, without accents), and their weights.

Words are stemmed by Snowball (Porter 2001). In scripts without spaces, terms are pairs of neighbouring characters, as
usual for Chinese, Japanese and Thai without a dictionary. Stop words are the most frequent words of a language, which
do not show what a text is about. The words of claims (numbers, months, weekdays, units, negations) are
in `words/claims.toml`, in lower case and without accents, like the output of `fold`.

Every store weighs by BM25 (Robertson & Zaragoza 2009): the weight of a term in a chunk × the term's inverse document
frequency. The average length is fixed at 100 terms, so that the weights of a chunk do not change when other chunks are
added or removed. That costs at most .001 of nDCG@10 on the development sets (fixed/true average:
SciFact .689/.687, Cranfield .391/.392, XQuAD es .965/.965, FaQuAD .918/.918, SQuAD2 en .926/.926, es .864/.864,
pt .887/.887).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import zip_longest
from typing import Any

import Stemmer

from answerable.text.word_lists import FOLDER, LANGUAGES, read_toml

STOP_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(read_toml(FOLDER / f"{language}.toml")["stop_words"].split()) for language in LANGUAGES
}


_SNOWBALL = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip

# Python's `\w` lacks combining marks, which are part of words in Hindi or vowelled Arabic.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0903\u093a-\u094f"
_MARKS += "\u0962\u0963\u0980-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3"
_TOKEN = re.compile(rf"[\w{_MARKS}]+")
# Maps ASCII characters that separate words to spaces: splitting at spaces is several times as fast as `\w+`.
_BETWEEN_ASCII_WORDS = {code: " " for code in range(128) if not re.match(r"\w", chr(code))}
# Number of words of a language whose terms are cached; most texts have fewer.
_REMEMBERED = 30_000
_UNSEPARATED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
)


def terms(text: str, language: str) -> list[str]:
    """Return the terms of a text, in order, with repeats; `language` is a two-letter code or ""."""
    return [term for term in map(_terms_of(language).__getitem__, words(text)) if term is not None]


K1 = 1.2  # the usual value (Robertson & Zaragoza 2009)
B = 0.75  # the usual value
AVERAGE_LENGTH = 100  # terms of a chunk; see the docstring of this module


def term_counts(text: str, language: str) -> dict[str, int]:
    """Return how often each term of a text occurs, in the order of first occurrence."""
    counts = Counter(map(_terms_of(language).__getitem__, words(text)))
    return {term: count for term, count in counts.items() if term is not None}


def term_weights(counts: Mapping[str, int]) -> dict[str, float]:
    """Map each term of a chunk to its BM25 weight, not yet multiplied by its inverse document frequency."""
    length = sum(counts.values())
    damping = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return {term: count * (K1 + 1) / (count + damping) for term, count in counts.items()}


def score(counts: Mapping[str, int], rarities: Mapping[str, float]) -> float:
    """Return the BM25 score of a chunk's terms; `rarities` maps question terms to inverse document frequencies."""
    weights = term_weights(counts)
    return sum(weights.get(term, 0.0) * rare for term, rare in rarities.items())


def rarity(chunks: int, chunks_with_term: int) -> float:
    """Return the inverse document frequency, never negative."""
    return math.log(1 + (chunks - chunks_with_term + 0.5) / (chunks_with_term + 0.5))


def highest_score(rarities: Iterable[float]) -> float:
    """Return the highest possible score for a question whose words have these inverse document frequencies."""
    return (K1 + 1) * sum(rarities)


def question_words(question: str, question_language: str, languages: Collection[str]) -> list[frozenset[str]]:
    """Return the distinct words of a question, each as the set of its stems in these languages."""
    spoken = STOP_WORDS.get(question_language, frozenset())
    known = list(map(_terms_of, {*languages, question_language}))
    found: dict[frozenset[str], None] = {}
    for word in words(question):
        if word in spoken:
            continue
        variants = frozenset(stem for each in known if (stem := each[word]) is not None)
        if variants:
            found[variants] = None
    return list(found)


def plain_words(text: str, languages: Collection[str]) -> list[frozenset[str]]:
    """Return the words of `text`, each as its stems, that are among the terms of every text that contains `text`.

    Words that may be missing there are left out: stop words, which are not terms, and words with letters beyond ASCII,
    which can be written in several ways.
    """
    known = list(map(_terms_of, languages))
    found = ([each[word] for each in known] for word in words(text) if word.isascii())
    return [frozenset(stem for stem in stems if stem is not None) for stems in found if None not in stems]


def words(text: str) -> Iterable[str]:
    """Return the words in lower case, compatibility forms resolved; scripts without spaces as pairs of characters."""
    normal = unicodedata.normalize("NFKC", text).lower()
    if normal.isascii():
        return normal.translate(_BETWEEN_ASCII_WORDS).split()
    tokens = _TOKEN.findall(normal)
    return _pairs(tokens) if _UNSEPARATED.search(normal) else tokens


def _pairs(tokens: Iterable[str]) -> Iterator[str]:
    """Yield the tokens; text in scripts without spaces is split into pairs of neighbouring characters."""
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
    # Combining classes to remove: Hebrew and Arabic vowel points, marks above or below. Vowels of Indic scripts stay.
    place = unicodedata.combining(character)
    return 10 <= place <= 36 or place >= 200


class _Terms(dict[str, "str | None"]):
    """Maps a word to its term in a language, or None for a stop word; caches the words that were looked up."""

    def __init__(self, stemmer: str | None, stop_words: frozenset[str]) -> None:
        super().__init__()
        self._stop_words = stop_words
        # Snowball's stemmers are not thread-safe, but they hold the interpreter's lock while they work.
        self._stem: Callable[[str], str] = Stemmer.Stemmer(stemmer, 0).stemWord if stemmer else str

    def __missing__(self, word: str) -> str | None:
        if len(self) >= _REMEMBERED:
            self.clear()
        term = self[word] = None if word in self._stop_words else fold(self._stem(word))
        return term


_cached = cache(_Terms)


def _terms_of(language: str) -> _Terms:
    # All languages without a stemmer have the same terms, so a library of any languages needs few caches.
    return _cached(_SNOWBALL.get(language), STOP_WORDS.get(language, frozenset()))


PERCENT = r"%|percent\b|per cent\b|por\s?ciento\b|por cento\b"


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """The word lists of one language."""

    units: Mapping[str, int]
    tens: Mapping[str, int]
    hundreds: Mapping[str, int]
    scales: Mapping[str, int]
    ordinals: Mapping[str, int]
    joining: str
    negations: frozenset[str]
    above: frozenset[str]
    below: frozenset[str]
    near: frozenset[str]
    reckoned: frozenset[str]


@cache
def claim_words(language: str) -> ClaimWords:
    """Return the word lists of a language, or the English lists for a language without its own."""
    lists = _lists()
    words = lists.get(language) or lists["en"]
    names = ("negations", "above", "below", "near", "reckoned")
    return ClaimWords(
        units=_numbered(words["units"], 0),
        tens=_numbered(words["tens"], 2, 10),
        hundreds=_numbered(words["hundreds"], 1, 100),
        scales=words["scales"],
        ordinals=_numbered(words["ordinals"], 1),
        joining=words["joining"],
        **{name: frozenset(words[name].split()) for name in names},
    )


@cache
def months() -> Mapping[str, int]:
    """Return the number of each month by its names and abbreviations, in all languages."""
    return _numbered(_lists()["any"]["months"], 1)


@cache
def weekdays() -> Mapping[str, int]:
    """Return the number of each weekday, Monday's being 1, by its names in all languages."""
    return _numbered(_lists()["any"]["weekdays"], 1)


@cache
def units() -> Mapping[str, frozenset[str]]:
    """Map each spelling of a unit or currency to the units that it may mean, each given by its first spelling."""
    groups = [group.split("/") for group in _lists()["any"]["units"].split()]
    return {word: frozenset(each[0] for each in groups if word in each) for group in groups for word in group}


@cache
def unit_sizes() -> Mapping[str, list[tuple[str, Decimal]]]:
    """Map each unit to the basic units that it is counted in, and how many of each it is."""
    sizes: dict[str, list[tuple[str, Decimal]]] = {}
    for basic, each in _lists()["any"]["sizes"].items():
        for unit, size in each.items():
            sizes.setdefault(unit, []).append((basic, Decimal(str(size))))
    return sizes


@cache
def shared_words(name: str) -> frozenset[str]:
    """Return a list that all languages share; `name` is `unsure`, `unsure_months` or `only`."""
    return frozenset(_lists()["any"][name].split())


def _lists() -> Mapping[str, Any]:
    return read_toml(FOLDER / "claims.toml")


def _numbered(words: str, first: int, factor: int = 1) -> dict[str, int]:
    """Number the words upwards from `first`; words separated by `/` get the same number."""
    return {word: factor * number for number, group in enumerate(words.split(), first) for word in group.split("/")}


_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")


def folded_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word, in lower case and without most accents and apostrophes, with its start and end in the text."""
    for match in _WORD.finditer(text):
        yield fold(match[0].lower()).replace("'", "").replace("’", ""), *match.span()


def negations(text: str, language: str) -> list[str]:
    """Return the negating words of a text; the "not" of "not only" isn't one."""
    known = claim_words(language).negations
    words = [word for word, _, _ in folded_words(text)]
    pairs = zip_longest(words, words[1:], fillvalue="")
    return [word for word, after in pairs if word in known and after not in shared_words("only")]
