"""Vectors of another embedder, gathered beside those of a library and put in their place in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers import HashEmbedder, add
from postgres_server import new_library
from processes import some_document
from qdrant_server import api_key
from qdrant_server import new_library as new_qdrant_library

from answerable.errors import EmbedderMismatch, LibraryError
from answerable.indexing.prepare import passage
from answerable.protocols import NextVectors, PassageVectors, Store
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.qdrant.store import QdrantStore
from answerable.text.terms import terms

OLD, NEW, THIRD = HashEmbedder(64), HashEmbedder(32), HashEmbedder(16)
QUESTION = "el informe habla de nieve"
Open = Callable[[], Store]


@pytest.fixture(params=["embedded", "postgres", "qdrant"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the same library again and again, each time as another process would."""
    postgres = new_library() if request.param == "postgres" else ""
    qdrant = new_qdrant_library() if request.param == "qdrant" else ""
    made: list[Store] = []

    def open_again() -> Store:
        if postgres:
            made.append(PostgresStore(postgres))
        else:
            made.append(QdrantStore(qdrant, key=api_key()) if qdrant else EmbeddedStore(tmp_path / "library"))
        return made[-1]

    yield open_again
    for store in made:
        store.close()


def fill(store: Store, documents: int = 4) -> None:
    add(store, *(some_document("d", number) for number in range(documents)), embedder=OLD)
    assert store.fingerprint == OLD.fingerprint


def gather(store: Store, gathered: NextVectors, embedder: HashEmbedder) -> None:
    """Embeds all that is missing."""
    found = store.fetch(gathered.missing())
    passages = [passage(indexed.chunk, indexed.sentences) for indexed, _ in found.values()]
    gathered.keep(dict(zip(found, embedder.embed_passages(passages), strict=True)))


def ranking(store: Store, embedder: HashEmbedder) -> list[tuple[str, float]]:
    """What two kinds of search find, by chunk rather than by number."""
    found = store.search_vectors(embedder.embed_query(QUESTION), 6, None)
    found += store.search_terms(terms(QUESTION, "es"), 6, None)
    chunks = store.fetch([number for number, _ in found])
    return [(chunks[number][0].chunk.id, round(score, 4)) for number, score in found]


def from_scratch(embedder: HashEmbedder, documents: int = 4) -> MemoryStore:
    store = MemoryStore()
    add(store, *(some_document("d", number) for number in range(documents)), embedder=embedder)
    return store


def test_the_old_ones_answer_until_the_new_ones_do(opened: Open) -> None:
    store = opened()
    fill(store)
    before = ranking(store, OLD)
    gathered = store.next_vectors()
    assert gathered.fingerprint is None
    assert gathered.missing() == [number for number in range(1, 20) if store.fetch([number])]
    gathered.begin(NEW.fingerprint)
    gather(store, gathered, NEW)
    assert ranking(store, OLD) == ranking(opened(), OLD) == before
    assert gathered.switch()
    for one in (store, opened()):
        assert one.fingerprint == NEW.fingerprint
        assert one.next_vectors().fingerprint is None
        assert ranking(one, NEW) == ranking(from_scratch(NEW), NEW)
        for expected in from_scratch(NEW).indexed_chunks("d2"):
            found = next(chunk for chunk in one.indexed_chunks("d2") if chunk.chunk == expected.chunk)
            assert np.array_equal(found.vector, expected.vector)
            assert np.allclose(found.sentence_vectors, expected.sentence_vectors, atol=0.005)
    # From here on everything goes as if it had always been so.
    add(store, some_document("d", 4), embedder=NEW)
    store.remove("d0")
    expected = from_scratch(NEW, 5)
    expected.remove("d0")
    assert ranking(opened(), NEW) == ranking(store, NEW) == ranking(expected, NEW)


def test_who_has_it_open_is_told_and_nothing_is_mixed(opened: Open) -> None:
    store, other, third = opened(), opened(), opened()
    fill(store)
    assert other.fingerprint == third.fingerprint == OLD.fingerprint
    before = ranking(other, OLD)
    gathered = store.next_vectors()
    gathered.begin(NEW.fingerprint)
    gather(store, gathered, NEW)
    assert ranking(other, OLD) == before
    assert gathered.switch()
    document, chunks = some_document("e", 1), from_scratch(OLD).indexed_chunks("d1")
    for work in (
        lambda: other.search_vectors(OLD.embed_query(QUESTION), 3, None),
        lambda: other.fetch([1, 2, 3]),
        lambda: other.indexed_chunks("d1"),
        lambda: third.put(document, chunks),
    ):
        with pytest.raises(EmbedderMismatch, match=r"opened with .*64.* embedder = hash:words"):
            work()
    # What has nothing to do with vectors goes on.
    assert len(other.chunks("d1")) == 3
    assert other.count()[0] == len(list(other.documents())) == 4
    assert other.fingerprint == NEW.fingerprint
    with pytest.raises(EmbedderMismatch):
        ranking(other, OLD)


