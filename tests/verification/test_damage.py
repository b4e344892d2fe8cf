"""What goes wrong in the files of an embedded library, done to the real tables, is found by name and put right."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import qdrant_edge as edge
from helpers import make_document
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stores.processes import copy_library
from verification.libraries import kinds, opened, write_quick_files

from answerable.errors import LibraryDamaged
from answerable.library import Library
from answerable.maintenance.verification.findings import Finding
from answerable.protocols import Difference
from answerable.stores.embedded.mending import salvage
from answerable.stores.embedded.store import INDEXED_FROM, EmbeddedStore
from answerable.stores.records import pack, vector_to_bytes

GUIDE = "espresso-machine-guide.md"
Row = tuple[Any, ...]


@dataclass
class Held:
    """A library of a folder with files, and three documents that were handed over."""

    folder: Path
    files: Path
    is_indexed: bool = False

    def change(self, *statements: str, **parameters: object) -> None:
        """Changes the tables behind the library's back."""
        with closing(sqlite3.connect(self.folder / "library.db")) as connection, connection:
            for statement in statements:
                connection.execute(statement, parameters)

    def rows(self, but: Collection[str]) -> dict[str, list[Row]]:
        """All rows of documents with their chunks, and of records, except those of some names."""
        with closing(sqlite3.connect(self.folder / "library.db")) as connection:
            documents = connection.execute("SELECT * FROM documents").fetchall()
            chunks = connection.execute("SELECT * FROM chunks ORDER BY number").fetchall()
            records = connection.execute("SELECT * FROM records").fetchall()
        found = {row[2] or row[1]: [row, *(chunk for chunk in chunks if chunk[1] == row[0])] for row in documents}
        found.update((f"record {row[0]} {row[1]}", [row]) for row in records)
        return {name: rows for name, rows in found.items() if Path(name).name not in but}

    def number(self, name: str) -> int:
        """The row number of the document of a file."""
        with closing(sqlite3.connect(self.folder / "library.db")) as connection:
            query = "SELECT number FROM documents WHERE source LIKE ? OR id = ?"
            return int(connection.execute(query, (f"%{name}", name)).fetchone()[0])

    def open(self) -> Library:
        """The library as another process opens it."""
        return opened(EmbeddedStore(self.folder, indexed_from=0 if self.is_indexed else INDEXED_FROM))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Held:
    """The library, with an index, before anything is done to it."""
    base = tmp_path_factory.mktemp("prepared")
    folder = write_quick_files(base / "files")
    with opened(EmbeddedStore(base / "library", indexed_from=0)) as library:
        library.add(folder)
        library.add_documents([make_document(f"Pear {name}. " * 60, name) for name in ("one", "two", "three")])
        library.search("pear")
    return Held(base / "library", base / "files")


def copied(prepared: Held, folder: Path, is_indexed: bool = False) -> Held:
    """A copy of the library to damage; its files are shared and stay as they are."""
    copy_library(prepared.folder, folder)
    if not is_indexed:
        shutil.rmtree(folder / "index")
    return Held(folder, prepared.files, is_indexed)


@pytest.fixture
def held(prepared: Held, tmp_path: Path) -> Held:
    """A copy without an index, whose process takes longer than all else."""
    return copied(prepared, tmp_path / "library")


@pytest.fixture
def indexed(prepared: Held, tmp_path: Path) -> Held:
    """A copy with its index."""
    return copied(prepared, tmp_path / "library", is_indexed=True)


Damage = Callable[[Held], None]


def lost_passages(held: Held) -> None:
    held.change("DELETE FROM chunks WHERE document = :number AND sequence IN (1, 2)", number=held.number(GUIDE))


def lost_all_passages(held: Held) -> None:
    held.change("DELETE FROM chunks WHERE document = :number", number=held.number("two"))


def replaced_text(held: Held) -> None:
    content = pack("Something else altogether. " * 80)
    held.change(
        "UPDATE documents SET content = :content WHERE number = :number", content=content, number=held.number(GUIDE)
    )


def shifted(held: Held) -> None:
    where = "document = :number AND sequence = 1"
    held.change(f'UPDATE chunks SET start = start + 1, "end" = "end" + 1 WHERE {where}', number=held.number("one"))


def sentences_outside(held: Held) -> None:
    held.change("UPDATE chunks SET sentences = '[0,100000]' WHERE document = :number", number=held.number("one"))


