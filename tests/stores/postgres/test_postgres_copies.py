"""Texts that repeat and words that are common, in a library on PostgreSQL: found as if every row were read."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np
import psycopg
import pytest
from helpers import indexed_texts
from postgres_server import new_library

from answerable.filters import Between, Filter, OneOf
from answerable.protocols import Fingerprint, PassageVectors
from answerable.stores.memory.store import MemoryStore
from answerable.stores.postgres.address import parse_address
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


def in_graph(address: str) -> list[tuple[str, int]]:
    """How many of the entries with each vector are in the graph."""
    parsed = parse_address(address)
    with psycopg.connect(parsed.conninfo) as connection:
        connection.execute("SELECT set_config('search_path', %s || ', public', false)", (f'"{parsed.schema}"',))
        query = "SELECT vector::text, sum(in_graph::int) FROM entries GROUP BY 1 ORDER BY 1"
        return [(str(vector), int(count)) for vector, count in connection.execute(query)]


@pytest.mark.parametrize("seed", range(2))
def test_one_entry_of_each_vector_is_in_the_graph_whatever_comes_and_goes(
    address: str, store: PostgresStore, seed: int
) -> None:
    chance = random.Random(seed)
    there: dict[str, list[int]] = {}
    for _ in range(40):
        name = f"d{chance.randrange(5)}"
        if chance.random() < 0.6:
            there[name] = [chance.randrange(DIMENSION) for _ in range(chance.randrange(1, 5))]
            put(store, name, there[name])
        else:
            assert store.remove(name) == (there.pop(name, None) is not None)
        distinct = {number for numbers in there.values() for number in numbers}
        assert sorted(count for _, count in in_graph(address)) == [1] * len(distinct)
    assert store.audit() == []


def test_a_switch_to_vectors_that_repeat_elsewhere(address: str, store: PostgresStore) -> None:
    put(store, "a", [0, 0, 1])
    put(store, "b", [2, 1, 3])
    gathered = store.next_vectors()
    gathered.begin(Fingerprint("other", "model", DIMENSION))
    rows = np.eye(DIMENSION, dtype=np.float32)[[3, 1, 1, 0, 3, 3]]
    gathered.keep({number: PassageVectors(row, row[None]) for number, row in enumerate(rows, 1)})
    assert gathered.switch()
    assert [count for _, count in in_graph(address)] == [1, 1, 1]
    assert store.audit() == []
    assert [number for number, _ in store.search_vectors(rows[0], 3, None)] == [1, 5, 6]


def test_what_is_missing_from_the_graph_is_found_and_put_there(address: str, store: PostgresStore) -> None:
    put(store, "a", [0, 0, 1, 2])
    for wrong in ("in_graph = false", "in_graph = true"):
        parsed = parse_address(address)
        with psycopg.connect(parsed.conninfo) as connection:
            connection.execute(f'UPDATE "{parsed.schema}".entries SET {wrong}')
        (issue,) = store.audit()
        assert issue.where == "table entries"
        store.repair()
        assert store.audit() == []
        assert [count for _, count in in_graph(address)] == [1, 1, 1]


@pytest.mark.parametrize("wrong", ["highest = highest / 2", "highest = 0"])
def test_highest_weights_that_are_too_low_are_found_and_put_right(
    address: str, store: PostgresStore, wrong: str
) -> None:
    put(store, "a", [0, 1], ["uno dos", "uno uno tres"])
    parsed = parse_address(address)
    with psycopg.connect(parsed.conninfo) as connection:
        connection.execute(f"UPDATE \"{parsed.schema}\".terms SET {wrong} WHERE term = 'uno'")
    (issue,) = store.audit()
    assert "'uno'" in issue.detail
    store.repair()
    assert store.audit() == []


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
    for _ in range(15):
        asked = chance.choices(VOCABULARY, [weight**0.5 for weight in FREQUENCIES], k=chance.randrange(1, 9))
        found, scores = store.search_terms(asked, k, where), memory.search_terms(asked, 4000, where)
        # Weights are stored in 32 bits: what is as good in memory may not be here.
        assert [score for _, score in found] == pytest.approx([score for _, score in scores[:k]], rel=1e-6)
        assert [score for _, score in found] == pytest.approx([dict(scores)[number] for number, _ in found], rel=1e-6)
        assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
