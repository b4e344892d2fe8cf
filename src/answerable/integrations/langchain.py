"""A library as a retriever and as a vector store of LangChain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from answerable import datatypes
from answerable.codec import to_json
from answerable.errors import MissingPackage
from answerable.integrations import best_documents, described, drop, present, put
from answerable.library import Library

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import run_in_executor
    from langchain_core.vectorstores import VectorStore
except ImportError as error:
    raise MissingPackage("LangChain's classes need the package langchain-core", "langchain") from error


class AnswerableRetriever(BaseRetriever):
    """Finds the `k` best passages that match the filter `where`; the metadata of each say where it is in its source.

    `invoke(question, k=…, where=…)` overrides both for one question.
    """

    library: Library
    k: int = 6
    where: Mapping[str, Any] | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **overrides: Any
    ) -> list[Document]:
        found = self.library.search(query, **{"k": self.k, "where": self.where, **overrides})
        return [Document(each.chunk.content, id=each.chunk.id, metadata=described(each)) for each in found]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **overrides: Any
    ) -> list[Document]:
        manager = run_manager.get_sync()
        return await run_in_executor(None, self._get_relevant_documents, query, run_manager=manager, **overrides)


class AnswerableVectorStore(VectorStore):
    """Keeps documents of LangChain in a library, which embeds them itself, and finds them whole, by meaning and words.

    A document without an id gets one made of its text and metadata, so that adding it again changes nothing. A
    `filter` is the library's, on the metadata. Scores are comparable only within one search; higher is better.
    """

    def __init__(self, library: Library) -> None:
        self.library = library

    def add_documents(
        self, documents: list[Document], *, ids: Sequence[str | None] | None = None, **_: Any
    ) -> list[str]:
        """Add or replace documents; return their ids."""
        given = ids or [None] * len(documents)
        added = [_stored(each, id or each.id) for each, id in zip(documents, given, strict=True)]
        put(self.library, added)
        return [each.id for each in added]

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Remove the documents with these ids, or all documents of the library."""
        drop(self.library, [each.id for each in self.library.documents()] if ids is None else ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents with these ids, without those that the library doesn't have."""
        return [_returned(each) for each in present(self.library, ids)]

    def similarity_search(
        self, query: str, k: int = 4, filter: Mapping[str, Any] | None = None, **_: Any
    ) -> list[Document]:
        """Return the k best documents, best first."""
        return [document for document, _score in self.similarity_search_with_score(query, k, filter)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: Mapping[str, Any] | None = None, **_: Any
    ) -> list[tuple[Document, float]]:
        """Return the k best documents with their scores, best first."""
        return [(_returned(each.document), each.score) for each in best_documents(self.library, query, k, filter)]

    @classmethod
    def from_texts(  # type: ignore[override]  # LangChain's signature can't tell that a store needs a library.
        cls,
        texts: list[str],
        embedding: object = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        library: Library,
        ids: list[str] | None = None,
        **_: Any,
    ) -> AnswerableVectorStore:
        """Return the store of a library to which these texts are added. The library embeds them, not `embedding`."""
        store = cls(library)
        store.add_texts(texts, metadatas, ids=ids)
        return store


def _stored(document: Document, id: str | None) -> datatypes.Document:
    text, metadata = document.page_content, document.metadata
    # No source: the pieces that LangChain cut from one file have the same, and would replace each other.
    made = datatypes.document_id(to_json(metadata), text)
    return datatypes.Document(id or made, text, title=str(metadata.get("title") or ""), metadata=metadata)


def _returned(document: datatypes.Document) -> Document:
    return Document(document.content, id=document.id, metadata=dict(document.metadata))
