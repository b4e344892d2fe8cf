"""nDCG@10 of the default settings on every development set: pinned, above dense alone, above the published BM25."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

import pytest

from answerable.evaluation.sets import Query
from answerable.retrieval.question import analyze_question

from .harness import Bench, ndcg

pytestmark = pytest.mark.quality

NOISE = 0.005
# Set: what was measured, the BM25 figure in the data's README.
FIGURES = {
    "faquad": (0.9307, 0.913),
    "xquad/es": (0.9796, 0.956),
    "squad2/en-dev": (0.9434, 0.916),
    "scifact": (0.7225, 0.686),
    "squad2/es-dev": (0.9031, 0.856),
    "squad2/pt-dev": (0.92, 0.882),
}


@pytest.mark.parametrize("name", FIGURES)
def test_ranking_is_as_good_as_it_was(bench: Bench, name: str) -> None:
    measured, bm25 = FIGURES[name]
    library = bench.library(name)

    def hybrid(query: Query) -> list[str]:
        found = library.search(query.text, k=10)
        return list(dict.fromkeys(result.document.id for result in found))

    store = library._store

    def dense(query: Query) -> list[str]:
        numbers = [number for number, _ in store.search_vectors(bench.embedder.embed_query(query.text), 20, None)]
        return list(dict.fromkeys(document.id for _, document in store.fetch(numbers).values()))

    figure = _mean(bench, name, hybrid)
    alone = _mean(bench, name, dense)
    print(f"\n{name}: nDCG@10 {figure:.4f} (dense alone {alone:.4f}, BM25 {bm25})")
    assert figure >= measured - NOISE
    assert figure > alone
    assert figure > bm25


def test_questions_are_read_in_their_language(bench: Bench) -> None:
    for name, language in (("faquad", "pt"), ("xquad/es", "es"), ("squad2/en-dev", "en")):
        queries = bench.set(name).queries
        right = fmean(analyze_question(query.text, [language]).language == language for query in queries)
        assert right >= 0.99, f"{name}: {right:.3f}"


def _mean(bench: Bench, name: str, rank: Callable[[Query], list[str]]) -> float:
    return fmean(ndcg(rank(query), query.relevant) for query in bench.set(name).queries)
