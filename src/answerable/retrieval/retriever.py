"""Question and vector → the most relevant passages: search, feedback, reranking, removal of repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from answerable.datatypes import FloatArray, RetrievalResult
from answerable.filters import Filter
from answerable.protocols import IndexedChunk, Reranker, Store
from answerable.retrieval.copies import Crowd
from answerable.retrieval.exact import held_by, lift, may_hold
from answerable.retrieval.fetched import Fetched, Scored
from answerable.retrieval.foreign import foreign_filter
from answerable.retrieval.hybrid import Candidates, asked_again, fuse, hybrid_search
from answerable.retrieval.question import Question
from answerable.retrieval.repeats import drop_repeats
from answerable.retrieval.rereading import FEEDBACK, focus, reread, with_feedback
from answerable.text.bm25 import highest_score, rarity
from answerable.text.indexed_text import indexed_text
from answerable.text.places import count_places

REREAD = 20
RERANKED = 20
RERANK_WEIGHT = 0.5
ATTEMPTS = 3
ROUNDS = 10
# Whether most candidates are copies is told by the first SEEN, and by two of each search, SAMPLED apart.
SEEN = 10
SAMPLED = 80
QUESTION_MARKS = frozenset("?\u037e\u061f\uff1f")


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a search. Evaluation switches some off to measure their effect.

    `scaled`: fuse scores on absolute scales; otherwise between the lowest and the highest score found.
    """

    reranker: Reranker | None = None
    scaled: bool = True
    feedback: bool = True
    sentences: bool = True
    exact: bool = True


ALL_STEPS = Steps()


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question ready to be searched for: its vector, its words by rarity among `chunks` chunks, and a filter."""

    question: Question
    vector: FloatArray
    weights: Mapping[frozenset[str], float]
    chunks: int
    where: Filter | None = None


def retrieve(
    store: Store, request: SearchRequest, k: int, steps: Steps = ALL_STEPS
) -> list[tuple[RetrievalResult, IndexedChunk]]:
    """Return the k best passages, each with its index entry, best first; `request.weights` come from `word_weights`.

    Search again if a document is replaced between two steps, so that writers do not make passages go missing.
    """
    best: list[tuple[RetrievalResult, IndexedChunk]] = []
    for _ in range(ATTEMPTS):
        fetched = Fetched(store)
        best = _retrieve(fetched, request, k, steps)
        if fetched.is_whole:
            break
    return best


def word_weights(store: Store, question: Question, chunks: int) -> dict[frozenset[str], float]:
    """Return the rarity of each word (a set of stems) of the question among the `chunks` chunks of the store."""
    frequencies = store.document_frequency(question.terms)
    # An unknown word counts like one that occurs once: in a small library most unknown words are part of the question's
    # wording ("what happens if …") and would outweigh its topic.
    return {word: rarity(chunks, max(1, *(frequencies[term] for term in word))) for word in question.words}


def _retrieve(
    fetched: Fetched, request: SearchRequest, k: int, steps: Steps
) -> list[tuple[RetrievalResult, IndexedChunk]]:
    found, ranked = _search(fetched, request, k, steps)
    wanted = request.question.exact if steps.exact else ()
    candidates = may_hold(fetched.store, wanted, request.question.languages, ranked) if wanted else ()
    held = held_by(fetched, wanted, candidates)
    order = [number for number, _ in lift(ranked, held)]
    stored = fetched.fetch(order[:REREAD])
    amount = _focus(request.question, steps) * steps.sentences
    scores = lift(reread(ranked, stored, request.vector, request.weights, found, amount), held)
    meaning, keyword = _ranks(found.dense), _ranks(found.keyword)
    # Twice as many as requested, so that enough remain without repeats; more are fetched if they do not.
    reach = max(2 * k, REREAD)
    while True:
        stored = fetched.fetch([number for number, _ in scores[:reach]])
        results = (
            RetrievalResult(stored[number][0].chunk, score, stored[number][1], meaning.get(number), keyword.get(number))
            for number, score in scores[:reach]
            if number in stored
        )
        kept = drop_repeats(results, fetched.text_of)
        if len(kept) >= k or reach >= len(scores):
            break
        reach *= 2
    known = {indexed.chunk.id: indexed for indexed, _ in stored.values()}
    return [(result, known[result.chunk.id]) for result in _with_places(fetched, kept[:k], request.where)]


def _with_places(fetched: Fetched, results: Sequence[RetrievalResult], where: Filter | None) -> list[RetrievalResult]:
    """Return results with the number of other places, of those that pass the filter, in which their text stands."""
    hashes = [fetched.text_of(result.chunk) for result in results]
    places = count_places(fetched.store, hashes, where)
    return [
        replace(result, other_places=max(places[text] - 1, 0)) for result, text in zip(results, hashes, strict=True)
    ]


def _search(fetched: Fetched, request: SearchRequest, k: int, steps: Steps) -> tuple[Candidates, Scored]:
    """Return the candidates of both searches (with feedback for a long question) and their ranking so far."""
    highest = highest_score(request.weights.values())
    found = _candidates(fetched, request, highest, k)
    if not steps.scaled:
        return found, fuse(found.dense, found.keyword)
    ranked = _reranked(fetched, request, found.fused, steps.reranker)
    feedback = (1 - _focus(request.question, steps)) * steps.feedback
    if not feedback:
        return found, ranked
    first = fetched.fetch([number for number, _ in ranked[:FEEDBACK]])
    moved = with_feedback(request.vector, ranked, first, feedback)
    found = asked_again(fetched, moved, found, highest)
    return found, _reranked(fetched, request, found.fused, steps.reranker)


def _candidates(fetched: Fetched, request: SearchRequest, highest: float, k: int) -> Candidates:
    """Return the candidates of both searches, searched for again while most of the best are copies of few texts."""
    others = foreign_filter(request.question.language, request.question.languages, request.where)
    asked = request.vector, request.question.terms, highest, request.where, request.chunks, others
    crowd = Crowd(fetched)
    for _ in range(ROUNDS):
        found = hybrid_search(fetched.store, *asked, crowd)
        # A search that finds nothing but copies tells nothing of how near the others are.
        seen = found.fused[: max(k, SEEN)], found.dense[::SAMPLED], found.keyword[::SAMPLED]
        if not crowd.grows(*([number for number, _ in scored] for scored in seen)):
            break
    return found


def _focus(question: Question, steps: Steps) -> float:
    """Return how specific the question is, 0 to 1; with a reranker, a statement describes a topic, however short."""
    is_topic = steps.reranker is not None and QUESTION_MARKS.isdisjoint(question.text)
    return 0.0 if is_topic else focus(len(question.words))


def _reranked(fetched: Fetched, request: SearchRequest, scored: Scored, reranker: Reranker | None) -> Scored:
    """Mix the reranker's judgement of the first candidates into their scores."""
    if reranker is None:
        return scored
    stored = fetched.fetch([number for number, _ in scored[:RERANKED]])
    texts = [indexed_text(indexed.chunk) for indexed, _ in stored.values()]
    spans = request.question.spans(request.weights)
    judged = dict(zip(stored, reranker.judge(request.question.text, spans, texts), strict=True))
    both = [
        (number, (score + RERANK_WEIGHT * judged.get(number, 0.0)) / (1 + RERANK_WEIGHT)) for number, score in scored
    ]
    return sorted(both, key=lambda pair: (-pair[1], pair[0]))


def _ranks(scored: Scored) -> dict[int, int]:
    return {number: rank for rank, (number, _) in enumerate(scored, 1)}
