"""Several libraries as one store: the same results as one library of all their documents; what fails is left out."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from helpers import HashEmbedder, indexed_texts
from test_contract import PRINT, STORES, WORDS, random_chunks, random_filter

from answerable.datatypes import FloatArray
from answerable.errors import LibraryError, LibraryNotFound, LibraryReadOnly
from answerable.filters import Filter, parse_filter
from answerable.protocols import Fingerprint, IndexedChunk, Store
from answerable.stores.federated import FederatedStore, Members
from answerable.stores.memory import MemoryStore

Scored = list[tuple[int, float]]
ANYWHERE = np.array([1, 0, 0, 0], np.float32)


def bound(store: Store, fingerprint: Fingerprint = PRINT) -> Store:
    store.bind_embedder(fingerprint)
    return store


def join(patience: float = 60, pause: float = 60, **stores: Store | Callable[[], Store]) -> FederatedStore:
    """The stores, or what opens them, as one."""
    opening = {name: each if callable(each) else (lambda each=each: each) for name, each in stores.items()}
    return FederatedStore(Members(opening, patience, pause))


def filled(document_id: str, *texts: str) -> MemoryStore:
    store = MemoryStore()
    store.bind_embedder(PRINT)
    store.put(*indexed_texts(document_id, texts, [[1, 0, 0, number] for number in range(len(texts))], language="en"))
    return store


class Faulty(MemoryStore):
    """Fails while `fails`, and answers when `let_go` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.bind_embedder(PRINT)
        self.fails = False
        self.let_go = Event()
        self.let_go.set()
        self.asked = 0

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        self.asked += 1
        self.let_go.wait(30)
        if self.fails:
            raise LibraryError("the cable is out")
        return super().search_vectors(vector, k, where)

    @property
    def fingerprint(self) -> Fingerprint | None:
        if self.fails:
            raise LibraryError("the cable is still out")
        return super().fingerprint


