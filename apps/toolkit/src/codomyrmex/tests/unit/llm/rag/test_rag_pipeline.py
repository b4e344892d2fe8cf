"""The way from documents to a prompt, with embeddings that count letters."""

from __future__ import annotations

import string
from pathlib import Path

import pytest

from codomyrmex.llm.rag import (
    ContextFormatter,
    Document,
    DocumentType,
    RAGPipeline,
    RecursiveTextSplitter,
    SentenceSplitter,
    create_rag_prompt,
)


def count_letters(texts: list[str]) -> list[list[float]]:
    """How often each letter stands in each text."""
    return [[float(text.lower().count(letter)) for letter in string.ascii_lowercase] for text in texts]


def made_pipeline() -> RAGPipeline:
    """A pipeline with two documents of one chunk each."""
    pipeline = RAGPipeline(count_letters)
    documents = [
        Document.from_text("Bees make honey in the hive.", "bees", source="garden.txt"),
        Document.from_text("The tram stops at the old town hall.", "tram", source="town.txt"),
    ]
    assert pipeline.index_documents(documents) == 2
    return pipeline


def test_from_documents_to_a_prompt() -> None:
    context = made_pipeline().build_context("Where does the tram stop?", k=1)
    assert [result.chunk.document_id for result in context.results] == ["tram"]
    prompt = create_rag_prompt(context)
    assert "The tram stops at the old town hall." in prompt
    assert "Where does the tram stop?" in prompt
    assert "Bees" not in prompt


def test_filter_by_source() -> None:
    results = made_pipeline().retrieve("Where does the tram stop?", where={"source": "garden.txt"})
    assert [result.chunk.document_id for result in results] == ["bees"]


def test_replace_and_delete() -> None:
    pipeline = made_pipeline()
    assert pipeline.index_document(Document.from_text("The tram stops at the harbour.", "tram")) == 1
    contents = {result.chunk.content for result in pipeline.retrieve("tram", k=10)}
    assert contents == {"Bees make honey in the hive.", "The tram stops at the harbour."}
    assert pipeline.delete_document("tram")
    assert not pipeline.delete_document("tram")
    assert {result.chunk.document_id for result in pipeline.retrieve("tram")} == {"bees"}


def test_chunks_know_where_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Bees\n\nThey make honey.\n\n# Trams\n\nThey stop at the hall.\n", "utf-8")
    document = Document.from_file(str(path))
    assert document.doc_type is DocumentType.MARKDOWN
    for splitter in (RecursiveTextSplitter(chunk_size=30, chunk_overlap=5), SentenceSplitter(1, 0)):
        chunks = splitter.split(document)
        assert len(chunks) > 1
        for chunk in chunks:
            assert document.content[chunk.start_char : chunk.end_char] == chunk.content


def test_a_context_stays_within_its_length() -> None:
    results = made_pipeline().retrieve("tram honey", k=2)
    for length in (1, 50, 100, 1000):
        assert len(ContextFormatter(max_context_length=length).format(results)) <= length


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="check the path"):
        Document.from_file(str(tmp_path / "gone.pdf"))
