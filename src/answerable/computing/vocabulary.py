"""Word lists (`words/*.toml`), word forms, and the names of documents.

Documents are named by title, file name and type: "the board minutes", "el contrato", "lighthouse book".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.formats.locate import shown_name
from answerable.protocols import StoredDocument
from answerable.text.terms import STOP_WORDS, fold, terms, words
from answerable.text.word_lists import LANGUAGES, read_toml

SMALL_WORDS = frozenset(fold(word) for known in STOP_WORDS.values() for word in known)
"""Words that only help to ask, in all languages, in lower case without accents."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


@cache
def word_lists(name: str) -> Mapping[str, Any]:
    """Return the contents of a file of word lists. Each file is read only once."""
    return read_toml(Path(__file__).with_name("words") / f"{name}.toml")


BEGINNING = 5
"""Letters by which words are compared, so that inflected forms agree in every language. A guess, not measured."""


def keys_of(text: str) -> list[str]:
    """Return the beginnings of a text's words without small words; numbers are whole."""
    folded = words(text) if text.isascii() else map(fold, words(text))
    return [word if word.isdigit() else word[:BEGINNING] for word in folded if word not in SMALL_WORDS]


def spoken(name: str) -> str:
    """Return a column's name in plain words: "paid by" for `paid_by` and `paidBy`."""
    return _HUMP.sub(" ", name.replace("_", " "))


LONGEST_LINE = 1_000
"""Characters of a row: a message, or some twenty cells. A guess, not measured."""


def cut(text: str, longest: int = LONGEST_LINE) -> str:
    """Return a text on one line, cut after a word to a number of characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest].rsplit(' ', 1)[0]}…"


@lru_cache(maxsize=50_000)
def stems(word: str) -> frozenset[str]:
    """Return the stems of a word in every supported language, and the word itself, without accents."""
    plain = fold(word.lower())
    return frozenset({plain, *(stem for language in LANGUAGES for stem in terms(plain, language))})


def stems_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the stems of all words of these texts."""
    return frozenset[str]().union(*(stems(word) for text in texts for word in words(text)))


_BREAKS = re.compile(r"[_\-.]+|(?<=[a-z])(?=[A-Z])|(?<=\D)(?=\d)")


def name_of(document: Document | StoredDocument) -> str:
    """Return the name to show: the file name; for messages and documents without a file name, the title."""
    if document.type == DocumentType.MAIL:
        return shown_name(document)
    return PurePosixPath(document.source.rpartition("!/")[2].split("?")[0]).name or document.title or document.id


def name_stems(document: StoredDocument) -> frozenset[str]:
    """Return the stems of the words in a document's title and file name."""
    return stems_of((document.title, _BREAKS.sub(" ", PurePosixPath(name_of(document)).stem)))


def documents_named(text: str, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
    """Return the documents that a text names best, by file name, title or type: several if they match equally.

    Words in the names of many documents say little, so a word counts the less, the more documents have it.
    """
    named = {document.id: name_stems(document) for document in documents}
    types = {
        document.id: frozenset(word_lists("library")["nouns"].get(document.type, "").split()) for document in documents
    }
    scores: dict[str, float] = {}
    for word in set(words(fold(text.lower()))) - SMALL_WORDS:
        own = stems(word)
        having = [each for each in documents if own & named[each.id] or word in types[each.id]]
        for each in having:
            scores[each.id] = scores.get(each.id, 0.0) + (1.0 if own & named[each.id] else 0.5) / len(having)
    best = max(scores.values(), default=0.0)
    return [each for each in documents if best and scores.get(each.id, 0.0) >= best - 1e-9]
