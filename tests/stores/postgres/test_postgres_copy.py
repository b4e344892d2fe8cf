"""Moving libraries between stores: nothing is embedded again, nothing is lost, and the same command finishes it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from helpers import HashEmbedder, add, make_document
from postgres_server import new_library
from processes import results, some_document

from answerable.errors import EmbedderMismatch, LibraryNotFound, SettingsError
from answerable.maintenance.copy import CopyReport, copy_store
from answerable.protocols import Fingerprint, Store, SyncRecord
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore
from answerable.stores.postgres.store import PostgresStore
from answerable.wiring.build import copy_library

DOCUMENTS = 12


class Interruption(Exception):
    """What ends a copy early here."""


@pytest.fixture
def source(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """A library of some documents, with gaps between the numbers of its chunks."""
    made = EmbeddedStore(tmp_path / "source")
    for number in range(DOCUMENTS):
        if number == 4:
            add(made, some_document("gone", number))
        add(made, some_document("d", number, tags=["a", "b"], nested={"x": None}))
    made.remove("gone4")
    made.remember([SyncRecord("o", f"s{number}", datetime.now(timezone.utc), "ab", {"etag": "x"}) for number in (1, 2)])
    yield made
    made.close()


@pytest.fixture
def target() -> Iterator[PostgresStore]:
    """An empty library on the server."""
    made = PostgresStore(new_library())
    yield made
    made.close()


def contents(store: Store) -> dict[str, Any]:
    """All that a store has, without the numbers that it gives."""
    found = store.fetch(range(1, 5000)).values()
    chunks = {chunk.chunk.id: chunk for chunk, _ in found}
    assert len(chunks) == store.count()[1]
    return {
        "documents": [store.document(stored.id) for stored in store.documents()],
        "stored": list(store.documents()),
        "chunks": {name: (chunk.chunk, dict(chunk.terms), chunk.fields) for name, chunk in chunks.items()},
        "spans": {name: chunk.sentences for name, chunk in chunks.items()},
        "vectors": {name: chunk.vector.tolist() for name, chunk in chunks.items()},
        "sentences": {name: chunk.sentence_vectors.round(5).tolist() for name, chunk in chunks.items()},
        "fingerprint": store.fingerprint,
        "records": store.records(),
    }  # fmt: skip


def test_there_and_back(source: EmbeddedStore, target: PostgresStore, tmp_path: Path) -> None:
    expected, searched = contents(source), results(source)
    chunks = source.count()[1]
    seen: list[CopyReport] = []
    assert copy_store(source, target, seen.append) == CopyReport(DOCUMENTS, 0, DOCUMENTS, chunks)
    assert [report.copied for report in seen] == list(range(1, DOCUMENTS + 1))
    back, memory = EmbeddedStore(tmp_path / "back"), MemoryStore()
    for other in (back, memory):
        assert copy_store(target, other).copied == DOCUMENTS
    for other in (target, back, memory):
        assert contents(other) == expected
        assert results(other) == searched  # type: ignore[arg-type]
    back.close()


def test_a_second_time_changes_nothing(source: EmbeddedStore, target: PostgresStore) -> None:
    copy_store(source, target)
    numbers = list(target.fetch(range(1, 5000)))
    assert copy_store(source, target) == CopyReport(0, DOCUMENTS, DOCUMENTS, 0)
    assert list(target.fetch(range(1, 5000))) == numbers
    # What has changed is copied, in the place of what it was; what the target has besides stays.
    add(target, make_document("Solo aquí.", "own"))
    add(source, some_document("d", 3, changed=True))
    source.remove("d5")
    assert copy_store(source, target) == CopyReport(1, DOCUMENTS - 2, DOCUMENTS - 1, len(source.chunks("d3")))
    assert target.document("d3") == source.document("d3")
    assert {stored.id for stored in target.documents()} == {"own", *(f"d{number}" for number in range(DOCUMENTS))}


def test_an_interrupted_copy_is_finished(source: EmbeddedStore, target: PostgresStore) -> None:
    def interrupt(report: CopyReport) -> None:
        if report.copied == 5:
            raise Interruption

    with pytest.raises(Interruption):
        copy_store(source, target, interrupt)
    assert target.count()[0] == 5
    assert copy_store(source, target) == CopyReport(7, 5, DOCUMENTS, source.count()[1] - 5 * len(source.chunks("d0")))
    assert contents(target) == contents(source)


def test_what_changes_meanwhile_is_copied_as_it_is_then(source: EmbeddedStore, target: PostgresStore) -> None:
    def change(report: CopyReport) -> None:
        if report.copied == 1:
            add(source, make_document("Mucho más corto.", "d7", source="/d/7"))
            source.remove("d8")

    copy_store(source, target, change)
    assert contents(target) == contents(source)


def test_other_embedders_are_refused(source: EmbeddedStore, target: PostgresStore) -> None:
    target.bind_embedder(Fingerprint("other", "model", 64))
    with pytest.raises(EmbedderMismatch, match=r"other:model.*new library"):
        copy_store(source, target)
    assert target.count() == (0, 0)
    assert copy_store(MemoryStore(), target) == CopyReport()


def test_addresses_and_the_command(source: EmbeddedStore, tmp_path: Path) -> None:
    searched = results(source)
    source.close()
    address, folder = new_library(), str(tmp_path / "source")
    command = [sys.executable, "-m", "answerable", "copy", folder, address]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"copied": DOCUMENTS, "unchanged": 0, "chunks": 36}
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{DOCUMENTS} already there" in done.stdout
    copied = PostgresStore(address, create=False)
    assert results(copied) == searched  # type: ignore[arg-type]
    copied.close()
    with pytest.raises(LibraryNotFound):
        copy_library(str(tmp_path / "nothing"), address)
    with pytest.raises(SettingsError, match="no store") as raised:
        copy_library(folder, "mysql://user:secret@host/db")
    assert "secret" not in str(raised.value)


def test_the_embedder_is_not_needed(source: EmbeddedStore, target: PostgresStore) -> None:
    """A library is opened with the embedder that the copied vectors come from."""
    copy_store(source, target)
    assert target.fingerprint == HashEmbedder().fingerprint
