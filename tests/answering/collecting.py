"""Make search results for tests from documents and chosen cosines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from answerable.answering.found import Asked, Found
from answerable.datatypes import Document, DocumentType, Part, PartKind, RetrievalResult
from answerable.protocols import IndexedChunk
from answerable.retrieval.retriever import analyze_question
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.make_chunks import evidence_spans
from answerable.text.indexed_text import indexed_text
from answerable.text.terms import rarity, terms

START = datetime(2024, 3, 5, 21, 15)
CLOSE = 0.9


def collect(
    question: str, *documents: Document, similarities: Sequence[float] = (), chunk_size: int = 1800, language: str = ""
) -> Found:
    """What a search would find, each sentence as close to the question as given (by default all alike)."""
    asked = analyze_question(question, [document.language for document in documents])
    closeness = iter(similarities)
    results, chunks = [], []
    for document in documents:
        for chunk in SplitterByType(chunk_size, 0).split(document):
            spans = evidence_spans(chunk, document.language)
            cosines = [next(closeness, CLOSE) for _ in spans]
            rows = np.array([[cosine, np.sqrt(1 - cosine**2)] for cosine in cosines], np.float32).reshape(-1, 2)
            counts = {term: 1 for term in terms(indexed_text(chunk), document.language)}  # noqa: C420
            results.append(RetrievalResult(chunk, 1.0, document))
            chunks.append(IndexedChunk(chunk, np.array([1.0, 0.0], np.float32), counts, {}, spans, rows))
    weights = {
        word: rarity(len(chunks), sum(not word.isdisjoint(chunk.terms) for chunk in chunks)) for word in asked.words
    }
    vector = np.array([1.0, 0.0], np.float32)
    understood = Asked(question, question, language or asked.language, vector, len(chunks))
    return Found(understood, weights, tuple(results), tuple(chunks))


def asking(found: Found, **changed: Any) -> Found:
    """The same passages for a question that was understood otherwise."""
    return replace(found, asked=replace(found.asked, **changed))


def text(content: str, **metadata: str) -> Document:
    """A document in English."""
    return Document.from_text(content, language="en", **metadata)


def chat(*messages: tuple[str | None, str]) -> Document:
    """A chat, a message a minute."""
    content, parts = "", []
    for number, (sender, body) in enumerate(messages):
        header = f"[{number}] {sender or ''}: "
        end = len(content) + len(header) + len(body) + 1
        kind = PartKind.MESSAGE if sender else PartKind.NOTICE
        moment = START + timedelta(minutes=number)
        parts.append(Part(len(content), end, kind, time=moment, sender=sender, body=len(content) + len(header)))
        content += f"{header}{body}\n"
    return Document("chat", content, title="Friends", type=DocumentType.CHAT, language="en", parts=tuple(parts))