def another_place(held: Held) -> None:
    location = "replace(location, '\"lines\":[', '\"lines\":[9')"
    held.change(f"UPDATE chunks SET location = {location} WHERE document = :number", number=held.number(GUIDE))


def another_title(held: Held) -> None:
    held.change("UPDATE documents SET title = 'Other' WHERE number = :number", number=held.number(GUIDE))


def short_vectors(held: Held) -> None:
    vector = vector_to_bytes(np.full(16, 0.25, np.float32))
    held.change("UPDATE chunks SET vector = :vector WHERE document = :number", vector=vector, number=held.number("two"))


def other_vectors(held: Held) -> None:
    vector = vector_to_bytes(np.full(64, 0.125, np.float32))
    held.change("UPDATE chunks SET vector = :vector WHERE document = :number", vector=vector, number=held.number(GUIDE))


def other_terms(held: Held) -> None:
    where = "document = :number AND sequence = 0"
    held.change(f"UPDATE chunks SET terms = '{{\"zebra\":2}}' WHERE {where}", number=held.number("three"))


def broken_terms(held: Held) -> None:
    held.change("UPDATE chunks SET terms = '[1' WHERE document = :number", number=held.number(GUIDE))


def broken_content(held: Held) -> None:
    held.change("UPDATE documents SET content = x'00ff' WHERE number = :number", number=held.number(GUIDE))


def broken_metadata(held: Held) -> None:
    held.change("UPDATE documents SET metadata = '{' WHERE number = :number", number=held.number(GUIDE))


def broken_record(held: Held) -> None:
    held.change("UPDATE records SET documents = '{' WHERE source LIKE '%rows.csv'")


def record_of_nothing(held: Held) -> None:
    held.change("UPDATE records SET documents = '[\"nowhere\"]' WHERE source LIKE '%rows.csv'")


def lost_document(held: Held) -> None:
    held.change("DELETE FROM documents WHERE number = :number", number=held.number("rows.csv"))


def lost_handed_over(held: Held) -> None:
    held.change("DELETE FROM documents WHERE id = 'three'")


def wrong_counts(held: Held) -> None:
    held.change("UPDATE terms SET chunks = chunks + 3 WHERE term = 'pear'", "DELETE FROM terms WHERE term = 'coffe'")


def wrong_notes(held: Held) -> None:
    held.change("INSERT INTO removed (number) VALUES (5), (5), (7000)")


def second_version(held: Held) -> None:
    held.change(
        "INSERT INTO documents SELECT 900, 'older', source, title, type, language, content_hash, metadata, "
        "characters, 0, content, parts FROM documents WHERE number = :number",
        number=held.number(GUIDE),
    )


def other_index(held: Held) -> None:
    state = json.loads((held.folder / "index" / "state.json").read_text())
    shard = edge.EdgeShard.load(str(held.folder / "index" / "shard"))
    shard.update(edge.UpdateOperation.delete_points([3, 4]))
    shard.update(edge.UpdateOperation.upsert_points([edge.Point(70_000, {"dense": [0.125] * 64}, {})]))
    (kept,) = shard.retrieve([9], True, False)
    shard.update(edge.UpdateOperation.upsert_points([edge.Point(9, {"dense": [0.125] * 64}, kept.payload)]))
    shard.close()
    files = state.pop("files")
    state.update(
        is_closed=False, files={name: [0, 0, None] for name in files if (held.folder / "index" / name).exists()}
    )
    (held.folder / "index" / "state.json").write_text(json.dumps(state))


DAMAGES: dict[Damage, dict[str, set[str]]] = {
    lost_passages: {"library.db": {"missing"}, "library": {"wrong counts"}, GUIDE: {"missing"}},
    lost_all_passages: {"library.db": {"missing"}, "library": {"wrong counts"}, "two": {"missing"}},
    replaced_text: {GUIDE: {"wrong offsets"}},
    shifted: {"one": {"wrong offsets"}},
    sentences_outside: {"one": {"wrong offsets"}},
    another_place: {GUIDE: {"broken link"}},
    another_title: {GUIDE: {"wrong counts"}},
    short_vectors: {"two": {"damaged"}},
    other_vectors: {GUIDE: {"wrong vectors"}},
    other_terms: {"library": {"wrong counts"}, "three": {"wrong counts"}},
    broken_terms: {GUIDE: {"damaged"}},
    broken_content: {GUIDE: {"damaged"}},
    broken_metadata: {GUIDE: {"damaged"}},
    broken_record: {"rows.csv": {"damaged"}},
    record_of_nothing: {"rows.csv": {"missing"}},
    lost_document: {"index": {"orphaned"}, "library": {"wrong counts"}, "rows.csv": {"missing"}},
    lost_handed_over: {"index": {"orphaned"}, "library": {"wrong counts"}},
    wrong_counts: {"library": {"wrong counts"}},
    wrong_notes: {"library.db": {"missing"}, "library": {"wrong counts"}},
    second_version: {GUIDE: {"missing", "orphaned"}},
}


