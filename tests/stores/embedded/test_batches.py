"""Documents that are added together share a transaction: each is there whole or not at all, as if written alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers import HashEmbedder, add, indexed_texts, make_document

from answerable.indexing import ingest
from answerable.indexing.ingest import BATCH, Ingestion
from answerable.protocols import Addition, Passage, PassageVectors
from answerable.splitting.by_type import SplitterByType
from answerable.stores.audit import audit
from answerable.stores.embedded.store import EmbeddedStore


def addition(document_id: str, *texts: str, **document: Any) -> Addition:
    return Addition(*indexed_texts(document_id, texts, [[1, 0, 0, number] for number in range(len(texts))], **document))


def rows_of(folder: Path) -> list[list[Any]]:
    """All that the database holds, but its random identity."""
    connection = sqlite3.connect(folder / "library.db")
    tables = ("documents", "chunks", "terms", "removed", "records", "sqlite_sequence")
    rows = [connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables]
    connection.close()
    return rows


def test_together_as_one_by_one(tmp_path: Path) -> None:
    before = [addition("a", "uno dos", "dos tres", source="s"), addition("b", "dos", source="t"), addition("c", "tres")]
    # Replaced are: one that was stored before, one of the same batch by its source, one of the same batch by its id.
    batch = [
        addition("d", "cuatro dos", source="s"),
        addition("e", "cinco", source="u"),
        addition("f", "cinco seis", "dos", source="u"),
        addition("c", "siete"),
        addition("c", "ocho tres"),
    ]
    together, alone = EmbeddedStore(tmp_path / "together"), EmbeddedStore(tmp_path / "alone")
    for store in (together, alone):
        store.bind_embedder(HashEmbedder(4).fingerprint)
    together.put_all(before)
    together.put_all(batch)
    for each in [*before, *batch]:
        replaced = [stored.id for stored in alone.lookup(each.document.id, each.document.source)]
        alone.put(each.document, each.chunks, replaced)
    assert [stored.id for stored in together.documents()] == ["c", "d", "b", "f"]
    words = ["uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho"]
    assert list(together.document_frequency(words).values()) == [0, 3, 1, 1, 1, 1, 0, 1]
    assert not audit(together)
    together.close()
    alone.close()
    assert rows_of(tmp_path / "together") == rows_of(tmp_path / "alone")


def test_all_of_a_batch_or_none(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "library")
    store.bind_embedder(HashEmbedder(4).fingerprint)
    store.put_all([addition("a", "uno dos")])
    good, bad = addition("b", "dos"), addition("c", "tres")
    with pytest.raises(AttributeError):
        store.put_all([good, Addition(bad.document, [None])])  # type: ignore[list-item]
    assert [stored.id for stored in store.documents()] == ["a"]
    assert store.document_frequency(["dos", "tres"]) == {"dos": 1, "tres": 0}
    assert not audit(store)
    store.close()


class _Failing(HashEmbedder):
    """Fails at its third batch."""

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        if self.embedded >= 2 * BATCH:
            raise RuntimeError("the provider is gone")
        return super().embed_passages(passages)


def test_documents_and_the_vectors_that_were_made_stay_when_an_error_ends_the_run(tmp_path: Path) -> None:
    store, documents = EmbeddedStore(tmp_path / "library"), [make_document(f"note {n}", f"{n:02}") for n in range(40)]
    ingestion = Ingestion(store, _Failing(), SplitterByType(), len(documents))
    with pytest.raises(RuntimeError, match="gone"):
        ingestion.run(enumerate(documents))
    assert [stored.id for stored in store.documents()] == [document.id for document in documents]
    # The words of a few notes cancel each other out in this embedder.
    assert len(documents) - 2 * BATCH <= len(store.waiting()) < len(documents) - BATCH
    store.close()


def test_chunks_that_were_kept_and_those_that_were_read_get_the_same_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [make_document(f"note {number} of some", f"{number:02}") for number in range(40)]
    for kept in (0, 20, 100):
        monkeypatch.setattr(ingest, "MAX_KEPT_CHUNKS", kept)
        store = EmbeddedStore(tmp_path / str(kept))
        ingestion = Ingestion(store, HashEmbedder(4), SplitterByType(), len(documents))
        with ingestion.running():
            for document in documents:
                ingestion.take(document)
        # Another process removes one that has no vectors yet.
        assert store.remove("03", "30")
        ingestion.fill()
        store.close()
    first, *others = (rows_of(tmp_path / str(kept)) for kept in (0, 20, 100))
    # What says when documents were added differs.
    assert all(rows[1:] == first[1:] for rows in others)


def test_a_source_that_changes_within_a_batch_has_its_last_version(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "library")
    add(store, *(make_document(f"version {number} of it", source="s") for number in range(5)))
    (stored,) = store.documents()
    document = store.document(stored.id)
    assert document is not None
    assert document.content == "version 4 of it"
    assert not audit(store)
    store.close()
