"""A library and an export that commit 91db453 made, before there was one codec, are read and written as they were."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from helpers import HashEmbedder

from answerable.datatypes import Location, PartKind
from answerable.maintenance.exporting import export_store
from answerable.maintenance.importing import import_store
from answerable.stores.audit import audit
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore

OLD = Path(__file__).with_name("old_library")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """A copy of the library: a chat, code, a PDF and Markdown, followed from a folder."""
    (tmp_path / "library").mkdir()
    shutil.copy(OLD / "library.db", tmp_path / "library")
    with closing(EmbeddedStore(tmp_path / "library", create=False)) as opened:
        yield opened


def test_it_is_whole(store: EmbeddedStore) -> None:
    assert audit(store) == []
    assert store.fingerprint == HashEmbedder(8).fingerprint
    assert [stored.id for stored in store.documents()] == ["chat", "code", "pdf", "text"]
    for stored in store.documents():
        document = store.document(stored.id)
        assert document is not None
        assert document.content_hash == stored.content_hash
        for chunk in store.chunks(stored.id):
            assert document.content[chunk.start : chunk.end] == chunk.content
            assert set(chunk.parts) <= set(document.parts)


def test_parts_and_places_are_read(store: EmbeddedStore) -> None:
    chat, code, pdf = (store.document(each) for each in ("chat", "code", "pdf"))
    assert chat and code and pdf  # noqa: PT018
    assert [(part.sender, part.time) for part in chat.parts] == [
        ("Ana", datetime(2024, 3, 5, 21, 15)),
        ("Rui", datetime(2024, 3, 5, 21, 16)),
    ]
    assert [(part.kind, part.symbol, part.cells) for part in code.parts] == [(PartKind.SYMBOL, "Gate", ())]
    assert [(part.page, part.headings, part.anchor, len(part.cells)) for part in pdf.parts] == [
        (1, ("Guía",), None, 0),
        (2, ("Guía", "Tabla"), "tabla", 2),
    ]
    assert {str(chunk.location) for each in ("chat", "code") for chunk in store.chunks(each)} == {
        "2024-03-05 21:15, Ana",
        "2024-03-05 21:16, Rui",
        "Gate, lines 1-3",
    }
    assert all(isinstance(chunk.location, Location) for chunk in store.chunks("pdf"))


def test_it_is_searched(store: EmbeddedStore) -> None:
    found = store.search_vectors(HashEmbedder(8).embed_query("A member may borrow five tools."), 1, None)
    ((indexed, owner),) = store.fetch([number for number, _ in found]).values()
    assert owner.id == "text"
    assert "five tools" in indexed.chunk.content


def test_an_export_of_it_has_the_same_bytes(store: EmbeddedStore, tmp_path: Path) -> None:
    export_store(store, tmp_path / "export.zip")
    assert (tmp_path / "export.zip").read_bytes() == (OLD / "export.zip").read_bytes()


def test_its_export_is_read(store: EmbeddedStore) -> None:
    imported = MemoryStore()
    assert import_store(OLD / "export.zip", lambda: imported).copied == 4
    assert [imported.document(each.id) for each in imported.documents()] == [
        store.document(each.id) for each in store.documents()
    ]
    assert imported.records() == store.records()
