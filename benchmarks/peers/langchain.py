"""LangChain: RecursiveCharacterTextSplitter, FAISS, BM25Retriever, EnsembleRetriever and the indexing API."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import faiss
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.docstore.in_memory import InMemoryDocstore
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_text_splitters import RecursiveCharacterTextSplitter

from peers.interface import DIMENSION, Embedder, Found, Text


def build(folder: Path, language: str, embedder: Embedder) -> LangChain:
    """An empty vector store and an empty record of what is in it, both in memory."""
    return LangChain(embedder)


class LangChain:
    """The vector store with the retrievers over it."""

    def __init__(self, embedder: Embedder) -> None:
        self._splitter = RecursiveCharacterTextSplitter(add_start_index=True)
        self._store = FAISS(_Embeddings(embedder), faiss.IndexFlatL2(DIMENSION), InMemoryDocstore(), {})
        self._records = InMemoryRecordManager("peers")
        self._records.create_schema()
        self._keywords: BM25Retriever | None = None

    def content(self, document: Text) -> str:
        """The title over the text."""
        return document.whole

    def add(self, documents: Sequence[Text]) -> None:
        """By `index`, which leaves out what its records know."""
        made = [Document(document.whole, metadata={"source": document.id}) for document in documents]
        done = index(
            self._splitter.split_documents(made),
            self._records,
            self._store,
            cleanup="incremental",
            source_id_key="source",
            key_encoder="sha256",
        )
        if self._keywords is None or done["num_added"] or done["num_deleted"]:
            self._index_keywords()

    def search(self, question: str, k: int) -> list[Found]:
        """The fused passages; each retriever is asked for k."""
        assert self._keywords is not None
        self._keywords.k = k
        retriever = EnsembleRetriever(
            retrievers=[self._keywords, self._store.as_retriever(search_kwargs={"k": k})], weights=[0.5, 0.5]
        )
        return [
            Found(
                found.metadata["source"],
                found.page_content,
                found.metadata["start_index"],
                found.metadata["start_index"] + len(found.page_content),
            )
            for found in retriever.invoke(question)[:k]
        ]

    def delete(self, document: str) -> None:
        """Its passages by their keys, looked up in the records; BM25Retriever is built anew, since it can't forget."""
        keys = self._records.list_keys(group_ids=[document])
        self._store.delete(keys)
        self._records.delete_keys(keys)
        self._index_keywords()

    def _index_keywords(self) -> None:
        ids = self._store.index_to_docstore_id.values()
        self._keywords = BM25Retriever.from_documents([self._store.docstore.search(key) for key in ids])


class _Embeddings(Embeddings):
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.passages(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self._embedder.question(text).tolist()
