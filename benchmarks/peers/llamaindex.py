"""LlamaIndex: SentenceSplitter, VectorStoreIndex, BM25Retriever and QueryFusionRetriever by relative score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import Stemmer
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.retrievers.bm25 import BM25Retriever
from pydantic import PrivateAttr

from peers.interface import Embedder, Found, Text

STEMMERS = {"en": "english", "es": "spanish", "pt": "portuguese"}


def build(folder: Path, language: str, embedder: Embedder) -> LlamaIndex:
    """An empty index in memory, which is where LlamaIndex keeps it by default."""
    return LlamaIndex(language, embedder)


class LlamaIndex:
    """The index with the retrievers over it."""

    def __init__(self, language: str, embedder: Embedder) -> None:
        self._language = language
        self._index = VectorStoreIndex(
            [], embed_model=_Embedding(embedder), transformations=[SentenceSplitter()], show_progress=False
        )
        self._keywords: BM25Retriever | None = None

    def content(self, document: Text) -> str:
        """The title over the text."""
        return document.whole

    def add(self, documents: Sequence[Text]) -> None:
        """New documents at once; documents that may be there already by `refresh_ref_docs`."""
        made = [Document(text=document.whole, id_=document.id) for document in documents]
        if self._keywords is None:
            for document in made:
                self._index.docstore.set_document_hash(document.id_, document.hash)
            self._index.insert_nodes(SentenceSplitter().get_nodes_from_documents(made))
            changed = True
        else:
            changed = any(self._index.refresh_ref_docs(made))
        if changed:
            self._index_keywords()

    def search(self, question: str, k: int) -> list[Found]:
        """The fused passages; each retriever is asked for k."""
        assert self._keywords is not None
        self._keywords.similarity_top_k = min(k, len(self._index.docstore.docs))
        retriever = QueryFusionRetriever(
            [self._index.as_retriever(similarity_top_k=k), self._keywords],
            llm=MockLLM(),
            mode="relative_score",
            num_queries=1,
            similarity_top_k=k,
            use_async=False,
        )
        return [
            Found(result.node.ref_doc_id, result.node.text, result.node.start_char_idx, result.node.end_char_idx)
            for result in retriever.retrieve(question)
        ]

    def delete(self, document: str) -> None:
        """Out of the index and its document store; BM25Retriever is built anew, since it can't forget."""
        self._index.delete_ref_doc(document, delete_from_docstore=True)
        self._index_keywords()

    def _index_keywords(self) -> None:
        self._keywords = BM25Retriever.from_defaults(
            docstore=self._index.docstore,
            stemmer=Stemmer.Stemmer(STEMMERS[self._language]),
            language=self._language,
        )


class _Embedding(BaseEmbedding):
    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Embedder, **settings: Any) -> None:
        super().__init__(embed_batch_size=64, **settings)
        self._embedder = embedder

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embedder.question(query).tolist()

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.passages(texts).tolist()
