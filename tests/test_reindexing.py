"""Test changing a library's embedder while the library is in use, and resuming after an interruption."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers import HashEmbedder, add, make_document

from answerable.datatypes import Document
from answerable.errors import EmbedderMismatch, ProviderUnreachable
from answerable.indexing.prepare import BATCH
from answerable.maintenance.reindex import ReindexReport, estimate, reindex
from answerable.protocols import Passage, PassageVectors, Store
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore

OLD, DOCUMENTS = HashEmbedder(64), 30


def some_document(prefix: str, number: int) -> Document:
    """A document of several chunks that all name it."""
    parts = [f"El informe {prefix}{number} habla de la nieve y de la parte {part}." for part in range(12)]
    return make_document("\n\n".join(parts), f"{prefix}{number}", source=f"/{prefix}/{number}", language="es")


class Failing(HashEmbedder):
    """Fails after so many batches, as a provider does."""

    def __init__(self, dimension: int, batches: int) -> None:
        super().__init__(dimension)
        self.left = batches

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        if not self.left:
            raise ProviderUnreachable("There is no connection. Try again.")
        self.left -= 1
        return super().embed_passages(passages)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """A library of a few batches of chunks."""
    made = EmbeddedStore(tmp_path / "library")
    add(made, *(some_document("d", number) for number in range(DOCUMENTS)), embedder=OLD)
    yield made
    made.close()


def vectors(store: Store) -> dict[str, tuple[list[float], list[list[float]]]]:
    """The vectors of all chunks, by id."""
    found = [chunk for stored in store.documents() for chunk in store.indexed_chunks(stored.id)]
    return {one.chunk.id: (one.vector.tolist(), one.sentence_vectors.round(2).tolist()) for one in found}


def test_it_becomes_what_it_would_have_been(store: EmbeddedStore) -> None:
    documents = [store.document(stored.id) for stored in store.documents()]
    chunks = {stored.id: store.chunks(stored.id) for stored in store.documents()}
    total = store.count()[1]
    new, seen = HashEmbedder(32), list[ReindexReport]()
    done = reindex(store, new, seen.append)
    assert done == ReindexReport(OLD.fingerprint, new.fingerprint, total, total)
    assert [report.done for report in seen] == [0, *range(BATCH, total, BATCH), total]
    assert new.embedded == total
    expected = MemoryStore()
    add(expected, *(some_document("d", number) for number in range(DOCUMENTS)), embedder=HashEmbedder(32))
    found = vectors(store)
    assert found.keys() == vectors(expected).keys()
    for chunk_id, (vector, sentences) in vectors(expected).items():
        assert found[chunk_id][0] == vector
        assert np.allclose(found[chunk_id][1], sentences, atol=0.02)
    assert [store.document(stored.id) for stored in store.documents()] == documents
    assert {stored.id: store.chunks(stored.id) for stored in store.documents()} == chunks
    # There is nothing to do any more.
    assert reindex(store, new).chunks == 0
    assert new.embedded == total


def test_nothing_is_embedded_twice(store: EmbeddedStore, tmp_path: Path) -> None:
    total = store.count()[1]
    before = vectors(store)
    with pytest.raises(ProviderUnreachable):
        reindex(store, Failing(32, batches=2))
    assert vectors(store) == before
    again = EmbeddedStore(tmp_path / "library")
    left = estimate(again, HashEmbedder(32))
    assert (left.done, left.chunks) == (2 * BATCH, total)
    new = HashEmbedder(32)
    reindex(again, new)
    assert new.embedded == total - 2 * BATCH
    assert again.fingerprint == new.fingerprint
    again.close()
    with pytest.raises(EmbedderMismatch, match="Open it again"):
        vectors(store)


def test_documents_come_and_go_while_it_is_at_work(store: EmbeddedStore, tmp_path: Path) -> None:
    using = EmbeddedStore(tmp_path / "library")
    assert using.fingerprint == OLD.fingerprint
    number = DOCUMENTS

    def use(report: ReindexReport) -> None:
        nonlocal number
        if number < DOCUMENTS + 6:
            number += 1
            add(using, some_document("d", number), make_document(f"Cambia {number}.", source="/same"), embedder=OLD)
            using.remove(f"d{number - DOCUMENTS}")
        assert using.search_vectors(OLD.embed_query("informe"), 3, None)

    done = reindex(store, HashEmbedder(32), use)
    assert number == DOCUMENTS + 6
    expected = MemoryStore()
    for document in [store.document(stored.id) for stored in store.documents()]:
        assert document is not None
        add(expected, document, embedder=HashEmbedder(32))
    assert {stored.id for stored in store.documents()} >= {f"d{late}" for late in range(DOCUMENTS + 1, number + 1)}
    assert vectors(store).keys() == vectors(expected).keys()
    assert all(vectors(store)[name][0] == vector for name, (vector, _) in vectors(expected).items())
    assert done.chunks == store.count()[1] == expected.count()[1]
    using.close()


def test_what_it_would_take(store: EmbeddedStore) -> None:
    new = HashEmbedder(32)
    found = estimate(store, new)
    passages = sum(len(new.count_tokens([chunk.content])) for chunk in store.chunks("d1"))
    assert (found.before, found.after, found.done) == (OLD.fingerprint, new.fingerprint, 0)
    assert found.chunks == store.count()[1]
    assert found.tokens > DOCUMENTS * passages
    assert found.cost == 0
    assert found.estimated_seconds > 0
    assert store.next_vectors().fingerprint is None
    assert estimate(store, OLD) == ReindexReport(OLD.fingerprint, OLD.fingerprint)
    store.next_vectors().begin(new.fingerprint)
    with pytest.raises(EmbedderMismatch, match="--abandon"):
        estimate(store, HashEmbedder(16))


def test_a_library_without_vectors_is_bound_to_the_embedder(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "library")
    assert reindex(store, HashEmbedder(32)) == ReindexReport(None, HashEmbedder(32).fingerprint)
    assert store.fingerprint == HashEmbedder(32).fingerprint
    store.close()


def test_changing_back_to_the_old_one_drops_what_was_gathered(store: EmbeddedStore) -> None:
    before = vectors(store)
    with pytest.raises(ProviderUnreachable):
        reindex(store, Failing(32, batches=1))
    assert reindex(store, OLD).chunks == 0
    assert store.next_vectors().fingerprint is None
    assert vectors(store) == before
