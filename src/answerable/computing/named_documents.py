"""Find the documents that a question names: "the board minutes", "el contrato", "lighthouse book"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from answerable.computing.vocabulary import word_lists, words_of
from answerable.computing.word_forms import stems, stems_of
from answerable.datatypes import Document, DocumentType
from answerable.protocols import StoredDocument
from answerable.text.shown_names import shown_name
from answerable.text.terms import fold, words

_BREAKS = re.compile(r"[_\-.]+|(?<=[a-z])(?=[A-Z])|(?<=\D)(?=\d)")


def name_of(document: Document | StoredDocument) -> str:
    """Return the name to show: the file name, or the title of a message or of a document without one."""
    if document.type == DocumentType.MAIL:
        return shown_name(document)
    return PurePosixPath(document.source.rpartition("!/")[2].split("?")[0]).name or document.title or document.id


def name_stems(document: StoredDocument) -> frozenset[str]:
    """Return the stems of the words in a document's title and file name."""
    return stems_of((document.title, _BREAKS.sub(" ", PurePosixPath(name_of(document)).stem)))


def documents_named(text: str, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
    """Return the documents that most words of a text name, by file name, title or type: all that are named alike.

    Words of many names say little, so each counts by its rarity.
    """
    named = {document.id: name_stems(document) for document in documents}
    types = {
        document.id: frozenset(word_lists("library")["nouns"].get(document.type, "").split()) for document in documents
    }
    scores: dict[str, float] = {}
    for word in set(words(fold(text.lower()))) - words_of("words", "neutral"):
        own = stems(word)
        having = [each for each in documents if own & named[each.id] or word in types[each.id]]
        for each in having:
            scores[each.id] = scores.get(each.id, 0.0) + (1.0 if own & named[each.id] else 0.5) / len(having)
    best = max(scores.values(), default=0.0)
    return [each for each in documents if best and scores.get(each.id, 0.0) >= best - 1e-9]
