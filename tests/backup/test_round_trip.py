"""A library as a file: everything comes back, and what was imported gives the same bytes again, in every store."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import HashEmbedder, add, make_document
from made_exports import fill, members
from postgres_server import new_library
from qdrant_server import api_key
from qdrant_server import new_library as new_qdrant_library

from answerable.errors import EmbedderMismatch, LibraryError
from answerable.maintenance.copy import CopyReport
from answerable.maintenance.exporting import ExportReport, export_store
from answerable.maintenance.importing import import_store
from answerable.protocols import Passage, PassageVectors, Store
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.qdrant.store import QdrantStore

DOCUMENTS, CHUNKS = 5, 8


class Interruption(Exception):
    """What ends an import early here."""


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """An export of a library in a folder."""
    with closing(EmbeddedStore(tmp_path / "source")) as store:
        fill(store)
        export_store(store, tmp_path / "library.zip")
    return tmp_path / "library.zip"


@pytest.fixture(params=["memory", "embedded", "postgres", "qdrant"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Opens the same empty library again and again."""
    memory, postgres, qdrant = MemoryStore(), new_library(), new_qdrant_library()
    return {
        "memory": lambda: memory,
        "embedded": lambda: EmbeddedStore(tmp_path / "target"),
        "postgres": lambda: PostgresStore(postgres),
        "qdrant": lambda: QdrantStore(qdrant, key=api_key()),
    }[request.param]


def contents(store: Store) -> dict[str, Any]:
    """All that a store has, without the numbers that it gives."""
    chunks = {stored.id: store.indexed_chunks(stored.id) for stored in store.documents()}
    return {
        "documents": [store.document(stored.id) for stored in store.documents()],
        "chunks": {
            name: [(one.chunk, one.terms, one.fields, one.sentences) for one in chunks[name]] for name in chunks
        },
        "vectors": {name: [one.vector.tolist() for one in chunks[name]] for name in chunks},
        "sentences": {name: [one.sentence_vectors.tolist() for one in chunks[name]] for name in chunks},
        "records": store.records(),
        "fingerprint": store.fingerprint,
    }


class WholeTexts(HashEmbedder):
    """Embeds no sentences, as providers do."""

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        return [replace(each, spans=each.spans[:0]) for each in super().embed_passages(passages)]


def test_passages_without_vectors_of_sentences_come_back(tmp_path: Path) -> None:
    source, target = MemoryStore(), MemoryStore()
    add(source, make_document("Ana sells apples. Bruno bakes bread."), embedder=WholeTexts())
    export_store(source, tmp_path / "library.zip")
    import_store(tmp_path / "library.zip", lambda: target)
    assert contents(target) == contents(source)
    assert contents(target)["sentences"] == {next(iter(source.documents())).id: [[]]}


