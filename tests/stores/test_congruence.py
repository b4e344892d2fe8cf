"""The same documents and questions on every store: the same passages, whichever of them keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import fmean

import pytest
from helpers import HashEmbedder
from made_sets import make_set
from postgres_server import new_library
from qdrant_server import api_key as qdrant_key
from qdrant_server import new_library as new_qdrant_library
from quality.harness import QueryCachingEmbedder, data_folder, ndcg

from answerable.answering.decide import Answering
from answerable.evaluation.sets import QuestionSet
from answerable.library import Library
from answerable.maintenance.copy import copy_store
from answerable.protocols import Embedder, Store
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.qdrant.store import QdrantStore

BEST = 10
DOCUMENTS = 1000
QUERIES = 150


def library(store: Store, embedder: Embedder) -> Library:
    return Library(store, embedder, SplitterByType(600, 60), FileReader(), Answering())


def found_by(made: Library, questions: QuestionSet) -> tuple[float, list[set[str]], list[set[str]]]:
    """nDCG@10, and of each question the best passages, with and without a filter on the documents."""
    scores, plain, filtered = [], [], []
    half: Mapping[str, Sequence[str]] = {"document_id": [document.id for document in questions.documents[::2]]}
    for query in questions.queries[:QUERIES]:
        results = made.search(query.text, BEST)
        documents = list(dict.fromkeys(result.document.id for result in results))
        scores.append(ndcg(documents, query.relevant))
        plain.append({result.chunk.id for result in results})
        filtered.append({result.chunk.id for result in made.search(query.text, BEST, half)})
    return fmean(scores), plain, filtered


def overlap(one: list[set[str]], other: list[set[str]]) -> float:
    return fmean(len(first & second) / max(len(first), 1) for first, second in zip(one, other, strict=True))


def assert_congruent(questions: QuestionSet, embedder: Embedder, folder: Path) -> None:
    """Every store is given the same chunks and vectors, by copying them."""
    with ExitStack() as opened:
        stores: dict[str, Store] = {
            "memory": MemoryStore(),
            "embedded": EmbeddedStore(folder / "library"),
            "indexed": EmbeddedStore(folder / "indexed", indexed_from=0),
            "postgres": PostgresStore(new_library()),
            "qdrant": QdrantStore(new_qdrant_library(is_large=True), key=qdrant_key()),
        }
        for store in stores.values():
            opened.enter_context(closing(store))
        library(stores["memory"], embedder).add_documents(questions.documents[:DOCUMENTS])
        for name in ("embedded", "indexed", "postgres", "qdrant"):
            copy_store(stores["memory"], stores[name])
        figures = {name: found_by(library(store, embedder), questions) for name, store in stores.items()}
    score, plain, filtered = figures.pop("memory")
    for name, (other_score, other_plain, other_filtered) in figures.items():
        print(f"{questions.name} {name}: nDCG@10 {other_score:.4f} ({score:.4f}), {overlap(plain, other_plain):.4f}")
        assert abs(other_score - score) <= 0.01, name
        assert overlap(plain, other_plain) >= 0.9, name
        assert overlap(filtered, other_filtered) >= 0.9, name


@pytest.fixture(scope="module")
def real_embedder() -> QueryCachingEmbedder:
    """The local embedder, its vectors kept between runs."""
    return QueryCachingEmbedder()


@pytest.mark.long
def test_a_generated_set(tmp_path: Path) -> None:
    made = QuestionSet.load(make_set(tmp_path / "set", 150, "facts", 3))
    questions = QuestionSet(made.name, made.documents, made.queries[:QUERIES], [])
    assert_congruent(questions, HashEmbedder(), tmp_path)


@pytest.mark.quality
@pytest.mark.long
@pytest.mark.parametrize("name", ["xquad/es", "faquad", "scifact"])
def test_real_sets(name: str, real_embedder: QueryCachingEmbedder, tmp_path: Path) -> None:
    questions = QuestionSet.load(data_folder() / name, name)
    wanted = {document_id for query in questions.queries[:QUERIES] for document_id in query.relevant}
    documents = sorted(questions.documents, key=lambda document: document.id not in wanted)[:DOCUMENTS]
    part = QuestionSet(name, documents, questions.queries, [])
    assert_congruent(part, real_embedder, tmp_path)
