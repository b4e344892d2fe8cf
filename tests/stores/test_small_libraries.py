"""A library in a folder that is too small for an index: found exactly, in memory, whoever changes it meanwhile."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from helpers import HashEmbedder, add
from processes import indexed_store, results, some_document

from answerable.protocols import Fingerprint, PassageVectors
from answerable.stores.audit import audit
from answerable.stores.embedded.store import EmbeddedStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """A library of two documents of some chunks."""
    with closing(EmbeddedStore(tmp_path / "library")) as made:
        add(made, some_document("d", 0), some_document("d", 1))
        yield made


def test_a_small_library_has_no_index(store: EmbeddedStore, tmp_path: Path) -> None:
    assert results(store)
    store.refresh()
    assert audit(store) == []
    store.repair()
    assert sorted(path.name for path in (tmp_path / "library").iterdir()) == [
        "library.db",
        "library.db-shm",
        "library.db-wal",
    ]


def test_the_index_is_built_once_the_library_has_grown_and_kept_when_it_shrinks(tmp_path: Path) -> None:
    with closing(EmbeddedStore(tmp_path, indexed_from=10)) as store:
        add(store, some_document("d", 0))
        before = results(store)
        assert not (tmp_path / "index").exists()
        for number in range(1, 5):
            add(store, some_document("d", number))
        assert store.count()[1] > 10
        assert (tmp_path / "index").exists()
        assert store.remove("d1", "d2", "d3", "d4")
        assert results(store) == before
    with closing(EmbeddedStore(tmp_path)) as again:
        assert results(again) == before
        assert (tmp_path / "index.pid").exists()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_what_two_writers_add_and_remove_is_found_as_an_index_finds_it(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with (
        closing(EmbeddedStore(tmp_path / "small")) as small,
        closing(EmbeddedStore(tmp_path / "small")) as other,
        closing(indexed_store(tmp_path / "large")) as large,
    ):
        for _ in range(25):
            number = chance.randrange(6)
            writer = chance.choice([small, other])
            if chance.random() < 0.6:
                document = some_document("d", number, version=chance.random())
                for each in (writer, large):
                    add(each, document)
            else:
                assert writer.remove(f"d{number}") == large.remove(f"d{number}")
            if chance.random() < 0.6:
                assert results(small) == results(large)
        assert results(small) == results(other) == results(large)
        assert not (tmp_path / "small" / "index").exists()


def test_only_what_is_new_is_read(store: EmbeddedStore, tmp_path: Path) -> None:
    before = store.search_terms(["d0"], 5, None)
    with closing(sqlite3.connect(tmp_path / "library" / "library.db")) as database, database:
        # Whoever reads these again fails.
        database.execute("UPDATE chunks SET terms = '{'")
    add(store, some_document("new", 1))
    assert len(store.search_terms(["new1"], 50, None)) == len(store.chunks("new1"))
    assert len(store.search_terms(["d0"], 5, None)) == len(before) > 0


def test_new_vectors_are_searched_at_once(store: EmbeddedStore) -> None:
    before = store.search_vectors(HashEmbedder().embed_query("nieve"), 3, None)
    other = Fingerprint("other", "model", 2)
    gathered = store.next_vectors()
    gathered.begin(other)
    row = np.array([0, 1], np.float32)
    gathered.keep({number: PassageVectors(row, np.zeros((0, 2), np.float32)) for number in gathered.missing()})
    assert gathered.switch()
    assert before != store.search_vectors(row, 3, None) == [(1, 1.0), (2, 1.0), (3, 1.0)]
