"""Test the retrievers for LangChain and LlamaIndex within these frameworks."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer

import answerable
from answerable.integrations import langchain, llama_index

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = "How often should I descale the machine?"


@pytest.fixture(scope="module")
def library() -> Iterator[answerable.Library]:
    with answerable.open(":memory:") as library:
        library.add(EXAMPLES)
        yield library


def assert_stands_there(library: answerable.Library, text: str, metadata: dict[str, Any]) -> None:
    document = library.document(metadata["document_id"])
    assert document.content[metadata["start"] : metadata["end"]] == text
    assert metadata["source"] == document.source
    assert metadata["link"].startswith("file://")


def test_langchain_finds_what_the_library_finds(library: answerable.Library) -> None:
    retriever = langchain.AnswerableRetriever(library=library, k=3)
    found = retriever.invoke(QUESTION)
    assert [each.id for each in found] == [each.chunk.id for each in library.search(QUESTION, 3)]
    for each in found:
        assert_stands_there(library, each.page_content, each.metadata)
    assert asyncio.run(retriever.ainvoke(QUESTION)) == found
    narrow = langchain.AnswerableRetriever(library=library, where={"type": "pdf"})
    assert {each.metadata["source"].rsplit(".", 1)[1] for each in narrow.invoke(QUESTION)} == {"pdf"}


def test_langchain_in_a_chain(library: answerable.Library) -> None:
    def first(found: list[Document]) -> str:
        return found[0].page_content

    chain = langchain.AnswerableRetriever(library=library, k=1) | RunnableLambda(first)
    assert "200 cups" in chain.invoke(QUESTION)


def test_llama_index_finds_what_the_library_finds(library: answerable.Library) -> None:
    retriever = llama_index.AnswerableRetriever(library, k=3)
    found = retriever.retrieve(QUESTION)
    expected = library.search(QUESTION, 3)
    assert [(each.node.node_id, each.score) for each in found] == [(each.chunk.id, each.score) for each in expected]
    for each in found:
        assert_stands_there(library, each.text, each.metadata)
    assert asyncio.run(retriever.aretrieve(QUESTION)) == found


def test_llama_index_in_a_query_engine(library: answerable.Library) -> None:
    retriever = llama_index.AnswerableRetriever(library, k=2, where={"type": "markdown"})
    engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=MockLLM()))
    response = engine.query(QUESTION)
    assert "200 cups" in str(response)
    assert "title: " in str(response)
    assert "document_id" not in str(response)
    assert len(response.source_nodes) == 2


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [("langchain", "langchain_core", "langchain"), ("llama_index", "llama_index.core", "llama-index")],
)
def test_without_the_framework_the_command_is_told(module: str, package: str, extra: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None\nimport answerable.integrations.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"pip install '.[{extra}]'" in done.stderr
