"""A library as a retriever of LlamaIndex."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from answerable.datatypes import RetrievalResult
from answerable.errors import MissingPackage
from answerable.integrations import FOR_PROGRAMS, described
from answerable.library import Library

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise MissingPackage("The retriever of LlamaIndex needs the package llama-index-core", "llama-index") from error


class AnswerableRetriever(BaseRetriever):
    """Finds the `k` best passages that match the filter `where`; the metadata of each say where it is in its source."""

    def __init__(self, library: Library, k: int = 6, where: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._library, self._k, self._where = library, k, where

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._library.search(query_bundle.query_str, self._k, self._where)
        return [NodeWithScore(node=_node(each), score=each.score) for each in found]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(found: RetrievalResult) -> TextNode:
    chunk, hidden = found.chunk, FOR_PROGRAMS
    return TextNode(id_=chunk.id, text=chunk.content, metadata=described(found), excluded_llm_metadata_keys=hidden)
