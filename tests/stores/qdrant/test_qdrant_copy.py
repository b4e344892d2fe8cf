"""Moving libraries to a Qdrant server and back: nothing is embedded again and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from helpers import add
from processes import results, some_document
from qdrant_server import api_key, new_library

from answerable.errors import EmbedderMismatch
from answerable.maintenance.copy import CopyReport, copy_store
from answerable.protocols import Fingerprint, Store, SyncRecord
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.qdrant.store import QdrantStore

DOCUMENTS = 6


@pytest.fixture
def source(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """A library of some documents, with gaps between the numbers of its chunks, and records."""
    made = EmbeddedStore(tmp_path / "source")
    for number in range(DOCUMENTS):
        add(made, some_document("gone", number), some_document("d", number, tags=["a", "b"], nested={"x": None}))
        made.remove(f"gone{number}")
    made.remember([SyncRecord("o", f"s{number}", datetime.now(timezone.utc), "ab", {"etag": "x"}) for number in (1, 2)])
    yield made
    made.close()


@pytest.fixture
def target() -> Iterator[QdrantStore]:
    """An empty library on the server."""
    made = QdrantStore(new_library(), key=api_key())
    yield made
    made.close()


def contents(store: Store) -> dict[str, Any]:
    """All that a store has, without the numbers that it gives."""
    chunks = {chunk.chunk.id: chunk for chunk, _ in store.fetch(range(1, 1000)).values()}
    assert len(chunks) == store.count()[1]
    return {
        "documents": [store.document(stored.id) for stored in store.documents()],
        "stored": list(store.documents()),
        "chunks": {name: (chunk.chunk, dict(chunk.terms), chunk.fields) for name, chunk in chunks.items()},
        "spans": {name: chunk.sentences for name, chunk in chunks.items()},
        "vectors": {name: chunk.vector.tolist() for name, chunk in chunks.items()},
        "sentences": {name: chunk.sentence_vectors.round(5).tolist() for name, chunk in chunks.items()},
        "records": store.records(),
        "fingerprint": store.fingerprint,
    }


def test_there_and_back(source: EmbeddedStore, target: QdrantStore, tmp_path: Path) -> None:
    expected, searched = contents(source), results(source)
    assert copy_store(source, target) == CopyReport(DOCUMENTS, 0, DOCUMENTS, source.count()[1])
    assert copy_store(source, target) == CopyReport(0, DOCUMENTS, DOCUMENTS, 0)
    back = EmbeddedStore(tmp_path / "back")
    assert copy_store(target, back).copied == DOCUMENTS
    for other in (target, back):
        assert contents(other) == expected
        assert results(other) == searched  # type: ignore[arg-type]
    back.close()


def test_other_embedders_are_refused(source: EmbeddedStore, target: QdrantStore) -> None:
    target.bind_embedder(Fingerprint("other", "model", 64))
    with pytest.raises(EmbedderMismatch, match=r"other:model.*new library"):
        copy_store(source, target)
    assert target.count() == (0, 0)


def test_the_command(source: EmbeddedStore, tmp_path: Path) -> None:
    searched = results(source)
    source.close()
    address = new_library()
    environment = {**os.environ, "QDRANT_API_KEY": api_key()}
    command = [sys.executable, "-m", "answerable", "copy", str(tmp_path / "source"), address, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert json.loads(done.stdout)["copied"] == DOCUMENTS
    copied = QdrantStore(address, create=False, key=api_key())
    assert results(copied) == searched  # type: ignore[arg-type]
    copied.close()
