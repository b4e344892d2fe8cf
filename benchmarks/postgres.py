"""A library on PostgreSQL at 100,000 chunks: how much a search finds and what it takes, beside LangChain's PGVector.

Real text under vectors from a mixture of clusters, which lie as embeddings do (vectors of chance have no neighbours).
The peer is langchain-postgres' PGVector, on the same server with the same vectors, as it comes (no index over vectors)
and with an HNSW index made by hand; it has no keywords. Wall time, since most of the work is the server's; they take
turns. `--chunks 100000 --searches 100`; the peer is measured where langchain-postgres is installed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import psycopg
from measuring import DATA, QUESTION, ROOT, corpus, show

sys.path.insert(0, str(ROOT / "tests" / "servers"))

from postgres_server import in_database, private_server

from answerable.datatypes import Chunk, Document, FloatArray, Location, chunk_id
from answerable.filters import Between, OneOf, normalize_fields
from answerable.protocols import Fingerprint, IndexedChunk
from answerable.retrieval.hybrid import CANDIDATES
from answerable.retrieval.question import analyze_question
from answerable.retrieval.retriever import SearchRequest, retrieve, word_weights
from answerable.stores.postgres.store import PostgresStore
from answerable.text.terms import terms

DIMENSION = 384
CLUSTERS = 2000
PER_DOCUMENT = 5
BEST = 10
GROUPS = 100
WARMING = 5


def mixture(count: int, queries: int, chance: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Unit vectors, of chunks and of queries, around centres near a common direction, as sentence embeddings lie."""
    centres = chance.standard_normal(DIMENSION) + chance.standard_normal((CLUSTERS, DIMENSION))
    total = count + queries
    rows = _unit(centres[chance.integers(CLUSTERS, size=total)] + 0.7 * chance.standard_normal((total, DIMENSION)))
    return rows[:count], rows[count:]


def _unit(rows: Any) -> FloatArray:
    unit: FloatArray = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def documents(vectors: FloatArray) -> Iterator[tuple[Document, list[IndexedChunk]]]:
    """Documents of a few passages of some 1,000 characters; one chunk in a hundred is of a group."""
    texts = [text[:1000] for text in corpus()]
    for first in range(0, len(vectors), PER_DOCUMENT):
        numbers = range(first, min(first + PER_DOCUMENT, len(vectors)))
        chosen = [texts[number % len(texts)] for number in numbers]
        document = Document.from_text("\n\n".join(chosen), f"d{first}", source=f"/synthetic/{first}", language="en")
        chunks = []
        start = 0
        for sequence, (number, text) in enumerate(zip(numbers, chosen, strict=True)):
            chunks.append(_chunk(document.id, sequence, start, text, vectors[number], number % GROUPS))
            start += len(text) + 2
        yield document, chunks


def _chunk(owner: str, sequence: int, start: int, text: str, vector: FloatArray, group: int) -> IndexedChunk:
    end = start + len(text)
    return IndexedChunk(
        Chunk(chunk_id(owner, start, text), owner, text, start, end, sequence, Location((1, 1))),
        vector,
        Counter(terms(text, "en")),
        normalize_fields({"group": group, "document_id": owner, "type": "text", "language": "en"}),
        ((0, len(text)),),
        vector[None],
    )


def questions(count: int) -> list[str]:
    """Real questions where the development sets are."""
    path = DATA / "scifact" / "queries.jsonl"
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            return [json.loads(line)["text"] for line, _ in zip(lines, range(count), strict=False)]
    return [f"{QUESTION} And what of note {number}?" for number in range(count)]


def langchain(database: str, vectors: FloatArray) -> Any:
    """LangChain's store over the same vectors, its text the number of the row."""
    from langchain_core.embeddings import Embeddings
    from langchain_postgres import PGVector  # type: ignore[import-not-found]

    class Given(Embeddings):
        """Never asked: vectors are handed over."""

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            """Nothing."""
            return [[0.0] * DIMENSION for _ in texts]

        def embed_query(self, text: str) -> list[float]:
            """Nothing."""
            return [0.0] * DIMENSION

    connection = database.replace("postgresql://", "postgresql+psycopg://")
    peer = PGVector(Given(), connection=connection, collection_name="peer", embedding_length=DIMENSION)
    for start in range(0, len(vectors), 1000):
        rows = vectors[start : start + 1000]
        names = [str(start + row) for row in range(len(rows))]
        peer.add_embeddings(names, rows.tolist(), [{"group": int(name) % GROUPS} for name in names], names)
    return peer


def recall(found: Sequence[Sequence[int]], exact: Sequence[Sequence[int]]) -> float:
    """The share of the exact neighbours that were found."""
    return statistics.mean(len(set(one) & set(other)) / len(other) for one, other in zip(found, exact, strict=True))