def test_everything_comes_back_and_gives_the_same_bytes(
    export: Path, opened: Callable[[], Store], tmp_path: Path
) -> None:
    done = import_store(export, opened)
    assert done == CopyReport(DOCUMENTS, 0, DOCUMENTS, CHUNKS)
    with closing(EmbeddedStore(tmp_path / "source")) as source, closing(opened()) as store:
        assert contents(store) == contents(source)
        question = HashEmbedder().embed_query("nieve")
        assert len(store.search_vectors(question, 20, None)) == CHUNKS
        export_store(store, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == export.read_bytes()
    # A second time nothing is left to do.
    assert import_store(export, opened) == CopyReport(0, DOCUMENTS, DOCUMENTS, 0)


def test_an_interrupted_import_is_finished(export: Path, opened: Callable[[], Store], tmp_path: Path) -> None:
    def interrupt(report: CopyReport) -> None:
        if report.copied == 2:
            raise Interruption

    with pytest.raises(Interruption):
        import_store(export, opened, interrupt)
    done = import_store(export, opened)
    assert (done.copied, done.unchanged) == (DOCUMENTS - 2, 2)
    with closing(opened()) as store:
        export_store(store, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == export.read_bytes()


def test_what_other_tools_find_in_it(export: Path, tmp_path: Path) -> None:
    found = members(export)
    assert list(found) == [
        "manifest.json",
        *("documents.jsonl", "chunks.jsonl", "records.jsonl"),
        *("vectors.npy", "sentence_vectors.npy", "sentence_scales.npy"),
    ]
    manifest = json.loads(found["manifest.json"])
    assert manifest["counts"] == {"documents": DOCUMENTS, "chunks": CHUNKS, "sentences": 17, "records": 2}
    assert manifest["fingerprint"] == {"provider": "hash", "model": "words", "dimension": 64}
    for name, size in manifest["members"].items():
        assert size == {"bytes": len(found[name]), "sha256": sha256(found[name]).hexdigest()}
    documents = [json.loads(line) for line in found["documents.jsonl"].splitlines()]
    chunks = [json.loads(line) for line in found["chunks.jsonl"].splitlines()]
    assert [row["document"]["id"] for row in documents] == ["none", "nothing", "chat", "b", "a"]
    contents = {row["document"]["id"]: row["document"]["content"] for row in documents}
    assert [chunk["document_id"] for chunk in chunks] == [
        row["document"]["id"] for row in documents for _ in range(row["chunks"])
    ]
    arrays = {}
    for name in ("vectors.npy", "sentence_vectors.npy", "sentence_scales.npy"):
        (tmp_path / name).write_bytes(found[name])
        arrays[name] = np.load(tmp_path / name, mmap_mode="r")
    assert arrays["vectors.npy"].shape == (CHUNKS, 64)
    assert np.allclose(np.linalg.norm(arrays["vectors.npy"], axis=1), 1)
    sentences = arrays["sentence_vectors.npy"] * arrays["sentence_scales.npy"][:, None]
    with closing(EmbeddedStore(tmp_path / "source")) as store:
        stored = [one for document_id in contents for one in store.indexed_chunks(document_id)]
        expected = {one.chunk.id: one.vector for one in stored}
    first = 0
    for chunk, vector in zip(chunks, arrays["vectors.npy"], strict=True):
        text = contents[chunk["document_id"]][chunk["start"] : chunk["end"]]
        assert np.array_equal(vector, expected[chunk["id"]])
        for row, (start, end) in enumerate(chunk["sentences"]):
            assert np.allclose(sentences[first + row], HashEmbedder().embed_query(text[start:end]), atol=0.01)
        first += chunk["rows"]


def test_an_empty_library(tmp_path: Path, opened: Callable[[], Store]) -> None:
    with closing(opened()) as store:
        assert export_store(store, tmp_path / "empty.zip").exported == 0
    assert import_store(tmp_path / "empty.zip", opened) == CopyReport()
    with closing(opened()) as store:
        store.bind_embedder(HashEmbedder().fingerprint)
        export_store(store, tmp_path / "empty.zip", overwrite=True)
    other = MemoryStore()
    assert import_store(tmp_path / "empty.zip", lambda: other) == CopyReport()
    assert other.fingerprint == HashEmbedder().fingerprint


def test_into_a_library_that_holds_something(export: Path) -> None:
    target = MemoryStore()
    add(target, make_document("Solo aquí.", "own"), make_document("Otro texto.", "b", source="/b"))
    assert import_store(export, lambda: target).copied == DOCUMENTS
    assert {stored.id for stored in target.documents()} == {"own", "none", "nothing", "chat", "b", "a"}
    other = MemoryStore()
    other.bind_embedder(HashEmbedder(8).fingerprint)
    with pytest.raises(EmbedderMismatch, match=r"8 dimensions.*new library"):
        import_store(export, lambda: other)
    assert other.count() == (0, 0)


def test_a_file_is_only_written_over_when_asked_for(export: Path) -> None:
    before = export.read_bytes()
    store = MemoryStore()
    with pytest.raises(LibraryError, match="--force"):
        export_store(store, export)
    assert export.read_bytes() == before
    export_store(store, export, overwrite=True)
    assert export.read_bytes() != before
    assert export.stat().st_mode & 0o777 == 0o600
    with pytest.raises(LibraryError, match=r"nowhere.*try again"):
        export_store(store, export.parent / "nowhere" / "library.zip")


def test_what_killed_exports_have_left_goes(export: Path) -> None:
    folder = export.parent
    old, recent, others = (folder / name for name in (".x[1].zip.abc.part", ".x[1].zip.def.part", ".y.zip.abc.part"))
    for path in (old, recent, others):
        path.write_bytes(b"PK")
    os.utime(old, (0, 0))
    os.utime(others, (0, 0))
    export_store(MemoryStore(), folder / "x[1].zip")
    assert sorted(path.name for path in folder.glob(".*.part")) == sorted([recent.name, others.name])


def test_what_changes_meanwhile_is_whole(tmp_path: Path, opened: Callable[[], Store]) -> None:
    with closing(opened()) as store, closing(opened()) as using:
        add(store, *(make_document(f"Texto {number} de antes.", f"d{number}") for number in range(6)))

        def use(report: ExportReport) -> None:
            if report.exported == 2:
                using.remove("d3")
                add(using, make_document("Texto nuevo.\n\nCon más de un párrafo.", "d4"))
                add(using, make_document("Llega tarde.", "d9"))

        export_store(store, tmp_path / "library.zip", on_progress=use)
        target = MemoryStore()
        import_store(tmp_path / "library.zip", lambda: target)
        assert {stored.id for stored in target.documents()} == {"d0", "d1", "d2", "d4", "d5"}
        assert target.document("d4") == store.document("d4")


def test_vectors_that_are_replaced_meanwhile_end_it(tmp_path: Path) -> None:
    with closing(EmbeddedStore(tmp_path / "library")) as store, closing(EmbeddedStore(tmp_path / "library")) as other:
        fill(store)
        new = HashEmbedder(32)

        def replace(report: ExportReport) -> None:
            if report.exported == 1:
                from answerable.maintenance.reindex import reindex

                reindex(other, new)

        with pytest.raises(EmbedderMismatch, match="Open it again"):
            export_store(store, tmp_path / "library.zip", on_progress=replace)
    assert not list(tmp_path.glob("*.zip*"))
    assert not list(tmp_path.glob(".*.part"))
