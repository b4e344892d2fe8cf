"""Question and vector → the passages that say most on it: search, feedback, a second look, repeats dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from answerable.datatypes import FloatArray, RetrievalResult
from answerable.filters import Filter
from answerable.protocols import IndexedChunk, Reranker, Store
from answerable.retrieval.exact import held_by, lift, may_hold
from answerable.retrieval.fetched import Fetched
from answerable.retrieval.hybrid import Candidates, Scored, asked_again, fuse, hybrid_search
from answerable.retrieval.merging import drop_repeats
from answerable.retrieval.question import Question
from answerable.retrieval.rereading import FEEDBACK, focus, reread, with_feedback
from answerable.text.bm25 import highest_score, rarity
from answerable.text.indexed_text import indexed_text

REREAD = 20
RERANKED = 20
RERANK_WEIGHT = 0.5
ATTEMPTS = 3
QUESTION_MARKS = frozenset("?\u037e\u061f\uff1f")


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a search: all, and a reranker where there is one. Fewer show what each of them is worth.

    `scaled`: scores are fused on scales of their own, otherwise between the lowest and the highest that were found.
    """

    reranker: Reranker | None = None
    scaled: bool = True
    feedback: bool = True
    sentences: bool = True
    exact: bool = True


ALL_STEPS = Steps()


def retrieve(
    store: Store,
    asked: Question,
    vector: FloatArray,
    weights: Mapping[frozenset[str], float],
    k: int,
    where: Filter | None,
    steps: Steps = ALL_STEPS,
) -> list[tuple[RetrievalResult, IndexedChunk]]:
    """The k best passages with what the store knows of each, best first; `weights` are those of `word_weights`.

    A document that is replaced between two steps is looked for again, so that none is missed while others write.
    """
    best: list[tuple[RetrievalResult, IndexedChunk]] = []
    for _ in range(ATTEMPTS):
        fetched = Fetched(store)
        best = _retrieve(fetched, asked, vector, weights, k, where, steps)
        if fetched.is_whole:
            break
    return best


def word_weights(store: Store, asked: Question) -> dict[frozenset[str], float]:
    """The question's words, each as the set of its stems, with their rarity in the library."""
    frequencies = store.document_frequency(asked.terms)
    chunks = store.count()[1]
    # A word that stands nowhere says no more than one that stands once: in a small library most words are of the
    # question's wording ("what happens if …"), and would weigh more than all that the documents are about.
    return {word: rarity(chunks, max(1, *(frequencies[term] for term in word))) for word in asked.words}


def _retrieve(
    fetched: Fetched,
    asked: Question,
    vector: FloatArray,
    weights: Mapping[frozenset[str], float],
    k: int,
    where: Filter | None,
    steps: Steps,
) -> list[tuple[RetrievalResult, IndexedChunk]]:
    found, ranked = _search(fetched, asked, vector, weights, where, steps)
    wanted = asked.exact if steps.exact else ()
    held = held_by(fetched, wanted, may_hold(fetched.store, wanted, asked.languages, ranked)) if wanted else {}
    order = [number for number, _ in lift(ranked, held)]
    stored = fetched.fetch(order[:REREAD])
    amount = _focus(asked, steps) * steps.sentences
    scores = lift(reread(ranked, stored, vector, weights, found.deviation, amount), held)
    meaning, keyword = _ranks(found.dense), _ranks(found.keyword)
    kept: list[RetrievalResult] = []
    # Twice as many as asked for leave enough when repeats are dropped; more are fetched where they don't.
    reach = max(2 * k, REREAD)
    while True:
        stored = fetched.fetch([number for number, _ in scores[:reach]])
        kept = drop_repeats(
            RetrievalResult(stored[number][0].chunk, score, stored[number][1], meaning.get(number), keyword.get(number))
            for number, score in scores[:reach]
            if number in stored
        )
        if len(kept) >= k or reach >= len(scores):
            break
        reach *= 2
    known = {indexed.chunk.id: indexed for indexed, _ in stored.values()}
    return [(result, known[result.chunk.id]) for result in kept[:k]]


def _search(
    fetched: Fetched,
    asked: Question,
    vector: FloatArray,
    weights: Mapping[frozenset[str], float],
    where: Filter | None,
    steps: Steps,
) -> tuple[Candidates, Scored]:
    """What both retrievers found, for a long question with feedback, and the order that it is in so far."""
    highest = highest_score(weights.values())
    found = hybrid_search(fetched.store, vector, asked.terms, highest, where)
    if not steps.scaled:
        return found, fuse(found.dense, found.keyword)
    ranked = _reranked(fetched, asked, weights, found.fused, steps.reranker)
    feedback = (1 - _focus(asked, steps)) * steps.feedback
    if not feedback:
        return found, ranked
    first = fetched.fetch([number for number, _ in ranked[:FEEDBACK]])
    moved = with_feedback(vector, ranked, first, feedback)
    found = asked_again(fetched, moved, found, highest)
    return found, _reranked(fetched, asked, weights, found.fused, steps.reranker)


def _focus(asked: Question, steps: Steps) -> float:
    """How much the question asks for one thing; beside a reranker a statement, however short, describes a topic."""
    is_topic = steps.reranker is not None and QUESTION_MARKS.isdisjoint(asked.text)
    return 0.0 if is_topic else focus(len(asked.words))


def _reranked(
    fetched: Fetched,
    asked: Question,
    weights: Mapping[frozenset[str], float],
    scored: Scored,
    reranker: Reranker | None,
) -> Scored:
    """The candidates by their scores and what the reranker says of the first of them."""
    if reranker is None:
        return scored
    stored = fetched.fetch([number for number, _ in scored[:RERANKED]])
    texts = [indexed_text(indexed.chunk) for indexed, _ in stored.values()]
    judged = dict(zip(stored, reranker.judge(asked.text, asked.spans(weights), texts), strict=True))
    both = [
        (number, (score + RERANK_WEIGHT * judged.get(number, 0.0)) / (1 + RERANK_WEIGHT)) for number, score in scored
    ]
    return sorted(both, key=lambda pair: (-pair[1], pair[0]))


def _ranks(scored: Scored) -> dict[int, int]:
    return {number: rank for rank, (number, _) in enumerate(scored, 1)}