@pytest.fixture
def faulty() -> Iterator[Faulty]:
    store = Faulty()
    yield store
    store.let_go.set()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_the_best_of_all_are_those_of_one_library_of_all(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    members = {name.replace(" ", "_"): bound(make(tmp_path / name)) for name, make in STORES.items()}
    whole = bound(MemoryStore())
    for number in range(60):
        document, chunks = random_chunks(chance, f"d{number}")
        whole.put(document, chunks)
        chance.choice(list(members.values())).put(document, chunks)
    with closing(join(**members)) as together:

        def by_id(store: Store, scored: Scored) -> dict[str, float]:
            found = store.fetch([number for number, _ in scored])
            return {found[number][0].chunk.id: score for number, score in scored}

        assert together.count() == whole.count()
        assert together.languages() == whole.languages()
        assert together.document_frequency(WORDS) == whole.document_frequency(WORDS)
        assert [each.id for each in together.documents()] == [each.id for each in whole.documents()]
        everything = whole.count()[1]
        for _ in range(30):
            where = parse_filter(random_filter(chance)) if chance.random() < 0.7 else None
            vector = np.array([chance.gauss(0, 1) for _ in range(4)], np.float32)
            vector /= np.linalg.norm(vector)
            terms = chance.sample(WORDS, k=chance.randint(1, 5))
            for search in (
                lambda store, k, v=vector, w=where: store.search_vectors(v, k, w),
                lambda store, k, t=terms, w=where: store.search_terms(t, k, w),
            ):
                mine, theirs = search(together, everything), search(whole, everything)
                assert [score for _, score in mine] == pytest.approx([score for _, score in theirs], abs=1e-4)
                assert by_id(together, mine) == pytest.approx(by_id(whole, theirs), abs=1e-4)
                assert search(together, 5) == mine[:5]
            numbers = [number for number, _ in mine][:7]
            assert dict(together.cosines(vector, [*numbers, 10**9])).keys() == set(numbers)


def test_a_passage_and_its_document_name_their_library() -> None:
    together = join(boats=filled("a", "sol"), houses=filled("b", "luna"))
    [(number, _)] = together.search_terms(["luna"], 5, None)
    indexed, document = together.fetch([number])[number]
    assert document.library == "houses"
    assert document.content[indexed.chunk.start : indexed.chunk.end] == indexed.chunk.content == "luna"
    whole = together.document("a")
    assert whole is not None
    assert whole.library == "boats"
    assert [each.library for each in together.documents()] == ["boats", "houses"]
    assert [chunk.content for chunk in together.chunks("b")] == ["luna"]
    assert together.document("c") is None
    assert together.chunks("c") == []
    assert together.fetch([10**6]) == {}


def test_a_word_is_as_rare_as_in_all_libraries() -> None:
    # "sol" is in every chunk of one library and "luna" in none of it: each alone would rate them the other way round.
    one, other = filled("a", *["sol"] * 9, "luna"), filled("b", *["luna"] * 9, "sol")
    together = join(one=one, other=other)
    scores = {round(score, 5) for _, score in together.search_terms(["sol"], 20, None)}
    assert len(scores) == 1
    assert together.document_frequency(["sol", "luna", "mar"]) == {"sol": 10, "luna": 10, "mar": 0}


def test_a_library_that_fails_is_named_and_left_out_until_it_works(faulty: Faulty) -> None:
    faulty.put(*indexed_texts("b", ["luna"], [[1, 0, 0, 0]]))
    together = join(pause=0.2, good=filled("a", "sol"), faulty=faulty)
    assert together.unavailable == {}
    faulty.fails = True
    assert len(together.search_vectors(ANYWHERE, 5, None)) == 1
    assert together.unavailable == {"faulty": "the cable is out"}
    asked = faulty.asked
    assert len(together.search_vectors(ANYWHERE, 5, None)) == 1
    assert faulty.asked == asked
    faulty.fails = False
    deadline = time.monotonic() + 30
    while together.unavailable and time.monotonic() < deadline:
        together.search_vectors(ANYWHERE, 5, None)
        time.sleep(0.05)
    assert len(together.search_vectors(ANYWHERE, 5, None)) == 2


def test_a_library_that_hangs_costs_its_time_once(faulty: Faulty) -> None:
    together = join(patience=0.5, pause=0.1, good=filled("a", "sol"), faulty=faulty)
    faulty.let_go.clear()
    faulty.fails = True
    assert len(together.search_vectors(ANYWHERE, 5, None)) == 1
    assert together.unavailable == {"faulty": "it didn't answer within 0.5 seconds"}
    for _ in range(5):
        # Tried again in the background, where it fails: nobody waits for it.
        time.sleep(0.11)
        assert len(together.search_vectors(ANYWHERE, 5, None)) == 1
    assert faulty.asked == 1
    assert list(together.unavailable) == ["faulty"]


def test_where_all_are_slow_none_is_left_out() -> None:
    class Slow(MemoryStore):
        def count(self) -> tuple[int, int]:
            time.sleep(0.5)
            return super().count()

    together = join(patience=0.2, one=bound(Slow()), other=bound(Slow()))
    assert together.count() == (0, 0)
    assert together.unavailable == {}


def test_a_library_of_another_embedder_is_left_out() -> None:
    other = bound(MemoryStore(), HashEmbedder(8).fingerprint)
    together = join(pause=0.05, good=filled("a", "sol"), other=other, empty=MemoryStore())
    # Also when it has been tried again.
    for _ in range(5):
        [(library, reason)] = together.unavailable.items()
        assert library == "other"
        assert str(PRINT) in reason
        assert len(together.search_vectors(ANYWHERE, 5, None)) == 1
        time.sleep(0.06)


def test_without_any_library_there_is_an_error_that_names_them(faulty: Faulty) -> None:
    faulty.fails = True
    with pytest.raises(LibraryError, match=r"None of the libraries can be asked\. faulty: the cable is still out"):
        join(faulty=faulty)


def test_a_library_that_does_not_exist_is_the_callers_mistake() -> None:
    def missing() -> Store:
        raise LibraryNotFound("There is no library at /nowhere.")

    with pytest.raises(LibraryNotFound, match="/nowhere"):
        join(good=filled("a", "sol"), missing=missing)


@pytest.mark.parametrize("error", [LibraryError("it is damaged"), OSError("the disk is out"), KeyError("a bug")])
def test_a_library_that_cannot_be_opened_is_named_and_the_others_answer(error: Exception) -> None:
    def failing() -> Store:
        raise error

    together = join(good=filled("a", "sol"), failing=failing)
    assert len(together.search_vectors(ANYWHERE, 5, None)) == 1
    [(library, reason)] = together.unavailable.items()
    assert library == "failing"
    assert str(error) in reason


def test_nothing_can_be_changed() -> None:
    together = join(one=filled("a", "sol"), other=filled("b", "luna"))
    document, chunks = indexed_texts("c", ["mar"], [[1, 0, 0, 0]])
    changes: list[Callable[[], Any]] = [
        lambda: together.put(document, chunks),
        lambda: together.remove("a"),
        lambda: together.remember([]),
        lambda: together.forget("x", ["y"]),
        lambda: together.bind_embedder(PRINT),
        *(together.refresh, together.repair, together.audit, together.next_vectors),
    ]
    for change in changes:
        with pytest.raises(LibraryReadOnly, match="Open the one that you want to change"):
            change()
    assert not together.is_writable
    assert together.count() == (2, 2)
    assert together.records() == []


def test_chunks_are_indexed_chunks_of_the_library() -> None:
    together = join(one=filled("a", "sol"), other=filled("b", "luna", "mar"))
    found: list[IndexedChunk] = together.indexed_chunks("b")
    assert [indexed.chunk.content for indexed in found] == ["luna", "mar"]
    assert [stored.id for stored in together.lookup("b", "")] == ["b"]
