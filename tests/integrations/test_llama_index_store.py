"""Test the vector store for LlamaIndex, beside the framework's own where both can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.schema import BaseNode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn

import answerable
from answerable.errors import FilterError
from answerable.integrations.llama_index import AnswerableVectorStore

pytestmark = pytest.mark.anyio
ROWS: dict[str, dict[str, Any]] = {
    "a": {"name": "oak", "rank": 1, "tags": ["tree", "tall"], "page": 3},
    "b": {"name": "fern", "rank": 2, "tags": ["low"]},
    "c": {"name": "elm", "rank": 3, "tags": ["tree"], "note": ""},
}
FILTERS = [
    *(("rank", operator, 2) for operator in ("==", "!=", ">", ">=", "<", "<=")),
    ("page", "==", 3),
    ("page", "!=", 3),
    ("name", "in", ["oak", "elm"]),
    ("name", "nin", ["oak", "elm"]),
    ("tags", "contains", "tree"),
    ("tags", "any", ["tall", "low"]),
    ("tags", "all", ["tree", "tall"]),
    ("note", "is_empty", None),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def store() -> Iterator[AnswerableVectorStore]:
    with answerable.open(":memory:") as library:
        yield AnswerableVectorStore(library)


def nodes() -> list[BaseNode]:
    return [
        TextNode(
            id_=key,
            text=f"About the {row['name']}: it grows in the garden.",
            metadata=row,
            excluded_llm_metadata_keys=["rank"],
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"of {key}")},
        )
        for key, row in ROWS.items()
    ]


def one(key: str, operator: str, value: Any) -> MetadataFilter:
    return MetadataFilter(key=key, operator=FilterOperator(operator), value=value)


def ids(found: list[BaseNode]) -> set[str]:
    return {node.node_id for node in found}


def test_nodes_come_back_as_they_were_added(store: AnswerableVectorStore) -> None:
    assert store.add(nodes()) == store.add(nodes()) == list(ROWS)
    assert sorted(store.get_nodes(), key=lambda node: node.node_id) == nodes()
    found = store.query(VectorStoreQuery(query_str="Where does the fern grow?", similarity_top_k=2))
    assert (found.ids or [])[0] == "b"
    assert next(iter(found.nodes or [])) == nodes()[1]
    assert found.similarities == sorted(found.similarities or [], reverse=True)


def test_filters_pass_what_those_of_the_framework_pass(store: AnswerableVectorStore) -> None:
    store.add(nodes())
    singles = [MetadataFilters(filters=[one(*each)]) for each in FILTERS]
    pairs = [
        MetadataFilters(filters=[one("rank", ">", 1), one("name", "==", "elm")], condition=condition)
        for condition in FilterCondition
    ]
    wrong = []
    for filters in (*singles, *pairs):
        expected = {key for key in ROWS if build_metadata_filter_fn(ROWS.__getitem__, filters)(key)}
        query = VectorStoreQuery(query_str="garden", similarity_top_k=9, filters=filters)
        if not ids(store.get_nodes(filters=filters)) == set(store.query(query).ids or []) == expected:
            wrong.append((filters, expected))
    assert not wrong
    nested = MetadataFilters(filters=[singles[0], MetadataFilters(filters=[one("name", "==", "fern")])])
    assert ids(store.get_nodes(filters=nested)) == {"b"}


def test_nodes_are_deleted_by_document_id_filter_or_all(store: AnswerableVectorStore) -> None:
    store.add(nodes())
    store.delete("of a")
    store.delete("of nobody")
    assert ids(store.get_nodes()) == {"b", "c"}
    store.delete_nodes(["b", "x"])
    store.delete_nodes(filters=MetadataFilters(filters=[one("rank", ">", 9)]))
    assert ids(store.get_nodes()) == {"c"}
    store.clear()
    assert store.client.count() == (0, 0)


def test_a_query_is_limited_to_documents_and_nodes(store: AnswerableVectorStore) -> None:
    store.add(nodes())
    assert store.query(VectorStoreQuery(query_str="garden", similarity_top_k=9, doc_ids=["of b"])).ids == ["b"]
    assert store.query(VectorStoreQuery(query_str="garden", similarity_top_k=9, node_ids=["c"])).ids == ["c"]


def test_what_this_store_cannot_do_is_an_error(store: AnswerableVectorStore) -> None:
    for query in (
        VectorStoreQuery(query_embedding=[0.5]),
        VectorStoreQuery(query_str="garden", mode=VectorStoreQueryMode.MMR),
    ):
        with pytest.raises(ValueError, match="query_str"):
            store.query(query)
    with pytest.raises(FilterError, match="'text_match'"):
        store.get_nodes(filters=MetadataFilters(filters=[one("name", "text_match", "o")]))


async def test_in_an_index(store: AnswerableVectorStore) -> None:
    index = VectorStoreIndex.from_vector_store(store, embed_model=MockEmbedding(embed_dim=1))
    index.insert(Document(id_="kiln", text="The kiln fires on Thursdays.", metadata={"file_name": "studio.md"}))
    await index.ainsert(Document(id_="cat", text="The cat sleeps all day."))
    retriever = index.as_retriever(similarity_top_k=1)
    for found in (retriever.retrieve("When is the kiln on?"), await retriever.aretrieve("When is the kiln on?")):
        assert [each.text for each in found] == ["The kiln fires on Thursdays."]
    index.delete_ref_doc("kiln")
    assert [each.text for each in retriever.retrieve("When is the kiln on?")] == ["The cat sleeps all day."]
