"""Detect the language of a document or a question.

Documents are classified by py3langid (Lui & Baldwin 2012). It takes .8 s to load and is unreliable on a few words, so
questions are classified by frequent words of each language, the spelling of other words, and accents, if they have any.
Keywords are classified by the groups of letters that are frequent in a language (Cavnar & Trenkle 1994).
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from answerable.text.characters import single_spaced
from answerable.text.terms import STOP_WORDS, fold
from answerable.text.word_lists import FOLDER, LANGUAGES, read_toml

# Languages with many documents. Rarer languages are often similar to a common one, and mostly detected by mistake.
_WRITTEN = """
ar bg bn ca cs da de el en es et fa fi fr gl gu he hi hr hu id it ja ka kn ko lt lv mk ml mr ms nl no pa pl pt ro ru sk
sl sq sr sv sw ta te th tl tr uk ur vi zh
"""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ASCII_WORD = re.compile(r"[a-zA-Z]+(?:'[a-zA-Z]+)?")
_LATIN = re.compile(r"[a-zA-ZÀ-ɏ]+")
# A run: three or more words with only spaces and commas between them.
_JOINED = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_RUN = re.compile(rf"(?<![\w-]){_JOINED}(?:,?[ \t]+[\"'“«(¿¡]?{_JOINED}){{2,}}(?![\w-])")
# Text without characters of markup or code.
_PLAIN = re.compile(r"(?:[\w\s.;!?¿¡…'’\"“”«»()-]|,\s)*")
_RUNNING = 0.2  # share of a text's words that must be in runs: a guess, not measured
# Markup: tags and link targets.
_MARKUP = re.compile(r"<[^<>]{1,500}>|(?<=\])\([^()\s]{1,500}\)")
_SPELLING_WEIGHT = 0.4  # weight of a typical spelling, if a frequent word weighs 1: a guess, not measured
_UNSURE = 0.25  # a smaller difference between two languages' scores is a tie: a guess, not measured
_FEW = 0.5  # the lowest score at which a language is detected: a guess, not measured
_ENOUGH = 4000  # characters to inspect, about a page; more don't change the detected language: a guess, not measured
GRAM = 3  # letters of a group: trigrams (Cavnar & Trenkle 1994)
_FEWEST_LETTERS = 5  # letters needed to detect a language by letters: a guess, not measured
_LETTERS_SURE = 6.0
"""The lead in letter evidence that a language needs to be detected, in tenths of a natural logarithm."""
_LETTERS_EXPECTED = 6.0
"""Letter evidence added to an expected language, in the same unit."""
_LETTERS_WEIGHT = 0.01
"""The weight of letter evidence relative to words, used if the words leave two languages open."""
# An article that begins a Portuguese question. Spanish questions begin so only in "a qué", "a cuántos", "a la hora de".
_ARTICLE = re.compile(r"\W*[ao]s? (?!qu|cu|d[oó]nde|l[ao]s?\b)")
_EXPECTED = 0.4
"""Weight of the documents' language in a tie. Of 3 words of es and pt questions, 11 % are taken for the other
language if the documents are in it, 2 % if not; if the documents' language decided alone, 16 % and 1 %."""


class _Evidence(NamedTuple):
    """The evidence for each language; "" means any other language. `words` maps word → language → weight."""

    words: Mapping[str, Mapping[str, float]]
    spelling: Mapping[tuple[str, ...], re.Pattern[str]]
    accents: Mapping[str, re.Pattern[str]]


def document_language(text: str) -> str:
    """Return the two-letter code of a document's language, or "" if the text has no sentences.

    Only runs of words count as sentences: URLs, style sheets, settings and tables of names contain few of them.
    """
    start = text[:_ENOUGH]
    if "<" in start or "](" in start:
        start = _MARKUP.sub(" ", start)
    words = _words(start)
    if not words:
        return ""
    in_runs = itertools.accumulate((len(_words(run[0])) for run in _RUN.finditer(start)), initial=0)
    if _is_latin(start, words) and not any(count >= _RUNNING * len(words) for count in in_runs):
        return question_language(start) if _PLAIN.fullmatch(start) else ""
    try:
        return _classifier()(single_spaced(start))
    except OSError:
        # The model is unpacked into a temporary file. If the disk is full, the store reports it.
        return ""


def _words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


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


def asked_language(question: str, languages: Collection[str]) -> str:
    """Return a question's language, by its words, else its letters, else as the library's only language."""
    named = [language for language in languages if language]
    by_words = question_language(question, languages)
    return by_words or keyword_language(question, named) or (named[0] if len(named) == 1 else "")


def grams(word: str) -> Iterator[str]:
    """Yield the groups of `GRAM` letters of a word without accents; `_` marks the word's beginning and end."""
    whole = f"_{word}_"
    return (whole[start : start + GRAM] for start in range(len(whole) - GRAM + 1))


def keyword_language(text: str, expected: Collection[str] = ()) -> str:
    """Guess `en`, `es` or `pt` from the letters of a question whose words don't show its language; "" if unclear.

    Use it only for the reply's language: in a search, a wrong guess would favour passages in the wrong language.
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
def _classifier() -> Callable[[str], str]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE)
    model.set_languages(_WRITTEN.split())
    moves, rows = (np.frombuffer(each, each.typecode) for each in (model.tk_nextmove, model.tk_row))
    rows, features = rows.astype(np.int32) << 8, np.array(model.tk_output, np.int32)
    weights, prior, languages = model.nb_ptc.astype(np.float32, "C"), model.nb_pc, model.nb_classes

    def classify(text: str) -> str:
        plain = unicodedata.normalize("NFC", text.lower() if text.isupper() else text)
        data = np.frombuffer(plain.encode("utf-8", "surrogatepass"), np.uint8)
        # py3langid goes from byte to byte. All at once, until no state changes, take a tenth of that time.
        states = np.zeros(len(data) + 1, np.intp)
        while (states[1:] != (moved := moves.take(rows.take(states[:-1]) + data))).any():
            states[1:] = moved
        found = features.take(moved)
        kinds, counts = np.unique(found[found >= 0], return_counts=True)
        scores = np.log1p(counts.astype(np.float32)) @ weights.take(kinds, 0) + prior
        return str(languages[scores.argmax()]) if len(kinds) else ""

    return classify


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
