"""Haystack: DocumentSplitter, InMemoryDocumentStore with its BM25 and embedding retrievers, DocumentJoiner.

The splitter's sizes are those of Haystack's tutorial on hybrid retrieval; ranks are fused as `DocumentJoiner` offers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from peers.interface import Embedder, Found, Text


def build(folder: Path, language: str, embedder: Embedder) -> Haystack:
    """An empty store in memory."""
    return Haystack(embedder)


class Haystack:
    """The store with a pipeline that writes and one that asks."""

    def __init__(self, embedder: Embedder) -> None:
        self._store = InMemoryDocumentStore()
        self._indexing = Pipeline()
        self._indexing.add_component("splitter", DocumentSplitter(split_by="word", split_length=512, split_overlap=32))
        self._indexing.add_component("embedder", _DocumentEmbedder(embedder))
        self._indexing.add_component("writer", DocumentWriter(self._store, policy=DuplicatePolicy.SKIP))
        self._indexing.connect("splitter", "embedder")
        self._indexing.connect("embedder", "writer")
        self._asking = Pipeline()
        self._asking.add_component("text_embedder", _TextEmbedder(embedder))
        self._asking.add_component("embeddings", InMemoryEmbeddingRetriever(self._store))
        self._asking.add_component("keywords", InMemoryBM25Retriever(self._store))
        self._asking.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
        self._asking.connect("text_embedder.embedding", "embeddings.query_embedding")
        self._asking.connect("embeddings", "joiner")
        self._asking.connect("keywords", "joiner")

    def content(self, document: Text) -> str:
        """The title over the text."""
        return document.whole

    def add(self, documents: Sequence[Text]) -> None:
        """Through the pipeline; the writer passes over passages that are there, since their ids come from them."""
        made = [Document(content=document.whole, meta={"document": document.id}) for document in documents]
        self._indexing.run({"splitter": {"documents": made}})

    def search(self, question: str, k: int) -> list[Found]:
        """The joined passages; each retriever is asked for k."""
        done = self._asking.run(
            {
                "text_embedder": {"text": question},
                "embeddings": {"top_k": k},
                "keywords": {"query": question, "top_k": k},
                "joiner": {"top_k": k},
            }
        )
        return [
            Found(
                found.meta["document"],
                found.content,
                found.meta["split_idx_start"],
                found.meta["split_idx_start"] + len(found.content),
            )
            for found in done["joiner"]["documents"]
        ]

    def delete(self, document: str) -> None:
        """Its passages, which a filter finds."""
        filters = {"field": "meta.document", "operator": "==", "value": document}
        self._store.delete_documents([found.id for found in self._store.filter_documents(filters)])


@component
class _DocumentEmbedder:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        for start in range(0, len(documents), 64):
            batch = documents[start : start + 64]
            vectors = self._embedder.passages([document.content for document in batch])
            for document, vector in zip(batch, vectors.tolist(), strict=True):
                document.embedding = vector
        return {"documents": documents}


@component
class _TextEmbedder:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": self._embedder.question(text).tolist()}
