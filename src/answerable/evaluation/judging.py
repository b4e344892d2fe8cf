"""Ask a library one question, and judge the passages and the answer, its citations or its refusal.

A `Retriever` chooses how the library's store is searched: with single parts of the engine, or with several combined.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from answerable.answering.messages import QUOTING, phrase
from answerable.datatypes import Answer, Citation, FloatArray, Name
from answerable.errors import SettingsError
from answerable.evaluation.metrics import PASSAGES, holds, order, ranking_figures, token_f1
from answerable.evaluation.sets import Asked
from answerable.filters import Filter
from answerable.library import Library
from answerable.protocols import Embedder, Store
from answerable.retrieval.retriever import ALL_STEPS, Steps
from answerable.settings import Settings
from answerable.wiring.build import (
    build_answerer,
    build_reader,
    build_reranker,
    build_splitter,
    passages_per_answer,
)

DEPTH = 100
"""How many passages a search returns; a document has the rank of its best passage."""
_MARK = re.compile(r"\s*\[\d+\]")


@dataclass(frozen=True, slots=True)
class Searched:
    """The figures of a search that apply to its question, and the seconds that the search took."""

    figures: dict[str, float]
    seconds: float


def search(library: Library, asked: Asked) -> Searched:
    """Search for a question and judge the ranking; unanswerable questions have no figures."""
    started = time.perf_counter()
    results = library.search(asked.text, DEPTH)
    seconds = time.perf_counter() - started
    figures: dict[str, float] = {}
    if asked.is_unanswerable:
        return Searched(figures, seconds)
    if asked.relevant:
        scores: dict[str, float] = {}
        for result in results:
            scores[result.document.id] = max(result.score, scores.get(result.document.id, result.score))
        figures |= ranking_figures(order(scores), asked.relevant)
    if asked.answers:
        found = any(holds(result.chunk.content, asked.answers, asked.language) for result in results[:PASSAGES])
        figures[f"answer_found@{PASSAGES}"] = float(found)
    return Searched(figures, seconds)


@dataclass(frozen=True, slots=True)
class Replied:
    """The figures of an answer that apply to its question, and the seconds that the answer took."""

    figures: dict[str, float]
    is_right: bool
    is_refused: bool
    seconds: float


def reply(library: Library, asked: Asked) -> Replied:
    """Ask a question and judge the answer."""
    answer = library.ask(asked.text)
    return Replied(_figures(answer, asked), _is_right(answer, asked), not answer.answered, answer.timings["total"])


def _figures(answer: Answer, asked: Asked) -> dict[str, float]:
    refused = float(not answer.answered)
    figures = {"refusal_recall": refused} if asked.is_unanswerable else {"answered": 1 - refused}
    if refused:
        figures["refusal_precision"] = float(asked.is_unanswerable)
    if asked.is_unanswerable:
        return figures
    text = _text(answer)
    if asked.answers:
        figures["answer_containment"] = float(holds(text, asked.answers, asked.language))
        figures["token_f1"] = token_f1(text, asked.answers, asked.language)
    right = _right_citations(answer.citations, asked)
    if answer.citations:
        figures["citation_precision"] = len(right) / len(answer.citations)
    cited = {citation.document_id for citation in right}
    figures["citation_recall"] = len(cited) / len(asked.relevant) if asked.relevant else float(bool(right))
    return figures


def _text(answer: Answer) -> str:
    """Return the answer without citation marks and introduction; "" for a refusal."""
    return _MARK.sub("", answer.text.removeprefix(phrase(QUOTING, answer.language))) if answer.answered else ""


def _right_citations(citations: Sequence[Citation], asked: Asked) -> list[Citation]:
    """Return the citations of relevant documents; if none is known, the citations that contain an expected answer."""
    if asked.relevant:
        return [citation for citation in citations if citation.document_id in asked.relevant]
    return [citation for citation in citations if holds(citation.quote, asked.answers, asked.language)]


def _is_right(answer: Answer, asked: Asked) -> bool:
    if asked.is_unanswerable:
        return False
    if asked.answers:
        return holds(_text(answer), asked.answers, asked.language)
    return bool(_right_citations(answer.citations, asked))


class Retriever(Name):
    """The ways to find passages, by the searches and steps they use. The first member is the default."""

    HYBRID = "hybrid"
    DENSE = "dense"
    BM25 = "bm25"
    MINMAX = "minmax"
    SCALED = "scaled"
    SENTENCES = "scaled+sentences"
    FEEDBACK = "scaled+sentences+feedback"
    RERANKED = "hybrid+rerank"


_ALONE = Steps(feedback=False, sentences=False, exact=False)
_STEPS = {
    Retriever.HYBRID: ALL_STEPS,
    Retriever.DENSE: _ALONE,
    Retriever.BM25: _ALONE,
    Retriever.MINMAX: replace(_ALONE, scaled=False),
    Retriever.SCALED: _ALONE,
    Retriever.SENTENCES: replace(_ALONE, sentences=True),
    Retriever.FEEDBACK: replace(_ALONE, sentences=True, feedback=True),
    Retriever.RERANKED: ALL_STEPS,
}


def parse_retrievers(text: str) -> list[Retriever]:
    """Parse a comma-separated list; return each retriever once, the default retriever first. Raises SettingsError."""
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    known = [str(each) for each in Retriever]
    if unknown := [name for name in names if name not in known]:
        raise SettingsError(f"There is no configuration {unknown[0]!r}. Configurations: {', '.join(known)}.")
    return list(dict.fromkeys([Retriever.HYBRID, *map(Retriever, names)]))


def configure(settings: Settings, store: Store, embedder: Embedder, retriever: Retriever) -> Library:
    """Return a library that searches the store with this retriever; closing it leaves the store open.

    It answers with quotes, without a model. Raises SettingsError if the embedder cannot rerank.
    """
    steps = _STEPS[retriever]
    if steps is ALL_STEPS:
        wanted = replace(settings, rerank="local") if retriever is Retriever.RERANKED else settings
        steps = replace(steps, reranker=build_reranker(wanted, embedder))

    return Library(
        cast(Store, _OneSided(store, retriever)),
        embedder,
        build_splitter(settings),
        build_reader(settings),
        build_answerer(settings, embedder.fingerprint),
        settings.narrow,
        steps=steps,
        passages=passages_per_answer(settings),
    )


class _OneSided:
    """A store whose vector search (for BM25) or keyword search (for DENSE) finds nothing."""

    def __init__(self, store: Store, retriever: Retriever) -> None:
        self._store = store
        self._retriever = retriever

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def close(self) -> None:
        # Leave the store open: the caller closes it, and other configurations search it too.
        pass

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> list[tuple[int, float]]:
        # A search for k = 1 only checks whether anything passes the filter.
        return [] if self._retriever is Retriever.BM25 and k > 1 else self._store.search_vectors(vector, k, where)

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> list[tuple[int, float]]:
        return [] if self._retriever is Retriever.BM25 else self._store.cosines(vector, numbers)

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> list[tuple[int, float]]:
        return [] if self._retriever is Retriever.DENSE else self._store.search_terms(terms, k, where)
