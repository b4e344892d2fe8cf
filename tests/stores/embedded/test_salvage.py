"""Of a damaged SQLite file what is whole is kept, what is lost is named, whichever page is damaged and how."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from helpers import indexed_texts

from answerable.datatypes import Document
from answerable.errors import LibraryBusy, LibraryDamaged, LibraryError
from answerable.protocols import Fingerprint, IndexedChunk
from answerable.stores.embedded.mending import KEPT_AS, salvage
from answerable.stores.embedded.writing import WritableDatabase

PAGE = 4096
DOCUMENTS = 60
FINGERPRINT = Fingerprint("test", "made", 64)

Damage = Callable[[bytes, random.Random], bytes]


def zeros(page: bytes, chance: random.Random) -> bytes:
    return bytes(PAGE)


def noise(page: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(PAGE)


def half_noise(page: bytes, chance: random.Random) -> bytes:
    return page[: PAGE // 2] + chance.randbytes(PAGE // 2)


def some_bytes(page: bytes, chance: random.Random) -> bytes:
    changed = bytearray(page)
    for _ in range(20):
        changed[chance.randrange(PAGE)] = chance.randrange(256)
    return bytes(changed)


DAMAGES = (zeros, noise, half_noise, some_bytes)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with long rows, short ones, several levels of pages, and free pages."""
    path = tmp_path_factory.mktemp("sound") / "library.db"
    chance = np.random.default_rng(1)
    with closing(WritableDatabase(path)) as database:
        database.bind_embedder(FINGERPRINT)
        for number in range(DOCUMENTS + 5):
            size = 40 if number % 10 == 0 else number % 3 + 1
            # Long words, so that the terms take more than a few pages.
            rare = " ".join(f"{word}{number}{'o' * 60}" for word in ("una", "dos", "tres", "cuatro"))
            texts = [f"Passage {number} {each}: " + "así es la lluvia. " * 20 + rare for each in range(size)]
            rows = chance.standard_normal((size, 64)).astype(np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            fields = [{"source": [f"/d/{number}.txt"], "document_id": [f"d{number}"], "type": ["text"]}] * size
            document, chunks = indexed_texts(f"d{number}", texts, list(rows), fields)
            database.put(document, chunks, ())
        database.remove(*(f"d{number}" for number in range(DOCUMENTS, DOCUMENTS + 5)))
    return path


@pytest.fixture(scope="module")
def documents(sound: Path) -> dict[str, tuple[Document, list[IndexedChunk]]]:
    with closing(WritableDatabase(sound)) as database:
        return contents(database)


def contents(database: WritableDatabase) -> dict[str, tuple[Document, list[IndexedChunk]]]:
    """Every document that can be read, with its chunks."""
    found = {}
    for listed in database.documents():
        try:
            document = database.document(listed.id)
            assert document is not None
            found[listed.id] = document, database.indexed_chunks(listed.id)
        except LibraryDamaged:
            continue
    return found


def damaged(sound: Path, folder: Path, number: int, damage: Damage) -> Path:
    """A copy with one page damaged, counted from 0."""
    data = sound.read_bytes()
    folder.mkdir(exist_ok=True)
    path = folder / "library.db"
    page = damage(data[number * PAGE : (number + 1) * PAGE], random.Random(number))
    path.write_bytes(data[: number * PAGE] + page + data[(number + 1) * PAGE :])
    return path


def same(one: tuple[Document, list[IndexedChunk]], other: tuple[Document, list[IndexedChunk]]) -> bool:
    return one[0] == other[0] and [chunk.chunk for chunk in one[1]] == [chunk.chunk for chunk in other[1]]


def assert_salvaged(path: Path, documents: Mapping[str, tuple[Document, list[IndexedChunk]]]) -> int:
    """Nothing is made up, every document is there or named; gives how many aren't whole any more."""
    before = path.read_bytes()
    salvage(path)
    # In the first page SQLite notes that the log has been taken in.
    assert path.with_name(KEPT_AS).read_bytes()[PAGE:] == before[PAGE:]
    assert {each.name for each in path.parent.iterdir()} == {"library.db", KEPT_AS}
    with closing(WritableDatabase(path)) as database:
        assert database.audit() == []
        assert database.fingerprint in (FINGERPRINT, None)
        whole = contents(database)
        named = {listed.id for listed in database.documents()}
        assert named == set(documents), "a document is neither there nor named"
        assert all(document.content == documents[name][0].content for name, (document, _) in whole.items())
        lost = [name for name, before in documents.items() if name not in whole or not same(before, whole[name])]
        if database.fingerprint is None:
            # Without it no passages are kept, but all texts.
            return len(set(documents) - set(whole))
        return len(lost)


def test_a_schema_that_is_no_text(
    sound: Path, documents: Mapping[str, tuple[Document, list[IndexedChunk]]], tmp_path: Path
) -> None:
    path = damaged(
        sound, tmp_path / "library", 0, lambda page, _: page.replace(b"TABLE documents", b"TABLE\x98documents")
    )
    with pytest.raises(LibraryDamaged, match="--repair"):
        WritableDatabase(path)
    assert assert_salvaged(path, documents) == 0


def test_the_file_has_pages_of_all_kinds(sound: Path) -> None:
    data = sound.read_bytes()
    kinds = {data[100], *(data[at] for at in range(PAGE, len(data), PAGE))}
    # Interior and leaf pages of tables and of indexes; overflow and free pages begin otherwise.
    assert kinds >= {2, 5, 10, 13, 0}
    assert len(data) > 150 * PAGE
    with closing(sqlite3.connect(sound)) as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone()[0] > 2


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_damaged_page_costs_what_is_on_it(
    sound: Path, documents: dict[str, tuple[Document, list[IndexedChunk]]], tmp_path: Path, damage: Damage
) -> None:
    pages = sound.stat().st_size // PAGE
    some = {0, 1, 2, 3, *random.Random(damage.__name__).sample(range(pages), 6)}
    for number in sorted(some):
        path = damaged(sound, tmp_path / f"{number}", number, damage)
        assert assert_salvaged(path, documents) <= 6, f"page {number}"
        shutil.rmtree(path.parent)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("damage", DAMAGES)
def test_any_damaged_page_costs_what_is_on_it(
    sound: Path, documents: dict[str, tuple[Document, list[IndexedChunk]]], tmp_path: Path, damage: Damage
) -> None:
    for number in range(sound.stat().st_size // PAGE):
        path = damaged(sound, tmp_path / f"{number}", number, damage)
        assert assert_salvaged(path, documents) <= 6, f"page {number}"
        shutil.rmtree(path.parent)


def test_what_is_only_in_the_log_is_kept(
    sound: Path, documents: dict[str, tuple[Document, list[IndexedChunk]]], tmp_path: Path
) -> None:
    path = tmp_path / "library.db"
    shutil.copy(sound, path)
    with closing(WritableDatabase(path)) as database:
        document, chunks = indexed_texts("new", ["The newest."], [np.eye(1, 64, dtype=np.float32)[0]])
        database.put(document, chunks, ())
        data = path.read_bytes()
        shutil.copytree(tmp_path, tmp_path / "killed")
    killed = tmp_path / "killed" / "library.db"
    assert killed.with_name("library.db-wal").stat().st_size
    # So that SQLite can't take the log in.
    killed.write_bytes(bytes(PAGE) + data[PAGE:])
    salvage(killed)
    with closing(WritableDatabase(killed)) as database:
        assert {listed.id for listed in database.documents()} == {*documents, "new"}
        assert database.document("new") == document


def test_a_library_that_another_process_has_open_is_left_alone(sound: Path, tmp_path: Path) -> None:
    path = damaged(sound, tmp_path / "held", 5, zeros)
    before = path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        with pytest.raises(LibraryBusy, match="Stop it, the server too, and repair the library again"):
            salvage(path)
    assert path.read_bytes() == before


def test_of_a_file_of_something_else_nothing_is_read(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    path.write_bytes(random.Random(1).randbytes(100_000))
    before = path.read_bytes()
    with pytest.raises(LibraryError, match="nothing in it can be read"):
        salvage(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["library.db"]
