"""The names, signatures and files that the specification gives."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import inspect
from abc import ABC
from pathlib import Path

import pytest

from codomyrmex.llm import rag
from codomyrmex.llm.rag import core

EXPORTS = """
DocumentType Document Chunk RetrievalResult GenerationContext TextSplitter RecursiveTextSplitter SentenceSplitter
VectorStore InMemoryVectorStore ContextFormatter RAGPipeline RAG_PROMPT_TEMPLATE create_rag_prompt
""".split()
FOLDER = Path(rag.__file__).parent


def parameters(function: object) -> list[tuple[str, object]]:
    """Names and defaults, without self; what has no default has `...`."""
    found = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return [
        (each.name, ... if each.default is inspect.Parameter.empty else each.default)
        for each in found
        if each.name != "self"
    ]


def test_the_exports_are_those_of_the_specification() -> None:
    assert sorted(rag.__all__) == sorted(core.__all__) == sorted(EXPORTS)
    assert all(getattr(rag, name) is getattr(core, name) for name in EXPORTS)


def test_the_files_of_the_tree_are_there() -> None:
    for name in ("__init__.py", "README.md", "AGENTS.md", "SPEC.md", "PAI.md", "core.py"):
        assert (FOLDER / name).read_text("utf-8").strip(), name


def test_it_runs_where_the_engine_runs() -> None:
    assert importlib.metadata.metadata("answerable")["Requires-Python"] == ">=3.10"
    assert rag.__name__ == "codomyrmex.llm.rag"


def test_document_types() -> None:
    assert [each.name for each in rag.DocumentType] == ["TEXT", "MARKDOWN", "HTML", "PDF", "CODE"]


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (rag.Document, "id content doc_type source metadata"),
        (rag.Chunk, "id content document_id sequence start_char end_char embedding metadata"),
        (rag.RetrievalResult, "chunk score document"),
        (rag.GenerationContext, "query results formatted_context"),
    ],
)
def test_dataclasses_have_their_fields(kind: type, names: str) -> None:
    assert [each.name for each in dataclasses.fields(kind)] == names.split()


def test_dataclasses_are_mutable_and_the_optional_is_optional() -> None:
    chunk = rag.Chunk("c", "text", "d", 0, 0, 4)
    assert chunk.embedding is None
    chunk.embedding = [0.5]
    result = rag.RetrievalResult(chunk, 0.5)
    assert result.document is None
    result.document = rag.Document("d", "text")
    assert (result.chunk.embedding, result.document.source, result.document.metadata) == ([0.5], "", {})


def test_splitters_and_stores_are_abstract() -> None:
    assert issubclass(rag.TextSplitter, ABC)
    assert issubclass(rag.VectorStore, ABC)
    assert rag.TextSplitter.__abstractmethods__ == {"split"}
    assert rag.VectorStore.__abstractmethods__ == {"add", "search", "delete"}
    assert issubclass(rag.RecursiveTextSplitter, rag.TextSplitter)
    assert issubclass(rag.SentenceSplitter, rag.TextSplitter)
    assert issubclass(rag.InMemoryVectorStore, rag.VectorStore)


def test_signatures_of_the_pipeline() -> None:
    assert parameters(rag.RAGPipeline) == [
        ("embedding_fn", ...),
        ("vector_store", None),
        ("text_splitter", None),
        ("context_formatter", None),
        ("hybrid", True),
    ]
    # Beyond the specification, and never taken for one of its arguments.
    assert inspect.signature(rag.RAGPipeline).parameters["hybrid"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters(rag.RAGPipeline.index_document) == [("document", ...)]
    assert parameters(rag.RAGPipeline.index_documents) == [("documents", ...)]
    assert parameters(rag.RAGPipeline.retrieve) == [("query", ...), ("k", 5), ("where", None)]
    assert parameters(rag.RAGPipeline.build_context) == [("query", ...), ("k", 5), ("where", None)]
    assert parameters(rag.RAGPipeline.delete_document) == [("document_id", ...)]


def test_signatures_of_documents_and_splitters() -> None:
    assert parameters(rag.Document.from_text) == [("text", ...), ("doc_id", None), ("metadata", ...)]
    assert parameters(rag.Document.from_file) == [("path", ...), ("encoding", "utf-8")]
    assert parameters(rag.RecursiveTextSplitter) == [
        ("chunk_size", 1000),
        ("chunk_overlap", 200),
        ("separators", None),
    ]
    assert parameters(rag.RecursiveTextSplitter.split) == [("document", ...)]
    assert parameters(rag.SentenceSplitter) == [("sentences_per_chunk", 5), ("overlap", 1)]
    assert [name for name, _ in parameters(rag.create_rag_prompt)] == ["context", "template"]
