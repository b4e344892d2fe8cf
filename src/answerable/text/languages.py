"""Detect the language of a document or a question.

Documents are classified by py3langid (Lui & Baldwin 2012). It takes .8 s to load and is unreliable on a few words, so
questions are classified by their most frequent words, the spelling of the others, and accents, if they have any.
Keywords are classified by the groups of letters that are frequent in a language (Cavnar & Trenkle 1994).
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from answerable.text.characters import single_spaced
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import fold
from answerable.text.word_lists import FOLDER, LANGUAGES, read_toml

if TYPE_CHECKING:
    from answerable.text.identifier import Identifier

# Languages with many documents: rarer ones, often similar to a common one, are mostly detected by mistake.
_WRITTEN = """
ar bg bn ca cs da de el en es et fa fi fr gl gu he hi hr hu id it ja ka kn ko lt lv mk ml mr ms nl no pa pl pt ro ru sk
sl sq sr sv sw ta te th tl tr uk ur vi zh
"""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ASCII_WORD = re.compile(r"[a-zA-Z]+(?:'[a-zA-Z]+)?")
# Of UTF-8, all bytes but ASCII letters.
_SPACES_FOR_OTHERS = bytes(code if chr(code).isalpha() and code < 128 else ord(" ") for code in range(256))
_LATIN = re.compile(r"[a-zA-ZÀ-ɏ]+")
# Three or more words with only spaces and commas between them.
_JOINED = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_RUN = re.compile(rf"(?<![\w-]){_JOINED}(?:,?[ \t]+[\"'“«(¿¡]?{_JOINED}){{2,}}(?![\w-])")
# Text without characters of markup or code.
_PLAIN = re.compile(r"(?:[\w\s.;!?¿¡…'’\"“”«»()-]|,\s)*")
_RUNNING = 0.2
# Tags and link targets.
_MARKUP = re.compile(r"<[^<>]{1,500}>|(?<=\])\([^()\s]{1,500}\)")
_SPELLING_WEIGHT = 0.4
_UNSURE = 0.25
_FEW = 0.5
_ENOUGH = 4000
GRAM = 3
_FEWEST_LETTERS = 5
_LETTERS_SURE = 6.0
"""By how much letters must favour a language, in tenths of a natural logarithm."""
_LETTERS_EXPECTED = 6.0
"""How much letters favour an expected language."""
_LETTERS_WEIGHT = 0.01
"""How much letters count beside words, where words leave two languages open."""
# What no Spanish question begins with, but for "a la hora de …": in Spanish "a" asks ("a qué", "a cuántos").
_ARTICLE = re.compile(r"\W*[ao]s? (?!qu|cu|d[oó]nde|l[ao]s?\b)")
_EXPECTED = 0.4
"""How much the documents' language counts there. Of 3 words of questions in es and pt, 11 % are taken for the other
language if the documents are in it, and 2 % if they are in their own; if it decided alone, 16 % and 1 %."""


class _Evidence(NamedTuple):
    """The evidence for each language, "" being any other. `words` maps word → language → weight."""

    words: Mapping[str, Mapping[str, float]]
    spelling: Mapping[tuple[str, ...], re.Pattern[str]]
    accents: Mapping[str, re.Pattern[str]]


def document_language(text: str) -> str:
    """Return the two-letter code of a document's language, or "" if the text has no sentences.

    URLs, style sheets, settings and tables of names contain Latin words, but few in a row.
    """
    start = text[:_ENOUGH]
    if "<" in start or "](" in start:
        start = _MARKUP.sub(" ", start)
    if not _is_surely_running(start):
        words = _words(start)
        if not words:
            return ""
        if _is_latin(start, words) and not _is_running(start, _RUNNING * len(words)):
            return question_language(start) if _PLAIN.fullmatch(start) else ""
    try:
        return _identifier().classify(single_spaced(start))
    except OSError:
        # The model is unpacked into a temporary file. If the disk is full, the store reports it.
        return ""


def _words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def _is_surely_running(text: str) -> bool:
    """Return whether enough words certainly stand in runs, in a fraction of the time that looking for all words takes.

    Texts in other scripts than Latin aren't told.
    """
    data = text.encode("utf-8", "replace")
    beyond_ascii = len(data) - len(text)
    # There may be fewer words, since each letter beyond ASCII counts as one.
    most = len(data.translate(_SPACES_FOR_OTHERS).split()) + beyond_ascii
    if beyond_ascii > most / 2:
        return False
    counts = itertools.accumulate(run[0].count(" ") for run in _RUN.finditer(text))
    return any(count >= _RUNNING * most for count in counts)


def _is_running(text: str, words: float) -> bool:
    """Return whether at least so many words stand in runs."""
    counts = itertools.accumulate((len(_words(run[0])) for run in _RUN.finditer(text)), initial=0)
    return any(count >= words for count in counts)


def question_language(text: str, expected: Collection[str] = ()) -> str:
    """Return `en`, `es` or `pt`, or "" if the question is in another language or has too little evidence.

    If two languages are almost equally likely, prefer an `expected` one, such as that of the documents.
    """
    sample = unicodedata.normalize("NFC", text[:_ENOUGH]).lower().replace("’", "'")
    words = _WORD.findall(sample)
    if not words or not _is_latin(sample, words):
        return ""
    scores = _scores(sample, words)
    highest = max(scores.values())
    if highest < max(_FEW, 0.1 * min(len(words), 20)):
        return ""
    likely = [language for language, score in scores.items() if score >= highest - _UNSURE]
    if len(likely) > 1:
        for language, score in _letter_scores(words).items():
            scores[language] += _LETTERS_WEIGHT * score + _EXPECTED * (language in expected)
        scores["pt"] += 2 * _EXPECTED * bool(_ARTICLE.match(sample))
    return max(likely, key=lambda language: scores[language])


def grams(word: str) -> Iterator[str]:
    """Yield the groups of `GRAM` letters of a word without accents; `_` is its beginning and end."""
    whole = f"_{word}_"
    return (whole[start : start + GRAM] for start in range(len(whole) - GRAM + 1))


def keyword_language(text: str, expected: Collection[str] = ()) -> str:
    """Return `en`, `es` or `pt` by the letters of a question whose words don't tell its language, "" if unclear.

    That is good enough to reply in; a search would take it for certain and favour other passages.
    """
    sample = unicodedata.normalize("NFC", text[:_ENOUGH]).lower()
    words = _WORD.findall(sample)
    is_readable = sum(map(len, words)) >= _FEWEST_LETTERS and _is_latin(sample, words)
    if not is_readable or _scores(sample, words)[""]:
        return ""
    scores = _letter_scores(words)
    for language in scores.keys() & set(expected):
        scores[language] += _LETTERS_EXPECTED
    best, second, *_ = sorted(scores.values(), reverse=True)
    return max(scores, key=lambda language: scores[language]) if best - second >= _LETTERS_SURE else ""


def _letter_scores(words: Sequence[str]) -> dict[str, float]:
    scores = dict.fromkeys(LANGUAGES, 0.0)
    for word in map(fold, words):
        for gram in grams(word):
            for language, weight in zip(LANGUAGES, _letters().get(gram, ()), strict=False):
                scores[language] += weight
    return scores


@cache
def _letters() -> Mapping[str, tuple[int, ...]]:
    rows = (line.split() for line in read_toml(FOLDER / "letters.toml")["grams"].splitlines())
    return {gram: tuple(map(int, weights)) for gram, *weights in rows}


def _is_latin(sample: str, words: list[str]) -> bool:
    """Return whether at least half of the characters of the words are Latin letters."""
    return sample.isascii() or len(sample) - len(_LATIN.sub("", sample)) >= sum(map(len, words)) / 2


@cache
def _identifier() -> Identifier:
    # NumPy isn't imported before a document is added.
    from answerable.text.identifier import Identifier

    return Identifier(frozenset(_WRITTEN.split()))


def _scores(sample: str, words: list[str]) -> dict[str, float]:
    evidence = _evidence()
    scores = dict.fromkeys((*LANGUAGES, ""), 0.0)
    for language, accents in evidence.accents.items():
        scores[language] += len(accents.findall(sample))
    for word in map(fold, words):
        for language, share in evidence.words.get(word, {}).items():
            scores[language] += share
        if word not in evidence.words:
            for languages, spelling in evidence.spelling.items():
                for language in languages:
                    scores[language] += _SPELLING_WEIGHT * len(spelling.findall(word)) / len(languages)
    return scores


@cache
def _evidence() -> _Evidence:
    shared = read_toml(FOLDER / "shared.toml")
    lists = {language: read_toml(FOLDER / f"{language}.toml") for language in LANGUAGES}
    found: dict[str, list[str]] = {}
    for language in LANGUAGES:
        for word in {fold(word) for word in (*STOP_WORDS[language], *lists[language]["question_words"].split())}:
            found.setdefault(word, []).append(language)
    even = {word: dict.fromkeys(languages, 1 / len(languages)) for word, languages in found.items()}
    others = {fold(word): {"": 1.0} for word in shared["other_words"].split()}
    spelling = {**{language: lists[language]["spelling"] for language in LANGUAGES}, **shared["spelling"]}
    accents = {"es": lists["es"]["accents"], "pt": lists["pt"]["accents"], "": shared["other_accents"]}
    return _Evidence(
        {**others, **even, **shared["shares"]},
        {tuple(languages.split()): re.compile("|".join(each.split())) for languages, each in spelling.items()},
        {language: re.compile(pattern) for language, pattern in accents.items()},
    )