def milliseconds(searches: dict[str, Callable[[int], object]], count: int) -> dict[str, float]:
    """Median wall milliseconds of each search; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in searches}
    for number in range(count):
        for name, search in searches.items():
            started = time.perf_counter()
            search(number)
            if number >= WARMING:
                times[name].append(1000 * (time.perf_counter() - started))
    return {name: statistics.median(values) for name, values in times.items()}


def fill(store: PostgresStore, vectors: FloatArray) -> tuple[float, float]:
    """Seconds that adding takes, and making the sketches."""
    store.bind_embedder(Fingerprint("benchmark", "mixture", DIMENSION))
    started = time.monotonic()
    for document, chunks in documents(vectors):
        store.put(document, chunks)
    added = time.monotonic()
    store.refresh()
    return added - started, time.monotonic() - added


def quality(store: PostgresStore, vectors: FloatArray, queries: FloatArray) -> list[tuple[str, float, str]]:
    """Recall@10 against all cosines, of everything and of the one chunk in a hundred that passes a filter."""
    rows = np.arange(len(vectors))
    rowed = []
    for name, among, where in (
        ("recall@10", rows, None),
        ("recall@10, 1 % pass", rows[rows % GROUPS == 7], OneOf("group", (7,))),
        ("recall@10, 50 % pass", rows[rows % GROUPS < GROUPS // 2], Between("group", lt=GROUPS // 2)),
    ):
        exact = [(among[np.argsort(-(vectors[among] @ query))[:BEST]] + 1).tolist() for query in queries]
        found = [[number for number, _ in store.search_vectors(query, BEST, where)] for query in queries]
        rowed.append((name, recall(found, exact), ""))
    return rowed


def searches(store: PostgresStore, queries: FloatArray) -> dict[str, Callable[[int], object]]:
    """Ours, by number of the query: vectors only, words only, then all of retrieval, as `Library` asks for it."""
    asked = [analyze_question(question, ["en"]) for question in questions(len(queries))]
    chunks = store.count()[1]

    def hybrid(number: int) -> object:
        question = asked[number % len(asked)]
        weights = word_weights(store, question, chunks)
        return retrieve(store, SearchRequest(question, queries[number], weights, chunks), BEST)

    def fetched(number: int) -> object:
        return store.fetch([chunk for chunk, _ in store.search_vectors(queries[number], BEST, None)])

    return {
        "vectors": lambda number: store.search_vectors(queries[number], BEST, None),
        "vectors, fetched": fetched,
        "terms": lambda number: store.search_terms(asked[number % len(asked)].terms, CANDIDATES, None),
        "hybrid, fetched": hybrid,
    }


def main() -> None:
    """Fills both, then lets them take turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=100)
    options = parser.parse_args()
    chance = np.random.default_rng(1)
    vectors, queries = mixture(options.chunks, options.searches, chance)
    with private_server("", "shared_buffers=1GB", "max_wal_size=4GB") as server:
        store = PostgresStore(in_database(server.address, "benchmark"))
        adding, building = fill(store, vectors)
        rows = [("adding", options.chunks / adding, "chunks/s"), ("making the sketches", building, "s")]
        rows += quality(store, vectors, queries)
        work = searches(store, queries)
        if not find_spec("langchain_postgres"):
            rows += [(name, value, "ms") for name, value in milliseconds(work, options.searches).items()]
        else:
            peer = langchain(server.address, vectors)
            work["PGVector"] = lambda number: peer.similarity_search_with_score_by_vector(
                queries[number].tolist(), BEST
            )
            with psycopg.connect(server.address, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE langchain_pg_embedding")
                rows += _compared("as it comes", milliseconds(work, options.searches))
                connection.execute("SET maintenance_work_mem = '1GB'")
                index = "CREATE INDEX ON langchain_pg_embedding USING hnsw (embedding vector_cosine_ops)"
                connection.execute(index)
                rows += _compared("with HNSW by hand", milliseconds(work, options.searches))
        store.close()
    show("postgres", rows, chunks=options.chunks, dimension=DIMENSION, searches=options.searches)


def _compared(peer: str, times: dict[str, float]) -> list[tuple[str, float, str]]:
    named = {f"PGVector {peer}" if name == "PGVector" else name: value for name, value in times.items()}
    ratios = {
        f"{name} / PGVector {peer}": times[name] / times["PGVector"] for name in ("vectors, fetched", "hybrid, fetched")
    }
    return [(f"{name} (beside {peer})", value, "ms") for name, value in named.items()] + [
        (name, value, "times") for name, value in ratios.items()
    ]


if __name__ == "__main__":
    main()
