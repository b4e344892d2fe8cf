"""Builders that use the engine's real code, with a real but tiny embedder."""

from __future__ import annotations

import atexit
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from answerable.datatypes import Answer, Chunk, Document, FloatArray, Location, chunk_id
from answerable.filters import normalize_fields
from answerable.indexing.ingest import Ingestion
from answerable.protocols import Embedder, Fingerprint, IndexedChunk, Passage, PassageVectors, Store
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore
from answerable.text.terms import terms

WORD = re.compile(r"\w+|[^\w\s]")


class HashEmbedder:
    """Bags of words by feature hashing (Weinberger et al. 2009). Counts what it embeds."""

    def __init__(self, dimension: int = 64) -> None:
        self.fingerprint = Fingerprint("hash", "words", dimension)
        self.embedded = 0

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        self.embedded += len(passages)
        return [
            PassageVectors(
                self._vector(passage.text), self._vectors(passage.text[start:end] for start, end in passage.spans)
            )
            for passage in passages
        ]

    def embed_query(self, text: str) -> FloatArray:
        return self._vector(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(WORD.findall(text)) for text in texts]

    def cost(self, tokens: int) -> float:
        return 0.0

    def _vectors(self, texts: Iterable[str]) -> FloatArray:
        rows = [self._vector(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.fingerprint.dimension), np.float32)

    def _vector(self, text: str) -> FloatArray:
        vector = np.zeros(self.fingerprint.dimension, np.float32)
        for word, count in Counter(WORD.findall(text.lower())).items():
            digest = zlib.crc32(word.encode("utf-8", "replace"))
            vector[digest % len(vector)] += count if digest & 0x8000_0000 else -count
        length = float(np.linalg.norm(vector))
        return vector / np.float32(length) if length else vector


class SharedReader(FileReader):
    """Reads with the same process after the library that it belongs to was closed: a process costs a quarter second."""

    def __init__(self) -> None:
        super().__init__()
        atexit.register(super().close)

    def close(self) -> None:
        pass


READER = SharedReader()


def make_document(text: str, doc_id: str | None = None, **metadata: Any) -> Document:
    """A document with what people give: a source, a title, a type, a language, metadata."""
    return Document.from_text(text, doc_id, **metadata)


def add(store: Store, *documents: Document, embedder: Embedder | None = None, chunk_size: int = 200) -> None:
    """Splits, embeds and stores documents as the engine does."""
    splitter = SplitterByType(chunk_size, chunk_size // 10)
    Ingestion(store, embedder or HashEmbedder(), splitter, len(documents)).run(enumerate(documents))


def indexed_document(
    document: Document, embedder: Embedder | None = None, chunk_size: int = 200
) -> tuple[Document, list[IndexedChunk]]:
    """A document as it is stored, with its chunks."""
    store = MemoryStore()
    add(store, document, embedder=embedder, chunk_size=chunk_size)
    stored = store.document(document.id)
    assert stored is not None
    found = store.fetch(range(1, store.count()[1] + 1))
    return stored, [chunk for chunk, _ in found.values()]


def indexed_chunk(
    text: str,
    vector: Sequence[float] | FloatArray,
    document_id: str = "document",
    sequence: int = 0,
    start: int = 0,
    fields: Mapping[str, Any] | None = None,
    language: str = "",
) -> IndexedChunk:
    """A chunk whose vector and fields are chosen; the vector is normalised."""
    row = np.asarray(vector, np.float32)
    row = row / np.linalg.norm(row)
    return IndexedChunk(
        chunk=Chunk(
            id=chunk_id(document_id, start, text),
            document_id=document_id,
            content=text,
            start=start,
            end=start + len(text),
            sequence=sequence,
            location=Location((1, 1)),
        ),
        vector=row,
        terms=Counter(terms(text, language)),
        fields=normalize_fields(fields or {}),
        sentences=((0, len(text)),) if text else (),
        sentence_vectors=row[None][: bool(text)],
    )


def indexed_texts(
    document_id: str,
    texts: Sequence[str],
    vectors: Sequence[Sequence[float] | FloatArray],
    fields: Sequence[Mapping[str, Any]] | None = None,
    **document: Any,
) -> tuple[Document, list[IndexedChunk]]:
    """A document made of these chunks, a line each."""
    content = "\n".join(texts)
    chunks: list[IndexedChunk] = []
    start = 0
    for sequence, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
        chunks.append(indexed_chunk(text, vector, document_id, sequence, start, fields[sequence] if fields else None))
        start += len(text) + 1
    return make_document(content, document_id, **document), chunks


def is_figure(answer: Answer) -> bool:
    """Whether an answer states what was computed."""
    return answer.answered and any(step.name == "figures" and "plan" in step.chose for step in answer.why)
