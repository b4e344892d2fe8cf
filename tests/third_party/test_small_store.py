"""A library on somebody else's small store: what it can do, and what it says of what it can't."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from helpers import HashEmbedder, add, make_document
from small_store import SmallStore

import answerable
from answerable.answering.decide import Answering
from answerable.codec import to_json
from answerable.datatypes import Document
from answerable.errors import EmbedderMismatch, LibraryError
from answerable.filters import Filter
from answerable.library import Library
from answerable.maintenance.copy import copy_store
from answerable.maintenance.reindex import reindex
from answerable.protocols import Difference, IndexedChunk, StoredDocument
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.audit import audit
from answerable.stores.completed import capabilities, completed
from answerable.stores.memory import MemoryStore

RULES = "A member may borrow up to five tools at once. The library of tools opens at nine on Saturdays."


def on(store: SmallStore, dimension: int = 64) -> Library:
    splitter = SplitterByType(200, 20)
    return Library(store, HashEmbedder(dimension), splitter, FileReader(), Answering())


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


class ForgetfulStore(SmallStore):
    """Its keyword searches never find the first passage."""

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> list[tuple[int, float]]:
        return [pair for pair in super().search_terms(terms, k, where) if pair[0] != 1]


def test_an_audit_takes_it_as_it_is() -> None:
    for store, kinds in ((SmallStore(), []), (ForgetfulStore(), [Difference.MISSING, Difference.COUNTS])):
        on(store).add_documents([make_document(RULES, "rules")])
        assert [issue.kind for issue in audit(store)] == kinds


def test_verify_finds_what_its_searches_miss(folder: Path) -> None:
    with on(ForgetfulStore()) as library:
        library.add(folder)
        found = {(finding.kind, finding.name) for finding in library.verify().findings}
        assert found == {(Difference.MISSING, "index"), (Difference.COUNTS, "library")}
        with pytest.raises(LibraryError, match=r"doesn't support verify --repair"):
            library.verify(repair=True)


class JsonStore(SmallStore):
    """Its metadata comes back from JSON, as that of a store on disk does."""

    def __init__(self) -> None:
        super().__init__()
        self.hashes: dict[str, str] = {}

    def put(self, document: Document, chunks: Sequence[IndexedChunk], replaces: Collection[str] = ()) -> None:
        self.hashes[document.id] = document.content_hash
        super().put(replace(document, metadata=json.loads(to_json(dict(document.metadata)))), chunks, replaces)

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        for each in super().documents(type):
            document = self._documents[each.id]
            yield StoredDocument.of(document, each.chunks, self.hashes[each.id])


def test_adding_again_changes_nothing_where_metadata_comes_back_from_json() -> None:
    document = answerable.Document.from_text(RULES, source="rules", day=date(2024, 1, 31), tags=("a", "b"))
    with on(JsonStore()) as library:
        assert library.add_documents([document]).added == 1
        report = library.add_documents([document])
        assert (report.unchanged, report.added, report.changed) == (1, 0, 0)


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
