"""Building a library on a Qdrant server anew while the old one answers."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from helpers import indexed_texts
from qdrant_libraries import ANYWHERE, PRINT, client, ids, opened, write
from qdrant_server import api_key, new_library

from answerable.protocols import Fingerprint, Store
from answerable.stores.qdrant.address import parse_address
from answerable.stores.qdrant.replacing import replace_library
from answerable.stores.qdrant.store import QdrantStore


@pytest.fixture
def address() -> str:
    """Where no library is yet."""
    return new_library()


def test_built_anew_while_the_old_one_answers(address: str) -> None:
    store = opened(address)
    write(store, "old")
    seen: list[list[str]] = []

    def fill(fresh: Store) -> None:
        fresh.bind_embedder(Fingerprint("hash", "words", 4, "2"))
        assert fresh.count() == (0, 0)
        write_more = [f"new{number}" for number in range(3)]
        for name in write_more:
            fresh.put(*indexed_texts(name, ["Uno dos."], [[1, 0, 0, 0]]))
            seen.append(ids(store))

    replace_library(address, fill, api_key())
    assert seen == [["old"]] * 3
    # Who had it open before goes on with the new one.
    assert ids(store) == ["new0", "new1", "new2"]
    assert store.fingerprint == Fingerprint("hash", "words", 4, "2")
    assert len(store.search_vectors(ANYWHERE, 9, None)) == 3
    store.put(*indexed_texts("later", ["Uno."], [[1, 0, 0, 0]]))
    assert store.count() == (4, 4)
    name = parse_address(address).name
    with closing(client(address)) as other:
        names = {collection.name for collection in other.get_collections().collections}
        assert {found for found in names if found.startswith(name)} == {f"{name}.2", f"{name}.2.chunks"}
    store.close()


def test_building_anew_that_fails_or_is_killed_changes_nothing(address: str) -> None:
    store = opened(address)
    write(store, "old")

    def fill(fresh: Store) -> None:
        fresh.bind_embedder(PRINT)
        write(fresh, "new")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        replace_library(address, fill, api_key())
    name = parse_address(address).name
    # What somebody has left who was killed is removed by the next, once it is old.
    QdrantStore(address, key=api_key(), collection=f"{name}.7").close()
    replace_library(address, lambda fresh: write(store, "ignored"), api_key())
    with closing(client(address)) as other:
        names = {collection.name for collection in other.get_collections().collections}
        assert {found for found in names if found.startswith(name)} == {f"{name}.7", f"{name}.8"}
        replace_library(address, lambda fresh: fresh.bind_embedder(PRINT), api_key(), abandoned_after=0)
        names = {collection.name for collection in other.get_collections().collections}
        assert {found for found in names if found.startswith(name)} == {f"{name}.9", f"{name}.9.chunks"}
    assert ids(store) == []
    store.close()


def test_questions_never_fail_while_it_is_built_anew_again_and_again(address: str) -> None:
    store = opened(address)
    done, asked = threading.Event(), threading.Semaphore(0)

    def fill(fresh: Store) -> None:
        fresh.bind_embedder(PRINT)
        for name in ("a", "b"):
            fresh.put(*indexed_texts(name, ["Uno dos."] * 2, [[1, 0, 0, 0]] * 2))

    def ask() -> None:
        with closing(opened(address)) as asking:
            while not done.is_set():
                assert len(asking.search_vectors(ANYWHERE, 9, None)) == 4
                assert ids(asking) == ["a", "b"]
                asked.release()

    fill(store)
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(ask)
        for _ in range(5):
            replace_library(address, fill, api_key())
            # However quick this is: two questions for each.
            assert all(asked.acquire(timeout=60) for _ in range(2)) or asking.done()
        done.set()
        asking.result()
    store.close()
