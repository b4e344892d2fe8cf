"""The pipeline: index documents, retrieve by meaning and by keyword, build the context for a language model.

The other public names of the toolkit's retrieval are here as well.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

from answerable.filters import Filter, matches, normalize_fields, parse_filter
from answerable.retrieval import DENSE_WEIGHT, exact_first, fuse
from codomyrmex.llm.rag._closeness import closeness, floor
from codomyrmex.llm.rag._context import RAG_PROMPT_TEMPLATE, ContextFormatter, create_rag_prompt
from codomyrmex.llm.rag._corpus import Corpus, read
from codomyrmex.llm.rag._documents import Chunk, Document, DocumentType, GenerationContext, RetrievalResult
from codomyrmex.llm.rag._settings import TOP_K
from codomyrmex.llm.rag._splitters import RecursiveTextSplitter, SentenceSplitter, TextSplitter
from codomyrmex.llm.rag._vector_store import InMemoryVectorStore, VectorStore, fields_of, require_k
from codomyrmex.llm.rag._vectors import EmbeddingFunction, embed

__all__ = [
    "RAG_PROMPT_TEMPLATE",
    "Chunk",
    "ContextFormatter",
    "Document",
    "DocumentType",
    "GenerationContext",
    "InMemoryVectorStore",
    "RAGPipeline",
    "RecursiveTextSplitter",
    "RetrievalResult",
    "SentenceSplitter",
    "TextSplitter",
    "VectorStore",
    "create_rag_prompt",
]

CANDIDATES = 100

Scored: TypeAlias = list[tuple[int, float]]


class RAGPipeline:
    """Indexes documents, retrieves from them, builds contexts. Safe to share between threads.

    `embedding_fn` gives a vector for each of a list of texts, passages and queries alike; the other parts have
    defaults. Keyword search and filters cover what this pipeline has indexed, whatever store holds the vectors; without
    `hybrid` there is no keyword search, and scores are the store's.
    """

    def __init__(
        self,
        embedding_fn: EmbeddingFunction,
        vector_store: VectorStore | None = None,
        text_splitter: TextSplitter | None = None,
        context_formatter: ContextFormatter | None = None,
        *,
        hybrid: bool = True,
    ) -> None:
        self.embedding_fn = embedding_fn
        # A store that is still empty is false.
        self.vector_store = InMemoryVectorStore() if vector_store is None else vector_store
        self.text_splitter = text_splitter or RecursiveTextSplitter()
        self.context_formatter = context_formatter or ContextFormatter()
        self.hybrid = hybrid
        self._corpus = Corpus()
        self._lowest: tuple[EmbeddingFunction, float] | None = None
        # Embedding takes long: who reads waits only while what is found changes, not as long as who writes.
        self._writing = threading.Lock()
        self._lock = threading.RLock()

    def index_document(self, document: Document) -> int:
        """Index a document, replacing the one with its id; return the number of its chunks.

        When anything fails, what was indexed before stays. Chunks that haven't changed aren't embedded again. Raises
        ValueError for vectors that can't be those of the chunks, and for chunks that share an id.
        """
        return self.index_documents([document])

    def index_documents(self, documents: Iterable[Document]) -> int:
        """Index documents as `index_document` does, all of them or none; return the number of their chunks.

        Texts are embedded in batches across documents. Of two documents with one id the later counts.
        """
        latest = {document.id: _snapshot(document) for document in documents}
        readings = [read(document, self._split(document)) for document in latest.values()]
        chunks = [entry.chunk for reading in readings for entry in reading.entries]
        with self._writing:
            before = {chunk.id: chunk for document_id in latest for chunk in self._corpus.chunks(document_id)}
            self._require_own_ids(chunks, before)
            fresh = [chunk for chunk in chunks if chunk.id not in before or before[chunk.id] != chunk]
            vectors = embed(self.embedding_fn, [chunk.content for chunk in fresh])
            embedded = [replace(chunk, embedding=vector) for chunk, vector in zip(fresh, vectors, strict=True)]
            with self._lock:
                self._store(embedded, before, {chunk.id for chunk in chunks})
                for reading in readings:
                    self._corpus.put(reading)
        return len(chunks)

    def retrieve(self, query: str, k: int = TOP_K, where: Mapping[str, Any] | None = None) -> list[RetrievalResult]:
        """The k best chunks for a query that pass, by meaning and by keyword, best first.

        Scores run from 0 to 1: how high a chunk stands between the best and the last of both searches, times the mean
        of the best cosine, counted from that of unrelated texts, and of the largest share of the query's words that a
        chunk has. Chunks with the query's identifiers and quoted words come first. `where` is a filter of the engine's
        over documents' metadata, `source`, `doc_type` and `document_id`. Nothing is found for a blank query.
        Raises ValueError for a negative k, FilterError for a filter that makes no sense.
        """
        k, condition = require_k(k), parse_filter(where)
        if not query.strip() or not k:
            return []
        lowest = self._unrelated() if self.hybrid else 0.0
        (vector,) = embed(self.embedding_fn, [query])
        with self._lock:
            wanted = max(k, CANDIDATES)
            nearest = self._nearest(vector, wanted, where, condition)
            keyword = self._corpus.search(query, wanted, condition) if self.hybrid else []
            # What the store has and this pipeline hasn't indexed gets numbers of its own.
            numbers = [self._corpus.number(hit.chunk.id) or -place for place, hit in enumerate(nearest, 1)]
            hits = dict(zip(numbers, nearest, strict=True))
            scored = [(number, hit.score) for number, hit in hits.items()]
            if self.hybrid:
                held = self._corpus.held(query, condition)
                fused = dict.fromkeys(held, 0.0) | dict(_fused(scored, keyword, lowest))
                scored = [*exact_first(list(fused.items()), held)]
            return [self._result(number, score, hits.get(number)) for number, score in scored[:k]]

    def build_context(self, query: str, k: int = TOP_K, where: Mapping[str, Any] | None = None) -> GenerationContext:
        """Return what `retrieve` finds, also formatted for a language model."""
        results = self.retrieve(query, k, where)
        return GenerationContext(query, results, self.context_formatter.format(results))

    def delete_document(self, document_id: str) -> bool:
        """Remove a document and its chunks; return False when this pipeline hasn't indexed it."""
        with self._writing, self._lock:
            if document_id not in self._corpus:
                return False
            self._delete([chunk.id for chunk in self._corpus.chunks(document_id)])
            self._corpus.remove(document_id)
            return True

    def _split(self, document: Document) -> list[Chunk]:
        """A document's chunks with what filters ask for."""
        about = {"source": document.source, "doc_type": document.doc_type.value}
        return [
            replace(
                chunk,
                document_id=document.id,
                embedding=None,
                metadata={**document.metadata, **chunk.metadata, **about},
            )
            for chunk in self.text_splitter.split(document)
        ]

    def _require_own_ids(self, chunks: Sequence[Chunk], before: Mapping[str, Chunk]) -> None:
        seen: set[str] = set()
        for chunk in chunks:
            if chunk.id in seen or (chunk.id not in before and self._corpus.number(chunk.id) is not None):
                raise ValueError(f"two chunks have the id {chunk.id!r}: a text splitter must give each its own")
            seen.add(chunk.id)

    def _store(self, embedded: list[Chunk], before: Mapping[str, Chunk], after: set[str]) -> None:
        """Add first and delete last, so that a store that fails keeps what it had."""
        try:
            if embedded:
                self.vector_store.add(embedded)
            self._delete([chunk_id for chunk_id in before if chunk_id not in after])
        except BaseException:
            with suppress(Exception):
                self._delete([chunk.id for chunk in embedded if chunk.id not in before])
            raise

    def _delete(self, chunk_ids: list[str]) -> None:
        if chunk_ids:
            self.vector_store.delete(chunk_ids)

    def _unrelated(self) -> float:
        """The cosine that says nothing; 0 where the function can't embed texts that it doesn't know."""
        if self._lowest is None or self._lowest[0] is not self.embedding_fn:
            try:
                self._lowest = self.embedding_fn, floor(self.embedding_fn)
            except Exception:
                return 0.0
        return self._lowest[1]

    def _nearest(
        self, vector: list[float], wanted: int, where: Mapping[str, Any] | None, condition: Filter | None
    ) -> list[RetrievalResult]:
        """The store's results that pass, best first, each chunk once."""
        if isinstance(self.vector_store, InMemoryVectorStore):
            return self.vector_store.search(vector, wanted, where)
        asked = wanted
        while True:
            # A store need not know filters: it is asked for more until enough of it passes.
            found = self.vector_store.search(vector, asked)
            passing: dict[str, RetrievalResult] = {}
            for hit in sorted(found, key=lambda hit: -hit.score):
                if matches(condition, self._fields(hit.chunk)):
                    passing.setdefault(hit.chunk.id, hit)
            if len(passing) >= wanted or len(found) < asked:
                return list(passing.values())[:wanted]
            asked *= 4

    def _fields(self, chunk: Chunk) -> Mapping[str, Any]:
        number = self._corpus.number(chunk.id)
        return normalize_fields(fields_of(chunk)) if number is None else self._corpus[number].fields

    def _result(self, number: int, score: float, hit: RetrievalResult | None) -> RetrievalResult:
        if number < 0 and hit is not None:
            return RetrievalResult(hit.chunk, score, hit.document)
        entry, embedding = self._corpus[number], hit.chunk.embedding if hit else None
        chunk = replace(entry.chunk, embedding=embedding, metadata=dict(entry.chunk.metadata))
        return RetrievalResult(chunk, score, _snapshot(entry.document))


def _fused(nearest: Scored, keyword: Scored, lowest: float) -> Scored:
    """Fuse both lists, best first. `fuse` alone gives the best a high score even when it is irrelevant."""
    near = closeness(nearest[0][1], lowest) if nearest else 0.0
    words = dict(keyword)
    relevance = (near + max(words.values(), default=0.0)) / 2
    fused = fuse(nearest, keyword, DENSE_WEIGHT if keyword else 1.0)
    # Of equal ones that with more of the query's words comes first.
    ranked = sorted(fused, key=lambda pair: (-pair[1], -words.get(pair[0], 0.0)))
    return [(number, score * relevance) for number, score in ranked]


def _snapshot(document: Document) -> Document:
    """A copy that shares no state."""
    return replace(document, metadata=dict(document.metadata))
