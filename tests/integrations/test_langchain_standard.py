"""Run LangChain's standard tests on the retriever and the vector store, and test what these don't cover."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests

import answerable
from answerable.integrations.langchain import AnswerableRetriever, AnswerableVectorStore

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def examples() -> Iterator[answerable.Library]:
    with answerable.open(":memory:") as library:
        library.add(EXAMPLES)
        yield library


@pytest.fixture
def vectorstore() -> Iterator[AnswerableVectorStore]:
    with answerable.open(":memory:") as library:
        yield AnswerableVectorStore(library)


class TestRetriever(RetrieversIntegrationTests):
    retriever_constructor = AnswerableRetriever
    retriever_query_example = "How often should I descale the machine?"

    @pytest.fixture(autouse=True)
    def _library(self, examples: answerable.Library) -> None:
        self._examples = examples

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"library": self._examples}

    async def test_ainvoke_with_k_and_where(self, retriever: AnswerableRetriever) -> None:
        found = await retriever.ainvoke(self.retriever_query_example, k=2, where={"type": "pdf"})
        assert [each.metadata["source"][-4:] for each in found] == [".pdf", ".pdf"]


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, vectorstore: AnswerableVectorStore) -> AnswerableVectorStore:
        return vectorstore


def test_long_documents_come_back_whole_and_once(vectorstore: AnswerableVectorStore) -> None:
    long = "\n\n".join(f"Rule {number} of the house: the kettle is filled with {number} cups." for number in range(200))
    vectorstore.add_texts([long, "Kettles are kept in the kitchen.", "The cat sleeps."], ids=["long", "short", "cat"])
    assert len(vectorstore.library.chunks("long")) > 2
    found = vectorstore.similarity_search("How many cups does the kettle take?", k=2)
    assert {each.id for each in found} == {"long", "short"}
    assert next(each for each in found if each.id == "long").page_content == long


def test_filters_are_on_the_metadata_also_where_it_has_our_names(vectorstore: AnswerableVectorStore) -> None:
    pieces = [
        Document(page_content=f"Piece {page} of the book.", metadata={"source": "book.pdf", "page": page, "title": "B"})
        for page in range(3)
    ]
    ids = vectorstore.add_documents(pieces)
    assert vectorstore.add_documents(pieces) == ids
    assert vectorstore.library.count() == (3, 3)
    retriever = vectorstore.as_retriever(search_kwargs={"k": 5, "filter": {"source": "book.pdf", "page": [0, 2]}})
    assert {each.id for each in retriever.invoke("book")} == {ids[0], ids[2]}
    assert not vectorstore.library.verify().findings


def test_texts_with_scores_and_deleting_all() -> None:
    with answerable.open(":memory:") as library:
        store = AnswerableVectorStore.from_texts(["Tea is hot.", "Ice is cold."], library=library)
        (best, score), (_, lower) = store.similarity_search_with_score("What is cold?")
        assert best.page_content == "Ice is cold."
        assert score > lower
        assert store.delete()
        assert library.count() == (0, 0)
