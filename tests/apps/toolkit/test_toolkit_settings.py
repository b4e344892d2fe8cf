"""The environment variables that set defaults."""

from __future__ import annotations

import pytest
from toolkit_parts import embed_words, made_chunk

from codomyrmex.llm.rag import ContextFormatter, Document, InMemoryVectorStore, RAGPipeline, RecursiveTextSplitter


def test_variables_set_the_defaults_when_an_object_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    assert RecursiveTextSplitter().chunk_size == 1000
    monkeypatch.setenv("CODOMYRMEX_RAG_CHUNK_SIZE", "300")
    monkeypatch.setenv("CODOMYRMEX_RAG_CHUNK_OVERLAP", "30")
    monkeypatch.setenv("CODOMYRMEX_RAG_MAX_CONTEXT_LENGTH", "70")
    splitter = RecursiveTextSplitter()
    assert (splitter.chunk_size, splitter.chunk_overlap) == (300, 30)
    assert ContextFormatter().max_context_length == 70


def test_what_the_caller_gives_comes_before_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHUNK_SIZE", "CHUNK_OVERLAP", "TOP_K", "MAX_CONTEXT_LENGTH"):
        monkeypatch.setenv(f"CODOMYRMEX_RAG_{name}", "77")
    splitter = RecursiveTextSplitter(chunk_size=1000, chunk_overlap=200)
    assert (splitter.chunk_size, splitter.chunk_overlap) == (1000, 200)
    assert ContextFormatter(4000).max_context_length == 4000


def test_the_pipeline_goes_by_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODOMYRMEX_RAG_CHUNK_SIZE", "20")
    monkeypatch.setenv("CODOMYRMEX_RAG_CHUNK_OVERLAP", "0")
    pipeline = RAGPipeline(embed_words)
    text = " ".join(f"Sentence number {number:02}." for number in range(9))
    assert pipeline.index_document(Document.from_text(text)) == 9
    assert len(pipeline.retrieve("sentence")) == 5
    monkeypatch.setenv("CODOMYRMEX_RAG_TOP_K", "2")
    assert len(pipeline.retrieve("sentence")) == len(pipeline.build_context("sentence").results) == 2
    assert len(pipeline.retrieve("sentence", k=5)) == 5


def test_the_store_goes_by_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    store = InMemoryVectorStore()
    store.add([made_chunk(str(number), [1.0, number]) for number in range(9)])
    assert len(store.search([1.0, 0.0])) == 5
    monkeypatch.setenv("CODOMYRMEX_RAG_TOP_K", "3")
    assert len(store.search([1.0, 0.0])) == 3


@pytest.mark.parametrize("text", ["many", "0", "-1", "2.5"])
@pytest.mark.parametrize("name", ["CHUNK_SIZE", "MAX_CONTEXT_LENGTH", "TOP_K"])
def test_a_bad_value_is_an_error_that_names_the_variable(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    pipeline = RAGPipeline(embed_words)
    monkeypatch.setenv(f"CODOMYRMEX_RAG_{name}", text)
    with pytest.raises(ValueError, match=f"CODOMYRMEX_RAG_{name} is '{text}': it must be a whole number of at least 1"):
        pipeline.retrieve("cats") if name == "TOP_K" else RAGPipeline(embed_words)


def test_an_overlap_that_does_not_fit_is_an_error_that_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODOMYRMEX_RAG_CHUNK_SIZE", "100")
    monkeypatch.setenv("CODOMYRMEX_RAG_CHUNK_OVERLAP", "100")
    with pytest.raises(ValueError, match=r"CODOMYRMEX_RAG_CHUNK_OVERLAP is 100: it must be below chunk_size \(100\)"):
        RecursiveTextSplitter()
    assert RecursiveTextSplitter(chunk_overlap=20).chunk_overlap == 20


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODOMYRMEX_RAG_CHUNK_SIZE", "")
    assert RecursiveTextSplitter().chunk_size == 1000
