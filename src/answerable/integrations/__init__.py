"""A library as a retriever or vector store of other frameworks. Import the module of your framework, which must be
installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from answerable.answering.citations import link
from answerable.datatypes import Document, RetrievalResult
from answerable.errors import DocumentNotFound
from answerable.library import Library

FOR_PROGRAMS = ["document_id", "start", "end", "link", "score", "other_places"]
"""Metadata for programs: a model that writes an answer doesn't need it."""


def described(found: RetrievalResult) -> dict[str, str | int | float]:
    """Return the metadata of a passage: document, span in characters, source, title, location in words, link, score,
    and the number of other places with the same text."""
    chunk, document = found.chunk, found.document
    return {
        "document_id": document.id,
        "start": chunk.start,
        "end": chunk.end,
        "source": document.source,
        "title": document.title,
        "place": str(chunk.location),
        "link": link(document, chunk.location, chunk.content),
        "score": found.score,
        "other_places": found.other_places,
    }


def put(library: Library, documents: Iterable[Document]) -> None:
    """Add documents that a framework keeps in its vector store. Raise the error of the first that couldn't be added."""
    for failure in library.add_documents(documents).failures:
        raise failure.error


def best_documents(library: Library, question: str, k: int, where: Mapping[str, Any] | None) -> list[RetrievalResult]:
    """Return the best passage of each of the k best documents, best first."""
    asked = k
    while True:
        found = library.search(question, asked, where)
        best = {each.document.id: each for each in reversed(found)}
        if len(best) >= k or len(found) < asked:
            return sorted(best.values(), key=found.index)[:k]
        # Several passages were of one document.
        asked *= 2


def present(library: Library, ids: Iterable[str]) -> Iterator[Document]:
    """Yield those documents with these ids that the library has."""
    for each in ids:
        with suppress(DocumentNotFound):
            yield library.document(each)


def drop(library: Library, ids: Iterable[str]) -> None:
    """Remove those documents with these ids that the library has."""
    for each in ids:
        with suppress(DocumentNotFound):
            library.remove(each)
