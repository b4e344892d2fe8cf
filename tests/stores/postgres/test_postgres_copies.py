"""Texts that repeat and words that are common, in a library on PostgreSQL: found as if every row were read."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import product

import numpy as np
import psycopg
import pytest
from helpers import indexed_texts
from postgres_server import new_library

from answerable.filters import Between, Filter, OneOf
from answerable.protocols import Fingerprint, PassageVectors
from answerable.stores.addresses import parse_postgres
from answerable.stores.audit import audit
from answerable.stores.memory import MemoryStore
from answerable.stores.postgres import search as postgres_search
from answerable.stores.postgres.store import PostgresStore

DIMENSION = 4
# As common as words are in a language: the first stands in most chunks, the last in few.
VOCABULARY = [f"wort{number}" for number in range(300)]
FREQUENCIES = [1 / (number + 1) for number in range(len(VOCABULARY))]


@pytest.fixture
def address() -> str:
    """Where no library is yet."""
    return new_library()


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    """An empty library."""
    with closing(PostgresStore(address)) as made:
        made.bind_embedder(Fingerprint("hash", "words", DIMENSION))
        yield made


def put(store: PostgresStore | MemoryStore, name: str, vectors: Sequence[int], texts: Sequence[str] = ()) -> None:
    """A document with a chunk for each of these vectors, of which there are few."""
    rows = [np.eye(DIMENSION)[number] for number in vectors]
    fields = [{"number": number, "name": name} for number in range(len(rows))]
    store.put(*indexed_texts(name, texts or ["x"] * len(rows), rows, fields))


def execute(address: str, statement: str) -> list[tuple[object, ...]]:
    """Runs a statement in the schema of a library."""
    parsed = parse_postgres(address)
    with psycopg.connect(parsed.conninfo) as connection:
        connection.execute("SELECT set_config('search_path', %s || ', public', false)", (f'"{parsed.schema}"',))
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def make_as_if_large(address: str) -> None:
    """A library that was large once: it keeps its sketches when it shrinks."""
    edges = "ARRAY['[.1,.1,.1,.1]', '[.2,.2,.2,.2]', '[.3,.3,.3,.3]']::vector[]"
    execute(address, f"UPDATE library SET edges = {edges}, sketched = 20000")


@pytest.mark.parametrize("seed", range(2))
def test_each_vector_has_one_sketch_whatever_comes_and_goes(address: str, store: PostgresStore, seed: int) -> None:
    chance = random.Random(seed)
    make_as_if_large(address)
    there: dict[str, list[int]] = {}
    for _ in range(40):
        name = f"d{chance.randrange(5)}"
        if chance.random() < 0.6:
            there[name] = [chance.randrange(DIMENSION) for _ in range(chance.randrange(1, 5))]
            put(store, name, there[name])
        else:
            assert store.remove(name) == (there.pop(name, None) is not None)
        distinct = {number for numbers in there.values() for number in numbers}
        assert execute(address, "SELECT count(*), count(DISTINCT sketch) FROM sketches") == [(len(distinct),) * 2]
    assert audit(store) == []


def test_new_vectors_leave_no_sketches_of_the_old(address: str, store: PostgresStore) -> None:
    make_as_if_large(address)
    put(store, "a", [0, 0, 1])
    gathered = store.next_vectors()
    gathered.begin(Fingerprint("other", "model", 2))
    row = np.array([0, 1], np.float32)
    gathered.keep({number: PassageVectors(row, row[None]) for number in (1, 2, 3)})
    assert gathered.switch()
    assert execute(address, "SELECT edges IS NULL, sketched, (SELECT count(*) FROM sketches) FROM library") == [
        (True, 0, 0)
    ]
    assert audit(store) == []
    assert [number for number, _ in store.search_vectors(row, 3, None)] == [1, 2, 3]


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM sketches",
        "UPDATE sketches SET sketch = ~sketch",
        "INSERT INTO sketches SELECT 'x', sketch FROM sketches LIMIT 1",
        "UPDATE entries SET vector = '[.5,.5,.5,.5]' WHERE number = 1",
    ],
)
def test_wrong_sketches_are_found_and_put_right(address: str, store: PostgresStore, damage: str) -> None:
    make_as_if_large(address)
    put(store, "a", [0, 1, 1, 2])
    execute(address, damage)
    (issue,) = store.audit()
    assert issue.where == "table sketches"
    store.repair()
    assert audit(store) == []


@pytest.mark.parametrize("wrong", ["highest = highest / 2", "highest = 0"])
def test_highest_weights_that_are_too_low_are_found_and_put_right(
    address: str, store: PostgresStore, wrong: str
) -> None:
    put(store, "a", [0, 1], ["uno dos", "uno uno tres"])
    parsed = parse_postgres(address)
    with psycopg.connect(parsed.conninfo) as connection:
        connection.execute(f"UPDATE \"{parsed.schema}\".terms SET {wrong} WHERE term = 'uno'")
    (issue,) = store.audit()
    assert "'uno'" in issue.detail
    store.repair()
    assert audit(store) == []


@pytest.fixture(scope="module")
def worded() -> Iterator[tuple[PostgresStore, MemoryStore]]:
    """The same chunks of common and rare words in a database and in memory; some were removed again."""
    chance = random.Random(5)
    memory = MemoryStore()
    with closing(PostgresStore(new_library())) as store:
        for each in (store, memory):
            each.bind_embedder(Fingerprint("hash", "words", DIMENSION))
        for number in range(60):
            texts = [" ".join(chance.choices(VOCABULARY, FREQUENCIES, k=chance.randrange(3, 40))) for _ in range(50)]
            for each in (store, memory):
                put(each, f"d{number}", [number % DIMENSION] * len(texts), texts)
        for each in (store, memory):
            assert each.remove(*(f"d{number}" for number in range(0, 60, 7)))
        yield store, memory


@pytest.mark.parametrize("k", [1, 10, 100, 4000])
@pytest.mark.parametrize("where", [None, OneOf("name", ("d1", "d2")), Between("number", lt=25)])
def test_pruned_words_find_what_all_words_find(
    worded: tuple[PostgresStore, MemoryStore], k: int, where: Filter | None
) -> None:
    store, memory = worded
    chance = random.Random(k)
    for _ in range(8):
        asked = chance.choices(VOCABULARY, [weight**0.5 for weight in FREQUENCIES], k=chance.randrange(1, 9))
        found, scores = store.search_terms(asked, k, where), memory.search_terms(asked, 4000, where)
        # Weights are stored in 32 bits: what is as good in memory may not be here.
        assert [score for _, score in found] == pytest.approx([score for _, score in scores[:k]], rel=1e-6)
        assert [score for _, score in found] == pytest.approx([dict(scores)[number] for number, _ in found], rel=1e-6)
        assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))


def test_words_of_which_more_passages_may_reach_the_best_than_are_ranked(
    worded: tuple[PostgresStore, MemoryStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, memory = worded
    asked = ([VOCABULARY[0], VOCABULARY[-1]], VOCABULARY[:6], VOCABULARY[::3])
    for ranked, share in product((1, 10), (0.05, 0.5, 1.0)):
        monkeypatch.setattr(postgres_search, "_RANKED_FOR_EACH", ranked)
        monkeypatch.setattr(postgres_search, "_GUESSED_SHARE", share)
        for terms in asked:
            found, scores = store.search_terms(terms, 10, None), memory.search_terms(terms, 10, None)
            assert [score for _, score in found] == pytest.approx([score for _, score in scores], rel=1e-6)


def test_an_emptied_library_of_which_the_server_expects_much(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_search, "_expected", lambda connection, passing: 50_000)
    assert store.search_vectors(np.eye(DIMENSION, dtype=np.float32)[0], 3, OneOf("name", ("a",))) == []
    put(store, "a", [0, 1])
    hits = store.search_vectors(np.eye(DIMENSION, dtype=np.float32)[0], 3, OneOf("name", ("a",)))
    assert [number for number, _ in hits] == [1, 2]
