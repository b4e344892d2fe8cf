"""Search one store in different ways: with single parts of the engine, or with several combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, cast

from answerable.datatypes import FloatArray
from answerable.errors import SettingsError
from answerable.filters import Filter
from answerable.library import Library
from answerable.protocols import Embedder, Store
from answerable.retrieval.retriever import ALL_STEPS, Steps
from answerable.settings import Settings
from answerable.wiring.answering import passages_per_answer
from answerable.wiring.build import EXTRACTIVE, build_answerer, build_reader, build_reranker, build_splitter


class Retriever(str, Enum):
    """The ways to find passages, by the searches and steps they use. The first member is the default."""

    HYBRID = "hybrid"
    DENSE = "dense"
    BM25 = "bm25"
    MINMAX = "minmax"
    SCALED = "scaled"
    SENTENCES = "scaled+sentences"
    FEEDBACK = "scaled+sentences+feedback"
    RERANKED = "hybrid+rerank"

    def __str__(self) -> str:
        return self.value


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


@dataclass(frozen=True, slots=True)
class Configured:
    """A library, and a second one on its store that never refuses, which shows answers to refused questions."""

    retriever: Retriever
    library: Library
    unrefusing: Library

    def close(self) -> None:
        """Close both libraries; the store stays open."""
        self.library.close()
        self.unrefusing.close()


def parse_retrievers(text: str) -> list[Retriever]:
    """Parse a comma-separated list; return each retriever once, the default first. Raises SettingsError."""
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    known = [str(each) for each in Retriever]
    if unknown := [name for name in names if name not in known]:
        raise SettingsError(f"There is no configuration {unknown[0]!r}. Configurations: {', '.join(known)}.")
    return list(dict.fromkeys([Retriever.HYBRID, *map(Retriever, names)]))


def configure(settings: Settings, store: Store, embedder: Embedder, retriever: Retriever) -> Configured:
    """Return a library that searches the store with this retriever, and its twin that never refuses.

    Both answer with quotes, without a model. Raises SettingsError if the embedder cannot rerank.
    """
    steps = _STEPS[retriever]
    if steps is ALL_STEPS:
        wanted = replace(settings, rerank="local") if retriever is Retriever.RERANKED else settings
        steps = replace(steps, reranker=build_reranker(wanted, embedder))

    def library(settings: Settings) -> Library:
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

    return Configured(retriever, library(settings), library(replace(settings, model=EXTRACTIVE, wrong_answers=100)))


class _OneSided:
    """A store whose vector search (for BM25) or keyword search (for DENSE) finds nothing."""

    def __init__(self, store: Store, retriever: Retriever) -> None:
        self._store = store
        self._retriever = retriever

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def close(self) -> None:
        # The caller closes the store: other configurations search it too.
        pass

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> list[tuple[int, float]]:
        # A search for k = 1 only checks whether anything passes the filter.
        return [] if self._retriever is Retriever.BM25 and k > 1 else self._store.search_vectors(vector, k, where)

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> list[tuple[int, float]]:
        return [] if self._retriever is Retriever.BM25 else self._store.cosines(vector, numbers)

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> list[tuple[int, float]]:
        return [] if self._retriever is Retriever.DENSE else self._store.search_terms(terms, k, where)