# What differs too where there is an index.
IN_THE_INDEX: dict[Damage, dict[str, set[str]]] = {
    other_index: {"index": {"missing", "orphaned", "wrong vectors"}},
    other_vectors: {"index": {"wrong vectors"}},
    short_vectors: {},
    wrong_notes: {},
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_found_by_name_and_repaired_without_touching_anything_else(held: Held, damage: Damage) -> None:
    damage(held)
    assert_found_and_repaired(held, DAMAGES[damage])


@pytest.mark.parametrize(
    "damage",
    [
        other_index,
        wrong_notes,
        *(pytest.param(each, marks=pytest.mark.long) for each in (other_vectors, short_vectors)),
    ],
    ids=lambda damage: damage.__name__,
)
def test_damage_is_found_and_repaired_in_the_index_too(indexed: Held, damage: Damage) -> None:
    damage(indexed)
    assert_found_and_repaired(indexed, DAMAGES.get(damage, {}) | IN_THE_INDEX[damage])


def assert_found_and_repaired(held: Held, expected: dict[str, set[str]]) -> None:
    others = held.rows(but=expected)
    with held.open() as library:
        found = library.verify(embed=10_000)
        assert kinds(found) == expected
        report = library.verify(repair=True, embed=10_000)
        assert report.findings == []
        assert {finding.name for finding in report.repaired} == {finding.name for finding in found.findings}
    assert held.rows(but=expected) == others


def test_a_clean_library_is_left_as_it_is(held: Held) -> None:
    before = held.rows(but=())
    with held.open() as library:
        report = library.verify(repair=True, embed=10_000)
        assert (report.findings, report.repaired, report.notes) == ([], [], [])
    assert held.rows(but=()) == before


def assert_repaired(prepared: Held, base: Path, damages: list[Damage], is_indexed: bool) -> None:
    held = copied(prepared, base / "library", is_indexed)
    for damage in damages:
        damage(held)
    affected = {name for damage in damages for name in DAMAGES.get(damage, {})}
    others = held.rows(but=affected)
    with held.open() as library:
        assert not library.verify(embed=10_000).is_clean
        assert library.verify(repair=True, embed=10_000).findings == []
    assert held.rows(but=affected) == others
    shutil.rmtree(base)


def some(damages: Collection[Damage]) -> st.SearchStrategy[list[Damage]]:
    """Some of these damages, in their order."""
    order = list(damages)
    chosen = st.lists(st.sampled_from(order), min_size=2, max_size=5, unique=True)
    return chosen.map(lambda found: sorted(found, key=order.index))


IN_A_FOLDER = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)


@settings(max_examples=3, deadline=None, suppress_health_check=IN_A_FOLDER)
@given(damages=some(DAMAGES))
def test_after_any_damages_a_repaired_library_is_clean(
    prepared: Held, tmp_path_factory: pytest.TempPathFactory, damages: list[Damage]
) -> None:
    assert_repaired(prepared, tmp_path_factory.mktemp("damaged"), damages, is_indexed=False)


@pytest.mark.long
@pytest.mark.timeout(3000)
@settings(max_examples=200, deadline=None, suppress_health_check=IN_A_FOLDER)
@given(damages=some([other_index, *DAMAGES]))
def test_after_any_damages_a_repaired_library_is_clean_at_length(
    prepared: Held, tmp_path_factory: pytest.TempPathFactory, damages: list[Damage]
) -> None:
    assert_repaired(prepared, tmp_path_factory.mktemp("damaged"), damages, is_indexed=True)


