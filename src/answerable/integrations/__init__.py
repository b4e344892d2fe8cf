"""A library as a retriever of other frameworks. Import the module of your framework, which must be installed."""

from __future__ import annotations

from answerable.answering.citations import link
from answerable.datatypes import RetrievalResult

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
