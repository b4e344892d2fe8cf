"""Question and vector → the passages that say most on it: search, feedback, a second look, repeats dropped."""

from __future__ import annotations

from collections.abc import Mapping

from answerable.analysis.bm25 import highest_score, rarity
from answerable.datatypes import FloatArray, RetrievalResult
from answerable.filters import Filter
from answerable.protocols import IndexedChunk, Store
from answerable.retrieval.hybrid import Scored, hybrid_search
from answerable.retrieval.merging import drop_repeats
from answerable.retrieval.question import Question
from answerable.retrieval.rereading import FEEDBACK, focus, reread, with_feedback

REREAD = 20


def retrieve(
    store: Store,
    asked: Question,
    vector: FloatArray,
    weights: Mapping[frozenset[str], float],
    k: int,
    where: Filter | None,
) -> list[tuple[RetrievalResult, IndexedChunk]]:
    """The k best passages with what the store knows of each, best first; `weights` are those of `word_weights`."""
    highest = highest_score(weights.values())
    found = hybrid_search(store, vector, asked.terms, highest, where)
    amount = focus(len(asked.words))
    if amount < 1:
        first = store.fetch([number for number, _ in found.fused[:FEEDBACK]])
        moved = with_feedback(vector, found.fused, first, 1 - amount)
        found = hybrid_search(store, moved, asked.terms, highest, where)
    meaning, keyword = _ranks(found.dense), _ranks(found.keyword)
    known: dict[str, IndexedChunk] = {}
    kept: list[RetrievalResult] = []
    # Twice as many as asked for leave enough when repeats are dropped; more are fetched where they don't.
    for reach in (max(2 * k, REREAD), len(found.fused)):
        stored = store.fetch([number for number, _ in found.fused[:reach]])
        scores = reread(dict(found.fused), stored, vector, weights, found.deviation, amount)
        kept = drop_repeats(
            RetrievalResult(stored[number][0].chunk, score, stored[number][1], meaning.get(number), keyword.get(number))
            for number, score in scores.items()
        )
        known = {indexed.chunk.id: indexed for indexed, _ in stored.values()}
        if len(kept) >= k or reach >= len(found.fused):
            break
    return [(result, known[result.chunk.id]) for result in kept[:k]]


def word_weights(store: Store, asked: Question) -> dict[frozenset[str], float]:
    """The question's words, each as the set of its stems, with their rarity in the library."""
    frequencies = store.document_frequency(asked.terms)
    chunks = store.count()[1]
    # A word that stands nowhere says no more than one that stands once: in a small library most words are of the
    # question's wording ("what happens if …"), and would weigh more than all that the documents are about.
    return {word: rarity(chunks, max(1, *(frequencies[term] for term in word))) for word in asked.words}


def _ranks(scored: Scored) -> dict[int, int]:
    return {number: rank for rank, (number, _) in enumerate(scored, 1)}
