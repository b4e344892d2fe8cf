"""A library on somebody else's small store: what it can do, and what it says of what it can't."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import HashEmbedder, add, make_document
from small_store import SmallStore

import answerable
from answerable.answering.extractive import ExtractiveAnswerer
from answerable.errors import EmbedderMismatch, LibraryError
from answerable.library import Library
from answerable.maintenance.copy import copy_store
from answerable.maintenance.reindex import reindex
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.completed import capabilities, completed
from answerable.stores.memory.store import MemoryStore

RULES = "A member may borrow up to five tools at once. The library of tools opens at nine on Saturdays."


def on(store: SmallStore, dimension: int = 64) -> Library:
    splitter = SplitterByType(200, 20)
    return Library(store, HashEmbedder(dimension), splitter, FileReader(), ExtractiveAnswerer(None))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.txt").write_text(RULES, "utf-8")
    (tmp_path / "garden.txt").write_text("Tomatoes need six hours of sun a day.", "utf-8")
    return tmp_path


@pytest.fixture
def library(folder: Path) -> Iterator[Library]:
    with on(SmallStore()) as made:
        made.add(folder)
        yield made


def test_add_ask_and_remove(library: Library, folder: Path) -> None:
    assert library.count() == (2, 2)
    answer = library.ask("How many tools may a member borrow?")
    assert "five tools" in answer.text
    for citation in answer.citations:
        document = library.document(citation.document_id)
        assert document.content[citation.start : citation.end] == citation.quote
    library.remove(library.resolve("rules.txt"))
    assert [stored.source for stored in library.documents()] == [str(folder / "garden.txt")]
    assert not library.ask("How many tools may a member borrow?").text.count("five tools")


def test_adding_again_changes_nothing_and_a_change_replaces(library: Library, folder: Path) -> None:
    report = library.add(folder)
    assert (report.unchanged, report.added, report.changed) == (2, 0, 0)
    (folder / "rules.txt").write_text(RULES.replace("five", "six"), "utf-8")
    report = library.add(folder)
    assert (report.unchanged, report.added, report.changed) == (1, 0, 1)
    assert "six tools" in library.ask("How many tools may a member borrow?").text
    assert library.stats().chunks == 2


def test_what_it_cannot_do_it_says(library: Library) -> None:
    assert library.origins() == []
    with pytest.raises(LibraryError, match=r"SmallStore doesn't support sync\. Implement records, remember, forget"):
        library.sync()
    store = completed(SmallStore())
    add(store, make_document(RULES, "rules"))
    with pytest.raises(LibraryError, match=r"SmallStore doesn't support verify --repair\. Implement audit, repair"):
        store.repair()
    with pytest.raises(LibraryError, match=r"SmallStore doesn't support reindex\. Implement next_vectors"):
        reindex(store, HashEmbedder(8))
    assert not capabilities(store)


def test_verify_compares_it_with_its_sources(library: Library, folder: Path) -> None:
    assert library.verify().is_clean
    (folder / "rules.txt").unlink()
    assert [finding.name for finding in library.verify().findings] == [str(folder / "rules.txt")]


def test_it_is_bound_to_its_embedder(library: Library) -> None:
    store = SmallStore()
    with on(store) as first:
        first.add_documents([make_document(RULES, "rules")])
    with pytest.raises(EmbedderMismatch):
        on(store, dimension=8)


def test_it_can_be_copied_from_and_to() -> None:
    source, small, target = MemoryStore(), completed(SmallStore()), MemoryStore()
    add(source, make_document(RULES, "rules"), make_document("Tomatoes need sun.", "garden"))
    for one, other in ((source, small), (small, target)):
        copy_store(one, other)
    assert list(target.documents()) == list(source.documents())
    assert target.chunks("rules") == source.chunks("rules")


def test_open_takes_it() -> None:
    with answerable.open(store=SmallStore()) as library:
        library.add_documents([answerable.Document.from_text(RULES, source="rules")])
        assert "five tools" in library.ask("How many tools may a member borrow?").text
