"""Which language a text is in, told from its words.

A question is told apart by its most frequent words: it is half made of them, and the model that knows 97 languages
takes .8 s to load. Documents are read by that model (`py3langid`: Lui & Baldwin 2012).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from answerable.analysis.stop_words import STOP_WORDS

# Those with much writing: the rarer ones, often close to a large neighbour, mostly turn up where they aren't.
_WRITTEN = """
ar bg bn ca cs da de el en es et fa fi fr gl gu he hi hr hu id it ja ka kn ko lt lv mk ml mr ms nl no pa pl pt ro ru sk
sl sq sr sv sw ta te th tl tr uk ur vi zh
"""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LATIN = re.compile(r"[a-zA-ZÀ-ɏ]")
_TELLING = {
    "es": re.compile(r"[ñ¿¡]|ción\b|ciones\b|\by\b|\bll|idad(?:es)?\b|\bes\b"),
    "pt": re.compile(r"[ãõçêôâ]|ção\b|ções\b|\be\b|\b[oa]s?\b|nh|lh|idades?\b"),
    "en": re.compile(r"\bthe\b|ing\b|\bof\b|ght\b|tion\b|\bwh|\bth|ed\b|ck\b|sh"),
}
_ENOUGH = 4000


def document_language(text: str) -> str:
    """The two-letter code of a document's language; empty where there are no words to tell by."""
    sample = " ".join(text[:_ENOUGH].split())
    if not _WORD.search(sample):
        return ""
    try:
        return str(_identifier().classify(sample)[0])
    except OSError:
        # The model is unpacked into a temporary file: without room for it the language stays unknown, and the store is
        # the one to say that the disk is full.
        return ""


@lru_cache(maxsize=1)
def _identifier() -> Any:
    # Loading it takes longer than a whole question may, so that it is left to those who add documents.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages(_WRITTEN.split())
    return identifier


def question_language(text: str) -> str:
    """`en`, `es` or `pt`, or an empty string where the question is in none of them or doesn't tell."""
    sample = text[:_ENOUGH].lower().replace("’", "'")
    words = _WORD.findall(sample)
    if not words or len(_LATIN.findall(sample)) < sum(map(len, words)) / 2:
        return ""
    scores = {language: _score(language, words, sample) for language in STOP_WORDS}
    best = max(scores, key=lambda language: (scores[language], language))
    return best if scores[best] > 0.1 * min(len(words), 20) else ""


def _score(language: str, words: list[str], sample: str) -> float:
    """Weight of the words that speak for a language; a word of several languages counts for each in part."""
    score = 0.0
    for word in words:
        if word in STOP_WORDS[language]:
            score += 1 / sum(word in others for others in STOP_WORDS.values())
    return score + 0.4 * len(_TELLING[language].findall(sample))