def test_it_goes_on_in_another_process(opened: Open) -> None:
    store = opened()
    fill(store)
    gathered = store.next_vectors()
    gathered.begin(NEW.fingerprint)
    first = dict(list(store.fetch(gathered.missing()).items())[:5])
    passages = [passage(indexed.chunk, indexed.sentences) for indexed, _ in first.values()]
    gathered.keep(dict(zip(first, NEW.embed_passages(passages), strict=True)))
    again = opened().next_vectors()
    assert again.fingerprint == NEW.fingerprint
    again.begin(NEW.fingerprint)
    assert again.missing() == sorted(set(store.fetch(range(1, 30))) - set(first))
    assert not again.switch()
    with pytest.raises(EmbedderMismatch, match=r"unfinished reindex.*--abandon"):
        opened().next_vectors().begin(THIRD.fingerprint)
    gather(store, again, NEW)
    assert again.switch()
    assert ranking(opened(), NEW) == ranking(from_scratch(NEW), NEW)
    with pytest.raises(LibraryError, match="Run the same command again"):
        gathered.keep({1: PassageVectors(np.ones(32, np.float32), np.zeros((0, 32), np.float32))})


def test_what_comes_and_goes_meanwhile_is_seen_to(opened: Open) -> None:
    store, other = opened(), opened()
    fill(store)
    assert other.fingerprint == OLD.fingerprint
    gathered = store.next_vectors()
    gathered.begin(NEW.fingerprint)
    gather(store, gathered, NEW)
    add(other, some_document("d", 4), embedder=OLD)
    other.remove("d1")
    assert not gathered.switch()
    assert ranking(other, OLD)
    gather(store, gathered, NEW)
    assert gathered.switch()
    expected = from_scratch(NEW, 5)
    expected.remove("d1")
    found = opened()
    assert ranking(found, NEW) == ranking(expected, NEW)
    assert found.count() == expected.count()
    assert len(found.search_vectors(NEW.embed_query(QUESTION), 100, None)) == found.count()[1]


def test_dropped_and_begun_anew_with_another(opened: Open) -> None:
    store = opened()
    fill(store)
    before = ranking(store, OLD)
    gathered = store.next_vectors()
    gathered.drop()
    gathered.begin(NEW.fingerprint)
    gather(store, gathered, NEW)
    opened().next_vectors().drop()
    assert gathered.fingerprint is None
    with pytest.raises(LibraryError, match="Run the same command again"):
        gathered.switch()
    assert ranking(opened(), OLD) == before
    gathered.begin(THIRD.fingerprint)
    assert len(gathered.missing()) == store.count()[1]
    gather(store, gathered, THIRD)
    assert gathered.switch()
    assert ranking(opened(), THIRD) == ranking(from_scratch(THIRD), THIRD)


def test_there_and_back(opened: Open) -> None:
    """Who had it open with the first embedder goes on when it is that one's again."""
    store, waiting = opened(), opened()
    fill(store)
    assert waiting.fingerprint == OLD.fingerprint
    before = ranking(waiting, OLD)
    for embedder in (NEW, OLD):
        gathered = store.next_vectors()
        gathered.begin(embedder.fingerprint)
        gather(store, gathered, embedder)
        assert gathered.switch()
        if embedder is NEW:
            add(store, some_document("d", 4), embedder=NEW)
            with pytest.raises(EmbedderMismatch):
                ranking(waiting, OLD)
    waiting.remove("d4")
    assert ranking(waiting, OLD) == ranking(store, OLD) == before


def test_a_library_in_memory() -> None:
    store = from_scratch(OLD)
    gathered = store.next_vectors()
    gathered.begin(NEW.fingerprint)
    gathered.begin(NEW.fingerprint)
    with pytest.raises(EmbedderMismatch, match="unfinished reindex"):
        gathered.begin(THIRD.fingerprint)
    assert not gathered.switch()
    gather(store, gathered, NEW)
    assert gathered.switch()
    assert store.fingerprint == NEW.fingerprint
    assert ranking(store, NEW) == ranking(from_scratch(NEW), NEW)
    with pytest.raises(LibraryError, match="Run the same command again"):
        gathered.switch()


def test_an_empty_library(opened: Open) -> None:
    store = opened()
    store.bind_embedder(OLD.fingerprint)
    gathered = store.next_vectors()
    gathered.begin(NEW.fingerprint)
    assert gathered.missing() == []
    assert gathered.switch()
    assert opened().fingerprint == NEW.fingerprint


def test_the_index_on_the_disk_is_made_anew(tmp_path: Path) -> None:
    """Also where the new vectors are as long as the old ones, and where somebody else held the index all the time."""
    store, holding = EmbeddedStore(tmp_path, indexed_from=0), EmbeddedStore(tmp_path, indexed_from=0)
    fill(holding)
    assert store.fingerprint is not None
    same_length = HashEmbedder(64)
    same_length.fingerprint = type(OLD.fingerprint)("hash", "others", 64)
    before = ranking(holding, OLD)
    gathered = store.next_vectors()
    gathered.begin(same_length.fingerprint)
    numbers = gathered.missing()
    # Vectors that can be told from the old ones.
    turned = {
        number: PassageVectors(-chunk.vector, -chunk.sentence_vectors)
        for number, (chunk, _) in store.fetch(numbers).items()
    }
    gathered.keep(turned)
    assert gathered.switch()
    with pytest.raises(EmbedderMismatch):
        ranking(holding, OLD)
    holding.close()
    for one in (store, EmbeddedStore(tmp_path, indexed_from=0)):
        found = one.search_vectors(-OLD.embed_query(QUESTION), 6, None)
        chunks = one.fetch([number for number, _ in found])
        assert [(chunks[number][0].chunk.id, round(score, 4)) for number, score in found] == before[:6]
        one.close()
