"""Splits documents into chunks with sentence spans, for any process, and makes the vectors of stored chunks."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from answerable.datatypes import Chunk, Document
from answerable.errors import WorkerLost
from answerable.filters import normalize_fields
from answerable.protocols import (
    Embedder,
    IndexedChunk,
    Passage,
    PassageVectors,
    Reader,
    StoredDocument,
    TextSplitter,
)
from answerable.splitting.make_chunks import evidence_spans
from answerable.text.indexed_text import TEXT_HASH, indexed_spans, indexed_text, text_hash
from answerable.text.languages import document_language
from answerable.text.terms import term_counts

_CHUNKS_PER_CALLBACK = 200  # a fraction of a second of work; a guess, not measured

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The parts that read, split and embed. A library has a pipeline, and so has each of its workers."""

    reader: Reader
    splitter: TextSplitter
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document with its language set, its chunks, and the sentence spans of each chunk."""

    document: Document
    chunks: list[Chunk]
    sentences: list[Spans]

    def passages(self) -> list[Passage]:
        """Return the passages to embed, one per chunk."""
        return [passage(chunk, spans) for chunk, spans in zip(self.chunks, self.sentences, strict=True)]

    def indexed(self, number: int, vectors: PassageVectors) -> IndexedChunk:
        """Return the chunk at this index with its vectors, terms and filter fields."""
        chunk = self.chunks[number]
        return IndexedChunk(
            chunk=chunk,
            vector=vectors.whole,
            terms=term_counts(indexed_text(chunk), self.document.language),
            fields=normalize_fields(_fields(self.document, chunk)),
            sentences=self.sentences[number],
            sentence_vectors=vectors.spans,
        )


def passage(chunk: Chunk, spans: Spans) -> Passage:
    """Return the passage to embed for a chunk; `spans` are its sentences in `chunk.content`."""
    return Passage(indexed_text(chunk), indexed_spans(chunk, spans))


def seconds_per_token(embedder: Embedder, passages: Sequence[Passage]) -> float:
    """Embed these passages, at least one, and return the seconds per token."""
    first, *others = passages
    # Embed the first passage before the measurement, so that the model is loaded, unless it is the only passage.
    embedder.embed_passages([first] if others else [])
    sample, started = others or [first], time.monotonic()
    embedder.embed_passages(sample)
    return (time.monotonic() - started) / max(sum(embedder.count_tokens([each.text for each in sample])), 1)


def prepare(document: Document, splitter: TextSplitter, working: Callable[[], None] = lambda: None) -> Prepared:
    """Split a document; detect its language unless it declares one.

    `working` is called every 200 chunks and may raise to cancel.
    """
    language = document.language or document_language(document.content)
    document = replace(document, language=language)
    chunks = splitter.split(document)
    sentences: list[Spans] = []
    for number, chunk in enumerate(chunks, 1):
        sentences.append(evidence_spans(chunk, language))
        if number % _CHUNKS_PER_CALLBACK == 0:
            working()
    return Prepared(document, chunks, sentences)


def document_fields(document: Document | StoredDocument) -> dict[str, Any]:
    """Return the fields that filters compare of a whole document: its metadata, and the engine's own over them."""
    own = {
        "source": document.source,
        "type": str(document.type),
        "language": document.language,
        "title": document.title,
        "document_id": document.id,
    }
    return _over(document.metadata, own)


def _fields(document: Document, chunk: Chunk) -> dict[str, Any]:
    pages = chunk.location.pages
    own = {
        "page": list(range(pages[0], pages[1] + 1)) if pages else None,
        "heading": chunk.location.headings,
        "sender": chunk.location.senders,
        "date": [part.time for part in chunk.parts if part.time],
        TEXT_HASH: text_hash(chunk),
    }
    return _over(document_fields(document), own)


def _over(fields: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return both; where both have a name, what is empty gives way to the other."""
    return {**own, **fields, **{name: value for name, value in own.items() if value}}


# Passages per batch, a few seconds of work: short enough to show progress, large enough to sort passages by length.
BATCH = 16

Batch: TypeAlias = "dict[int, tuple[IndexedChunk, Document, Passage]]"
"""Chunks by number, each with its document and the passage to embed."""

Read: TypeAlias = "Callable[[Sequence[int]], dict[int, tuple[IndexedChunk, Document]]]"
"""A function that returns chunks by number with their documents, such as `Store.fetch`."""

Result: TypeAlias = "Callable[[], list[PassageVectors]]"
"""A function that returns the vectors of passages. Raises WorkerLost."""


def stored_passages(read: Read, numbers: Sequence[int]) -> Iterator[Batch]:
    """Yield these chunks in batches; skip removed chunks."""
    for start in range(0, len(numbers), BATCH):
        found = read(numbers[start : start + BATCH])
        if found:
            yield {each: (*pair, passage(pair[0].chunk, pair[0].sentences)) for each, pair in found.items()}


def made_vectors(
    read: Read, numbers: Sequence[int], submit: Callable[[list[Passage]], Result], ahead: int = 0
) -> Iterator[list[tuple[int, IndexedChunk, Document, PassageVectors | WorkerLost]]]:
    """Yield these chunks in batches, each with its vectors, or with the error of the worker that it killed.

    `submit` starts the embedding of a batch; up to `ahead` batches are started before the first one is done.
    """
    sent: deque[tuple[Batch, Result]] = deque()
    for batch in stored_passages(read, numbers):
        sent.append((batch, submit([each for _, _, each in batch.values()])))
        if len(sent) > ahead:
            yield _done(*sent.popleft(), submit)
    while sent:
        yield _done(*sent.popleft(), submit)


def _done(
    batch: Batch, result: Result, submit: Callable[[list[Passage]], Result]
) -> list[tuple[int, IndexedChunk, Document, PassageVectors | WorkerLost]]:
    made: Sequence[PassageVectors | WorkerLost]
    try:
        made = result()
    except WorkerLost:
        # Submit the passages one by one, so that only the one that kills workers has no vectors.
        made = [_alone(submit([each])) for _, _, each in batch.values()]
    return [(number, *batch[number][:2], vectors) for number, vectors in zip(batch, made, strict=True)]


def _alone(result: Result) -> PassageVectors | WorkerLost:
    try:
        return result()[0]
    except WorkerLost as error:
        return error
