"""Which language a text is in, told from its words.

A question is told apart by its most frequent words, the spelling of others and its accents, if it has any: the model
that knows 97 languages takes .8 s to load, and is unsure of a few words. It reads documents (`py3langid`: Lui & Baldwin
2012).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from answerable.text.stop_words import STOP_WORDS
from answerable.text.telling_words import ACCENTS, SPELLING, WORDS
from answerable.text.terms import fold

# Those with much writing: the rarer ones, often close to a large neighbour, mostly turn up where they aren't.
_WRITTEN = """
ar bg bn ca cs da de el en es et fa fi fr gl gu he hi hr hu id it ja ka kn ko lt lv mk ml mr ms nl no pa pl pt ro ru sk
sl sq sr sv sw ta te th tl tr uk ur vi zh
"""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LATIN = re.compile(r"[a-zA-ZÀ-ɏ]")
# Three words or more with nothing but spaces and commas between them, and a text without signs of another order.
_JOINED = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_RUN = re.compile(rf"(?<![\w-]){_JOINED}(?:,?[ \t]+[\"'“«(¿¡]?{_JOINED}){{2,}}(?![\w-])")
_PLAIN = re.compile(r"(?:[\w\s.;!?¿¡…'’\"“”«»()-]|,\s)*")
_RUNNING = 0.2
# Tags and the targets of links, between words that follow each other for a reader.
_MARKUP = re.compile(r"<[^<>]{1,500}>|(?<=\])\([^()\s]{1,500}\)")
_SPELLING_WEIGHT = 0.4
_UNSURE = 0.25
_FEW = 0.5
_ENOUGH = 4000


def document_language(text: str) -> str:
    """The two-letter code of a document's language; empty where there are no sentences to tell by.

    Addresses, stylesheets, settings and tables of names have words in Latin letters, but few that follow each other.
    """
    start = _MARKUP.sub(" ", text[:_ENOUGH])
    words = _WORD.findall(start)
    if not words:
        return ""
    running = sum(len(_WORD.findall(run[0])) for run in _RUN.finditer(start))
    if _is_latin(start, words) and running < _RUNNING * len(words):
        return question_language(start) if _PLAIN.fullmatch(start) else ""
    try:
        return str(_identifier().classify(" ".join(start.split()))[0])
    except OSError:
        # The model is unpacked into a temporary file: without room for it the language stays unknown, and the store is
        # the one to say that the disk is full.
        return ""


def _is_latin(sample: str, words: list[str]) -> bool:
    return len(_LATIN.findall(sample)) >= sum(map(len, words)) / 2


@lru_cache(maxsize=1)
def _identifier() -> Any:
    # Loading it takes longer than a whole question may, so that it is left to those who add documents.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages(_WRITTEN.split())
    return identifier


def question_language(text: str, expected: Collection[str] = ()) -> str:
    """`en`, `es` or `pt`, or an empty string where the question is in none of them or doesn't tell.

    Where it doesn't tell two of them apart, it is in the one that is expected, such as that of the documents.
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
    return max(likely, key=lambda language: (language in expected, scores[language]))


def _scores(sample: str, words: list[str]) -> dict[str, float]:
    """What speaks for each language, and for another one: words that it has, else how they are spelled, and accents."""
    scores = dict.fromkeys((*STOP_WORDS, ""), 0.0)
    for language, accents in ACCENTS.items():
        scores[language] += len(accents.findall(sample))
    for word in map(fold, words):
        for language, share in WORDS.get(word, {}).items():
            scores[language] += share
        if word not in WORDS:
            for languages, spelling in SPELLING.items():
                for language in languages:
                    scores[language] += _SPELLING_WEIGHT * len(spelling.findall(word)) / len(languages)
    return scores
