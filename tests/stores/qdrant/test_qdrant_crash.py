"""A library on a Qdrant server when writers are killed at any request, answers are lost, and many write at once.

These need to meddle with the server: they always run on the stand-in. What it can't show is in its docstring.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pytest
from helpers import HashEmbedder, indexed_texts
from qdrant_libraries import killed_at, points
from qdrant_server import Fault, StandIn

from answerable.errors import AnswerableError, LibraryBusy
from answerable.protocols import Store, SyncRecord
from answerable.stores.qdrant.store import QdrantStore

ANYWHERE = np.array([1, 0, 0, 0], np.float32)
PRINT = HashEmbedder(4).fingerprint
# Long enough for a write under way on a busy machine, short enough to wait for.
LEASE = 1.0
LONG = pytest.mark.long


@pytest.fixture
def server() -> Iterator[StandIn]:
    """A server of its own, to meddle with."""
    made = StandIn()
    yield made
    made.close()


def opened(address: str, lease: float = 60) -> QdrantStore:
    made = QdrantStore(address, lease=lease)
    made.bind_embedder(PRINT)
    return made


def record(version: str) -> SyncRecord:
    return SyncRecord("site", "page", datetime(2026, 1, 1, tzinfo=timezone.utc), version, documents=("d",))


def write(store: Store, version: str, chunks: int, replaces: tuple[str, ...] = ()) -> None:
    """Puts the document `d` with its record; every chunk says its version."""
    texts = [f"palabra {version} número{number}" for number in range(chunks)]
    vectors = [[1, 0, 0, number + 1] for number in range(chunks)]
    store.put(*indexed_texts("d", texts, vectors, language="es"), replaces, record(version))


def state_of(store: Store) -> dict[str, Any]:
    """All that can be seen of a library, after checking that it fits together."""
    documents, (count, chunks) = list(store.documents()), store.count()
    found = store.search_vectors(ANYWHERE, 50, None)
    assert len(documents) == count
    assert len(found) == chunks == sum(stored.chunks for stored in documents)
    fetched = store.fetch([number for number, _ in found])
    assert len(fetched) == chunks
    terms = sorted({term for chunk, _ in fetched.values() for term in chunk.terms})
    assert store.document_frequency(terms) == {
        term: sum(term in chunk.terms for chunk, _ in fetched.values()) for term in terms
    }
    if "palabra" in terms:
        assert len(store.search_terms(["palabra"], 50, None)) == chunks
    return {
        "documents": {stored.id: store.document(stored.id) for stored in documents},
        "chunks": sorted(chunk.chunk.content for chunk, _ in fetched.values()),
        "listed": {stored.id: store.chunks(stored.id) for stored in documents},
        "records": store.records(),
        "languages": store.languages(),
    }


CHANGES: dict[str, Callable[[Store], object]] = {
    "a first version": lambda store: write(store, "nuevo", 4),
    "another version": lambda store: write(store, "nuevo", 4, replaces=("other",)),
    "removal": lambda store: store.remove("d"),
    "records": lambda store: store.remember([replace(record("nuevo"), source=f"s{number}") for number in range(3)]),
    "forgetting": lambda store: store.forget("site", ["page"]),
}


@pytest.mark.parametrize(
    ("name", "is_done", "step"),
    [
        *((name, True, 16) for name in CHANGES if name != "a first version"),
        ("another version", False, 16),
        *(pytest.param(name, is_done, 1, marks=LONG) for name in CHANGES for is_done in (False, True)),
    ],
)
def test_killed_at_any_request(server: StandIn, name: str, is_done: bool, step: int) -> None:
    """The old version or the new one, whole; and what was left behind is gone after the next opening."""
    address = server.address("library")
    store = opened(address)
    store.put(*indexed_texts("stays", ["palabra fija"], [[0, 1, 0, 0]]))

    def prepare() -> dict[str, Any]:
        store.forget("site", [found.source for found in store.records()])
        store.remove("d")
        if name != "a first version":
            store.put(*indexed_texts("other", ["palabra otra"], [[0, 0, 1, 0]]))
            write(store, "viejo", 3)
        return state_of(store)

    def work() -> None:
        with closing(QdrantStore(address, lease=LEASE)) as own:
            CHANGES[name](own)

    before = prepare()
    CHANGES[name](store)
    after = state_of(store)
    assert before != after
    seen: list[tuple[list[str], bool]] = []
    for request in range(1, 60, step):
        assert prepare() == before
        # Who opens it next has nothing to clear away.
        opened(address).close()
        first = len(server.requests)
        if not killed_at(server, request, is_done, work):
            break
        made = server.requests[first : first + request]
        found = state_of(store)
        assert found in (before, after), f"request {request}"
        seen.append((made, found == after))
        time.sleep(LEASE)
        opened(address).close()
        assert state_of(store) == found
        assert points(server)["library.1.chunks"] == store.count()[1]
        assert points(server)["library.1"] == 1 + store.count()[0] + len(store.records())
        # Whoever does it again gets what was wanted.
        CHANGES[name](store)
        assert state_of(store) == after
    outcomes = [is_there for _, is_there in seen]
    assert False in outcomes
    assert True in outcomes or step > 1
    # Once it counts, it counts. Where a busy machine renews a lease in between, as many requests come less far.
    for (made, is_there), (more, is_still_there) in itertools.pairwise(seen):
        assert is_still_there or not is_there or more[: len(made)] != made
    store.close()


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=LONG)])
def test_any_answer_may_be_lost(server: StandIn, step: int, is_done: bool) -> None:
    """A connection that is cut before or after a request was carried out: the next attempt makes it whole, once."""
    # Those that are cut after it are others than those before it.
    for request in range(1 + is_done, 40, step):
        store = opened(server.address())
        write(store, "viejo", 2)
        cut = len(server.requests) + request
        server.meddle = lambda number, done, cut=cut: Fault() if number == cut and done == is_done else None  # type: ignore[misc]
        write(store, "nuevo", 3)
        came_so_far = len(server.requests) >= cut
        server.meddle = lambda number, done: None
        assert state_of(store)["chunks"] == [f"palabra nuevo número{number}" for number in range(3)]
        assert store.records() == [record("nuevo")]
        assert store.remove("d")
        assert store.count() == (0, 0)
        store.close()
        if not came_so_far:
            return
    raise AssertionError("it never came to an end")


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=LONG)])
def test_a_failing_server_leaves_the_old_version(server: StandIn, step: int) -> None:
    """From any request on nothing works any more; once it does again, the old version is whole, or the new one."""
    seen = set()
    for request in range(1, 30, step):
        store = opened(f"{server.address()}?timeout=20")
        write(store, "viejo", 2)
        old = state_of(store)
        broken = len(server.requests) + request
        server.meddle = lambda number, done, broken=broken: Fault(400) if number >= broken else None  # type: ignore[misc]
        try:
            write(store, "nuevo", 3)
            failed = False
        except AnswerableError:
            failed = True
        server.meddle = lambda number, done: None
        now = state_of(store)
        seen.add(now == old)
        assert now == old or len(now["chunks"]) == 3
        write(store, "nuevo", 3)
        assert len(state_of(store)["chunks"]) == 3
        store.close()
        if not failed:
            break
    assert seen == {True, False}


def test_a_slow_writer_is_given_up_and_starts_over(server: StandIn) -> None:
    """Somebody else takes it for dead and erases what it has written so far."""
    address = server.address()
    slow, other = opened(address, lease=0.1), opened(address)
    write(other, "viejo", 2)
    paused: list[int] = []

    def pause(number: int, is_done: bool) -> None:
        request = server.requests[number - 1]
        if is_done and not paused and request.startswith("PUT") and request.endswith(".chunks/points"):
            paused.append(number)
            time.sleep(0.3)
            other.refresh()

    server.meddle = pause
    write(slow, "nuevo", 3)
    assert paused
    assert state_of(other)["chunks"] == [f"palabra nuevo número{number}" for number in range(3)]
    assert points(server)[f"{address.rpartition('/')[2]}.1.chunks"] == 3
    # One that is given up each time says so in the end.
    paused.clear()

    def always(number: int, is_done: bool) -> None:
        pause(number, is_done)
        paused.clear()

    server.meddle = always
    with pytest.raises(LibraryBusy, match="clocks"):
        write(slow, "más nuevo", 3)
    server.meddle = lambda number, is_done: None
    assert len(state_of(other)["chunks"]) == 3
    slow.close()
    other.close()


def test_a_writer_waits_for_the_lease_of_another(server: StandIn) -> None:
    """Also for that of one that was killed, until it expires."""
    address = server.address()
    first, second = opened(address), opened(address)
    write(first, "viejo", 2)
    waiting: list[Future[None]] = []

    def wait(number: int, is_done: bool) -> None:
        if is_done and not waiting and server.requests[number - 1].endswith(".chunks/points"):
            waiting.append(threads.submit(second.put, *indexed_texts("e", ["palabra"], [[1, 0, 0, 0]])))
            time.sleep(0.3)
            assert not waiting[0].done()

    with ThreadPoolExecutor(1) as threads:
        server.meddle = wait
        write(first, "nuevo", 3)
        waiting[0].result()
    assert sorted(state_of(first)["documents"]) == ["d", "e"]
    first.close()

    def work() -> None:
        with closing(QdrantStore(address, lease=LEASE)) as own:
            write(own, "muerto", 3)

    # Opening takes seven requests; then the lease is taken.
    assert killed_at(server, 12, True, work)
    write(second, "más nuevo", 1)
    assert state_of(second)["chunks"] == ["palabra", "palabra más nuevo número0"]
    second.close()


def test_what_arrives_late_never_counts(server: StandIn) -> None:
    """A request of a writer that was given up reaches the server after everything of it was erased."""
    address = server.address()
    store = opened(address)
    write(store, "viejo", 2)
    before = state_of(store)
    late: list[tuple[str, bytes]] = []

    def keep(number: int, is_done: bool) -> Fault | None:
        request = server.requests[number - 1]
        if not is_done and request.startswith("PUT") and "/points" in request and ".1" in request:
            late.append((request, server.bodies[number - 1]))
            return Fault(400, "lost on the way")
        return None

    server.meddle = keep
    with pytest.raises(AnswerableError):
        write(store, "nuevo", 3)
    server.meddle = lambda number, is_done: None
    assert late
    for request, body in late:
        server.answer("PUT", request.partition(" ")[2], body)
    assert points(server)[f"{address.rpartition('/')[2]}.1.chunks"] > 2
    assert state_of(store) == before
    store.refresh()
    assert points(server)[f"{address.rpartition('/')[2]}.1.chunks"] == 2
    assert state_of(store) == before
    store.close()


@LONG
def test_many_write_and_read_at_once(server: StandIn) -> None:
    """Writers replace and remove the same documents; readers never see a part of one."""
    address = server.address()
    opened(address).close()
    done, looked = threading.Event(), [0, 0]
    names = [f"d{number}" for number in range(4)]
    until = time.monotonic() + 120

    def work(seed: int) -> None:
        chance = random.Random(seed)
        with closing(opened(address)) as store:
            # Twelve turns, and more until both readers have looked more than three times.
            for turn in itertools.count():
                if turn >= 12 and (min(looked) > 3 or time.monotonic() > until):
                    break
                name = chance.choice(names)
                if chance.random() < 0.2:
                    store.remove(name)
                else:
                    texts = [f"palabra v{seed}x{turn}x{name}"] * chance.randint(1, 4)
                    seen = record(f"{seed}")
                    store.put(*indexed_texts(name, texts, [[1, 0, 0, 1]] * len(texts)), (), replace(seen, source=name))

    def read(reader: int) -> None:
        with closing(opened(address)) as store:
            while not done.is_set():
                found = store.search_vectors(ANYWHERE, 50, None)
                fetched = store.fetch([number for number, _ in found])
                # Between the two a document may be replaced; what is fetched is whole or not there at all.
                for owner in {owner.id: owner for _, owner in fetched.values()}.values():
                    texts = [chunk.chunk.content for chunk, own in fetched.values() if own.id == owner.id]
                    assert texts == owner.content.split("\n")
                assert len({number for number, _ in found}) == len(found)
                for stored in store.documents():
                    assert stored.chunks in (0, *range(1, 5))
                    listed = store.chunks(stored.id)
                    assert len({chunk.content for chunk in listed}) <= 1
                looked[reader] += 1

    with ThreadPoolExecutor(6) as threads:
        readers = [threads.submit(read, reader) for reader in range(2)]
        writers = [threads.submit(work, seed) for seed in range(4)]
        for writer in writers:
            writer.result()
        done.set()
        for reader in readers:
            reader.result()
        assert min(looked) > 3
    with closing(opened(address)) as store:
        state_of(store)
        assert len(store.records()) <= len(names)
        assert points(server)[f"{address.rpartition('/')[2]}.1.chunks"] == store.count()[1]
