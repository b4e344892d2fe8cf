"""Nothing is said to differ in libraries in which nothing was done behind the library's back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime
from pathlib import Path

import pytest
from helpers import HashEmbedder, make_document
from verification.libraries import STORES, opened, write_files, write_quick_files

from answerable.library import Library
from answerable.maintenance.copy import copy_store
from answerable.protocols import Store
from answerable.stores.memory import MemoryStore


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    made = STORES[request.param](tmp_path)
    yield made
    made.close()


def assert_clean(library: Library) -> None:
    report = library.verify(checksum=True, embed=1_000_000)
    assert (report.findings, report.repaired) == ([], [])
    documents, chunks = library.count()
    assert (report.documents, report.chunks, report.embedded) == (documents, chunks, chunks)


def test_an_empty_library_is_clean(store: Store) -> None:
    assert_clean(opened(store))


def test_every_kind_of_file_is_clean_and_so_is_a_copy(store: Store, tmp_path: Path) -> None:
    library = opened(store)
    folder = write_files(tmp_path / "files")
    assert library.add(folder).failures == []
    assert {document.type for document in library.documents()} >= {"chat", "pdf", "html", "epub", "records", "code"}
    assert_clean(library)
    # From memory to each, and from each to memory.
    for name in STORES if isinstance(store, MemoryStore) else ["memory"]:
        copied = STORES[name](tmp_path / name)
        copy_store(store, copied)
        assert_clean(opened(copied))
        copied.close()


def test_a_documents_chunks_come_with_all_that_is_fetched_of_them(store: Store) -> None:
    opened(store).add_documents([make_document("Pears are sweet. " * 90, "pears"), make_document("Figs.", "figs")])
    found = store.indexed_chunks("pears")
    assert [indexed.chunk for indexed in found] == store.chunks("pears")
    assert len(found) > 3
    numbers = [number for number, _ in store.search_vectors(found[0].vector, 100, None)]
    fetched = {chunk.chunk.id: chunk for chunk, _ in store.fetch(numbers).values()}
    for indexed in found:
        other = fetched[indexed.chunk.id]
        assert (indexed.terms, indexed.fields, indexed.sentences) == (other.terms, other.fields, other.sentences)
        assert indexed.vector.tobytes() == other.vector.tobytes()
        assert indexed.sentence_vectors.tobytes() == other.sentence_vectors.tobytes()
    assert store.indexed_chunks("nothing") == []


def test_a_library_that_is_written_to_meanwhile_is_clean(tmp_path: Path) -> None:
    with closing(STORES["embedded"](tmp_path)) as store, closing(STORES["embedded"](tmp_path)) as other:
        library, writer = opened(store), opened(other)
        library.add_documents([make_document(f"Pear {number}. " * 30, f"pear-{number}") for number in range(20)])
        is_over = threading.Event()

        def write() -> None:
            for turn in range(200):
                if is_over.is_set():
                    return
                writer.add_documents([make_document(f"Fig {turn}. " * 30, f"pear-{turn % 20}")])
                if turn < 6:
                    writer.remove(f"pear-{turn + 10}")

        thread = threading.Thread(target=write)
        thread.start()
        for _ in range(5):
            assert library.verify().findings == []
        is_over.set()
        thread.join()


def test_a_library_that_was_synced_is_clean(store: Store, tmp_path: Path) -> None:
    library = opened(store)
    folder = write_quick_files(tmp_path / "files")
    library.add(folder)
    (folder / "data.json").unlink()
    (folder / "code.py").write_text("def valve() -> None:\n    pass\n")
    (folder / "odd.txt").rename(folder / "moved.txt")
    (folder / "empty.txt").write_text(" \n")
    library.sync()
    assert_clean(library)


def test_documents_without_files_are_clean(store: Store) -> None:
    library = opened(store)
    library.add_documents(
        [
            make_document("Pears are sweet. " * 40),
            make_document("Lemons are sour. " * 40, "given-id", source="notes/lemons.txt", title="Títle"),
            make_document(
                "Plums are blue.",
                tags=("a", "b"),
                day=date(2024, 3, 1),
                moment=datetime(2024, 3, 1, 12, 30),
                path=Path("/x"),
                nested={"deep": [1, 2.5, None, True]},
            ),
            make_document("Figs \x00 are brown\u2028and soft.", language="en"),
        ]
    )
    assert_clean(library)


def test_what_costs_something_isnt_embedded_unasked(tmp_path: Path) -> None:
    class Dear(HashEmbedder):
        def cost(self, tokens: int) -> float:
            return tokens * 0.01

    embedder = Dear()
    library = opened(STORES["memory"](tmp_path), embedder)
    library.add_documents([make_document("Pears are sweet.")])
    embedder.embedded = 0
    report = library.verify()
    assert (report.is_clean, report.embedded, embedder.embedded) == (True, 0, 0)
    assert report.notes == ["No vectors were compared with those that hash:words (64 dimensions) makes now."]
    assert library.verify(embed=1).embedded == 1
