"""Understand a user's message as a question, and search for that question, with or without a filter that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from answerable.answering.found import Asked, Found
from answerable.datatypes import Narrowing, RetrievalResult
from answerable.filters import both, parse_filter
from answerable.protocols import Embedder, IndexedChunk, Passage
from answerable.retrieval.narrowing import Narrowed, narrow_among
from answerable.retrieval.retriever import SearchRequest, analyze_question, required, retrieve, word_weights
from answerable.text.indexed_text import indexed_spans, indexed_text
from answerable.text.languages import asked_language

if TYPE_CHECKING:
    from answerable.answering.decide import Parts


def understand(
    message: str, where: Mapping[str, Any] | None, parts: Parts, narrows: bool = True, question: str = ""
) -> Asked:
    """Return what is asked: the message, or the question that it is completed to. Raise ValueError if it is empty."""
    given = required(message)
    question = question or given
    chunks, language = parts.store.count()[1], asked_language(question, parts.store.languages())
    if not chunks:
        nothing = np.zeros(parts.embedder.fingerprint.dimension, np.float32)
        return Asked(given, question, language, nothing, 0, where)
    narrowed = named_filter(question, where, parts) if narrows else None
    vector = parts.embedder.embed_query(question)
    parts.clock.lap("embedding")
    return Asked(given, question, language, vector, chunks, where, narrowed)


def named_filter(question: str, where: Mapping[str, Any] | None, parts: Parts) -> Narrowed | None:
    """Return the filter for messages of the person or time that a question names, if questions may set filters."""
    return narrow_among(parts.store, question, where, parts.now()) if parts.narrows else None


class SearchResults(list[RetrievalResult]):
    """Passages, best first, the filter that the question implies, `Answer.unavailable` and `Answer.waiting`."""

    __slots__ = ("narrowing", "unavailable", "waiting")

    def __init__(
        self,
        results: Iterable[RetrievalResult] = (),
        narrowing: Narrowing | None = None,
        unavailable: Mapping[str, str] | None = None,
        waiting: int = 0,
    ) -> None:
        super().__init__(results)
        self.narrowing = narrowing
        self.unavailable = unavailable or {}
        self.waiting = waiting


def search(asked: Asked, narrowed: Narrowed | None, parts: Parts, k: int = 0) -> Found:
    """Return the k best passages; k = 0 means `Parts.passages`. Raise FilterError for an invalid filter."""
    where = parse_filter(both(asked.where, narrowed.where) if narrowed else asked.where)
    if not asked.chunks:
        return Found(asked, {}, (), (), where)
    # Among messages that pass the question's filter, search only for the topic.
    topic = narrowed.topic if narrowed and not narrowed.is_open else None
    question = analyze_question(asked.question, parts.store.languages(), topic)
    weights = word_weights(parts.store, question, asked.chunks)
    request = SearchRequest(question, asked.vector, weights, asked.chunks, where)
    found = _with_vectors(retrieve(parts.store, request, k or parts.passages, parts.steps), parts.embedder)
    parts.clock.lap("retrieval")
    results, indexed = zip(*found, strict=True) if found else ((), ())
    return Found(asked, weights, results, indexed, where, narrowed)


def _with_vectors(
    found: list[tuple[RetrievalResult, IndexedChunk]], embedder: Embedder
) -> list[tuple[RetrievalResult, IndexedChunk]]:
    """Return the passages with the vectors of those that wait for theirs: they were found by their words."""
    waiting = [indexed for _, indexed in found if indexed.waits]
    passages = [Passage(indexed_text(each.chunk), indexed_spans(each.chunk, each.sentences)) for each in waiting]
    made = iter(embedder.embed_passages(passages) if passages else ())
    return [
        (result, replace(indexed, vector=vectors.whole, sentence_vectors=vectors.spans))
        if indexed.waits and (vectors := next(made))
        else (result, indexed)
        for result, indexed in found
    ]
