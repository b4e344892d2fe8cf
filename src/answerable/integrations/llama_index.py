"""A library as a retriever and as a vector store of LlamaIndex."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from answerable.datatypes import Document, RetrievalResult
from answerable.errors import FilterError, MissingPackage
from answerable.filters import matches, normalize_fields, parse_filter
from answerable.indexing.prepare import document_fields
from answerable.integrations import FOR_PROGRAMS, best_documents, described, drop, put
from answerable.library import Library

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
    from llama_index.core.vector_stores.types import (
        BasePydanticVectorStore,
        FilterCondition,
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
        VectorStoreQuery,
        VectorStoreQueryMode,
        VectorStoreQueryResult,
    )
    from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict
except ImportError as error:
    raise MissingPackage("LlamaIndex's classes need the package llama-index-core", "llama-index") from error

# The key of a document's metadata for the node itself, an object, so that filters don't see it.
_NODE = "llama_index"
# The key for the id of the document that LlamaIndex cut the node from.
_OF = "ref_doc_id"
_MODES = {VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.HYBRID, VectorStoreQueryMode.SEMANTIC_HYBRID}
_BOUNDS = {
    FilterOperator.GT: "gt",
    FilterOperator.GTE: "gte",
    FilterOperator.LT: "lt",
    FilterOperator.LTE: "lte",
}


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


class AnswerableVectorStore(BasePydanticVectorStore):
    """Keeps nodes of LlamaIndex in a library, which embeds them itself, and finds them whole, by meaning and words.

    Filters are on the metadata of nodes; texts are compared without case and accents. Scores are comparable only
    within one search.
    """

    def __init__(self, library: Library) -> None:
        super().__init__(stores_text=True, is_embedding_query=False)
        self._library = library

    @property
    def client(self) -> Library:
        """The library."""
        return self._library

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Add or replace nodes; return their ids."""
        put(self._library, map(_stored, nodes))
        return [node.node_id for node in nodes]

    async def async_add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Add or replace nodes in a thread; return their ids."""
        return await asyncio.to_thread(self.add, nodes)

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Remove the nodes of a document of LlamaIndex."""
        drop(self._library, [each.id for each in self._library.documents() if each.metadata.get(_OF) == ref_doc_id])

    def delete_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **_: Any) -> None:
        """Remove the nodes with these ids, if given, that pass the filters."""
        drop(self._library, self._ids(node_ids, filters))

    def clear(self) -> None:
        """Remove all documents of the library."""
        drop(self._library, self._ids(None, None))

    def get_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None) -> list[BaseNode]:
        """Return the nodes with these ids, if given, that pass the filters."""
        return [_returned(self._library.document(each)) for each in self._ids(node_ids, filters)]

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        """Return the best nodes for `query_str`. Raise ValueError without one, or for a mode of other stores."""
        if not query.query_str or query.mode not in _MODES:
            raise ValueError(f"{query.mode}: this store needs query_str, and a mode of {', '.join(sorted(_MODES))}.")
        chosen = [{name: ids} for name, ids in ((_OF, query.doc_ids), ("document_id", query.node_ids)) if ids]
        chosen += [where] if (where := _where(query.filters)) else []
        found = best_documents(
            self._library, query.query_str, query.similarity_top_k, {"and": chosen} if chosen else None
        )
        nodes = [_returned(each.document) for each in found]
        return VectorStoreQueryResult(nodes, [each.score for each in found], [node.node_id for node in nodes])

    async def aquery(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        """Return the best nodes, as `query` does, from a thread."""
        return await asyncio.to_thread(self.query, query)

    def _ids(self, node_ids: Sequence[str] | None, filters: MetadataFilters | None) -> list[str]:
        passing = parse_filter(_where(filters))
        return [
            each.id
            for each in self._library.documents()
            if (node_ids is None or each.id in node_ids) and matches(passing, normalize_fields(document_fields(each)))
        ]


def _stored(node: BaseNode) -> Document:
    kept = node_to_metadata_dict(node, remove_text=True)
    own = {_OF: node.ref_doc_id, _NODE: {name: kept[name] for name in ("_node_content", "_node_type")}}
    title = str(node.metadata.get("title") or node.metadata.get("file_name") or "")
    return Document(node.node_id, node.get_content(), title=title, metadata={**node.metadata, **own})


def _returned(document: Document) -> BaseNode:
    if _NODE in document.metadata:
        return metadata_dict_to_node(document.metadata[_NODE], document.content)
    return TextNode(id_=document.id, text=document.content, metadata=dict(document.metadata))


def _where(filters: MetadataFilters | None) -> dict[str, Any] | None:
    """Return a filter of LlamaIndex as one of ours. Raise FilterError."""
    if filters is None or not filters.filters:
        return None
    parts = [_where(each) if isinstance(each, MetadataFilters) else _condition(each) for each in filters.filters]
    if filters.condition is FilterCondition.NOT:
        return {"not": {"or": parts}}
    return {"or" if filters.condition is FilterCondition.OR else "and": parts}


def _condition(filter: MetadataFilter) -> dict[str, Any]:
    key, value, operator = filter.key, filter.value, filter.operator
    if operator in _BOUNDS:
        return {key: {_BOUNDS[operator]: value}}
    match operator:
        case FilterOperator.EQ | FilterOperator.IN | FilterOperator.ANY | FilterOperator.CONTAINS:
            return {key: value}
        case FilterOperator.NE | FilterOperator.NIN:
            return {"not": {key: value}}
        case FilterOperator.ALL if isinstance(value, list):
            return {"and": [{key: each} for each in value]}
        case FilterOperator.IS_EMPTY:
            return {"or": [{key: {"exists": False}}, {key: ""}]}
    raise FilterError(f"A filter here has no {operator.value!r}. Compare whole values, or search for the words.")