def test_a_sample_that_finds_foreign_vectors_has_all_compared_before_the_repair(held: Held) -> None:
    vector = vector_to_bytes(np.full(64, 0.125, np.float32))
    held.change("UPDATE chunks SET vector = :vector", vector=vector)
    with held.open() as library:
        assert {finding.kind for finding in library.verify(embed=3).findings} == {Difference.VECTORS}
        assert library.verify(embed=0).is_clean
        report = library.verify(repair=True, embed=3)
        assert (report.is_clean, report.embedded) == (True, library.count()[1])
        assert library.verify(embed=10_000).is_clean


def test_an_index_that_isnt_there_or_is_broken_is_made_anew(indexed: Held) -> None:
    with indexed.open() as library:
        library.search("pear")
    for path in (indexed.folder / "index").rglob("*.dat"):
        path.write_bytes(path.read_bytes()[:1000])
    with indexed.open() as library:
        assert library.verify().is_clean
    shutil.rmtree(indexed.folder / "index")
    with indexed.open() as library:
        assert library.verify().is_clean
        assert library.search("pear", k=3)


def test_what_cant_be_repaired_is_said(held: Held) -> None:
    held.change("UPDATE documents SET content = x'00ff' WHERE id = 'one'")
    with held.open() as library:
        report = library.verify(repair=True)
        assert kinds(report) == {"one": {"damaged"}}
        library.remove("one")
        assert library.verify().is_clean


def test_a_document_that_is_damaged_is_made_again_from_its_text_where_its_file_is_gone(held: Held) -> None:
    lost_passages(held)
    held.change("UPDATE documents SET source = '' WHERE number = :number", number=held.number(GUIDE))
    with held.open() as library:
        (lost,) = (finding.document_id for finding in library.verify().findings if finding.document_id)
        before = [chunk.sequence for chunk in library.chunks(lost)]
        assert library.verify(repair=True).is_clean
        assert [chunk.sequence for chunk in library.chunks(lost)] == list(range(len(before) + 2))


def damage_page(folder: Path, number: int, page: bytes) -> None:
    """Writes over a page of the database, counted from 0."""
    path = folder / "library.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        file.seek(number * 4096)
        file.write(page)


def is_lost(finding: Finding) -> bool:
    """Whether it names a document that was handed over, of which there is no source."""
    return finding.kind is Difference.DAMAGED and finding.name in ("one", "two", "three")


@pytest.mark.parametrize("share", [0.3, 0.97, *(pytest.param(share, marks=pytest.mark.long) for share in (0.5, 0.8))])
def test_what_is_left_of_a_truncated_database_is_kept(held: Held, share: float) -> None:
    path = held.folder / "library.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    os.truncate(path, int(path.stat().st_size * share))
    with made_anew(held) as library:
        report = library.verify(repair=True)
        assert all(map(is_lost, report.findings)), report.findings
        for finding in report.findings:
            library.remove(finding.name)
        assert library.verify().is_clean


def test_an_emptied_database_is_not_taken_for_a_new_library(indexed: Held) -> None:
    with indexed.open() as library:
        assert library.search("pear")
    os.truncate(indexed.folder / "library.db", 0)
    with pytest.raises(LibraryDamaged, match="it is empty"):
        indexed.open()


@pytest.mark.parametrize("seed", [0, 3, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 4, 5))])
def test_a_library_with_a_damaged_page_is_repaired(held: Held, seed: int) -> None:
    chance = random.Random(seed)
    with held.open() as library:
        files = {stored.source for stored in library.documents() if stored.source}
    pages = (held.folder / "library.db").stat().st_size // 4096
    damage_page(held.folder, chance.randrange(1, pages), bytes(4096) if seed % 2 else chance.randbytes(4096))
    with made_anew(held) as library:
        report = library.verify(repair=True, embed=0)
        assert all(map(is_lost, report.findings)), report.findings
        assert {stored.source for stored in library.documents() if stored.source} == files
        assert library.search("pear", k=3)
        for finding in report.findings:
            library.remove(finding.name)
        assert library.verify(embed=10_000).is_clean


def made_anew(held: Held) -> Library:
    """The damaged library, made anew where it can't even be opened, as the command does."""
    try:
        library = held.open()
    except LibraryDamaged as error:
        assert "answerable verify --repair" in str(error)
        salvage(held.folder / "library.db")
        return held.open()
    assert Difference.DAMAGED in {finding.kind for finding in library.verify(embed=0).findings}
    return library
