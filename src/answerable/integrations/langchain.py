"""A library as a retriever of LangChain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from answerable.errors import MissingPackage
from answerable.integrations import described
from answerable.library import Library

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise MissingPackage("The retriever of LangChain needs the package langchain-core", "langchain") from error


class AnswerableRetriever(BaseRetriever):
    """Finds the `k` best passages that match the filter `where`; the metadata of each say where it is in its source."""

    library: Library
    k: int = 6
    where: Mapping[str, Any] | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = self.library.search(query, self.k, self.where)
        return [Document(each.chunk.content, id=each.chunk.id, metadata=described(each)) for each in found]
