"""The place of a passage, as the metadata that other frameworks keep beside a text."""

from __future__ import annotations

from answerable.answering.citations import link
from answerable.datatypes import RetrievalResult

FOR_PROGRAMS = ["document_id", "start", "end", "link", "score", "other_places"]
"""The metadata that a model which writes an answer doesn't need."""


def described(found: RetrievalResult) -> dict[str, str | int | float]:
    """Return the place of a passage: document, span in characters, source, title, place in words, link, score,
    number of other places with the same text."""
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
