"""A document → chunks with their sentences, and with vectors → what a store takes. Steps that any process can run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from answerable.datatypes import Chunk, Document
from answerable.filters import normalize_fields
from answerable.protocols import IndexedChunk, Passage, PassageVectors, TextSplitter
from answerable.splitting.evidence import evidence_spans
from answerable.text.indexed_text import indexed_spans, indexed_text
from answerable.text.languages import document_language
from answerable.text.terms import terms

_CHUNKS_BETWEEN_SIGNS = 200

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that knows its language, with its chunks, and of each chunk the spans of its sentences."""

    document: Document
    chunks: list[Chunk]
    sentences: list[Spans]

    def passages(self) -> list[Passage]:
        """What is embedded, chunk by chunk."""
        return [passage(chunk, spans) for chunk, spans in zip(self.chunks, self.sentences, strict=True)]

    def indexed(self, number: int, vectors: PassageVectors) -> IndexedChunk:
        """The chunk of this number as a store takes it."""
        chunk = self.chunks[number]
        return IndexedChunk(
            chunk=chunk,
            vector=vectors.whole,
            terms=Counter(terms(indexed_text(chunk), self.document.language)),
            fields=normalize_fields(_fields(self.document, chunk)),
            sentences=self.sentences[number],
            sentence_vectors=vectors.spans,
        )


def passage(chunk: Chunk, spans: Spans) -> Passage:
    """What is embedded of a chunk whose sentences are these spans of its content."""
    return Passage(indexed_text(chunk), indexed_spans(chunk, spans))


def prepare(document: Document, splitter: TextSplitter, working: Callable[[], None] = lambda: None) -> Prepared:
    """The document split, in the language that it is in unless it says so itself.

    `working` is called now and then, and may raise to give it up.
    """
    language = document.language or document_language(document.content)
    document = replace(document, language=language)
    chunks = splitter.split(document)
    sentences: list[Spans] = []
    for number, chunk in enumerate(chunks, 1):
        sentences.append(evidence_spans(chunk, language))
        if number % _CHUNKS_BETWEEN_SIGNS == 0:
            working()
    return Prepared(document, chunks, sentences)


def _fields(document: Document, chunk: Chunk) -> dict[str, Any]:
    """What filters look at. A document's own metadata can't take the place of the engine's fields."""
    pages = chunk.location.pages
    return {
        **document.metadata,
        "source": document.source,
        "type": str(document.type),
        "language": document.language,
        "title": document.title,
        "document_id": document.id,
        "page": list(range(pages[0], pages[1] + 1)) if pages else None,
        "heading": chunk.location.headings,
        "sender": chunk.location.senders,
        "date": [part.time for part in chunk.parts if part.time] or document.metadata.get("date"),
    }
