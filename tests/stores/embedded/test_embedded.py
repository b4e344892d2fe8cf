"""The library in a folder, whatever happens to it: damage, kills, other processes, no rights, no space."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import processes
import pytest
from helpers import HashEmbedder, add, make_document
from processes import copy_library, indexed_store, results, some_document

from answerable.answering.decide import Answering
from answerable.errors import (
    LibraryBusy,
    LibraryDamaged,
    LibraryError,
    LibraryFormatError,
    LibraryNotFound,
    LibraryReadOnly,
)
from answerable.library import Library
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.audit import audit
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.embedded.writing import WritableDatabase
from answerable.stores.memory import MemoryStore
from answerable.stores.records import content_from_bytes, content_to_bytes, pack

DOCUMENTS = 6


def command(action: str, folder: Path, *arguments: object) -> list[str]:
    return [sys.executable, processes.__file__, action, str(folder), *map(str, arguments)]


def run(action: str, folder: Path, *arguments: object) -> str:
    done = subprocess.run(command(action, folder, *arguments), capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A library of some documents, closed; it is too small for an index."""
    return _made(EmbeddedStore(tmp_path / "library"), tmp_path / "library")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that is copied for each test that needs an index."""
    folder = tmp_path_factory.mktemp("prepared") / "library"
    return _made(indexed_store(folder), folder)


@pytest.fixture
def indexed(prepared: Path, tmp_path: Path) -> Path:
    """A library of some documents, closed; it has an index."""
    copy_library(prepared, tmp_path / "library")
    return tmp_path / "library"


def _made(store: EmbeddedStore, folder: Path) -> Path:
    add(store, *(some_document("d", number) for number in range(DOCUMENTS)))
    store.close()
    return folder


@pytest.fixture(scope="module")
def expected() -> list[object]:
    """What searching those documents gives."""
    store = MemoryStore()
    add(store, *(some_document("d", number) for number in range(DOCUMENTS)))
    return results(store)  # type: ignore[arg-type]


def opened(folder: Path) -> list[object]:
    """What searching a library gives."""
    store = indexed_store(folder)
    try:
        return results(store)
    finally:
        store.close()


def assert_whole_index(folder: Path) -> None:
    """The index is made anew where it must be."""
    with closing(indexed_store(folder)) as store:
        assert audit(store) == []


def shard_files(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "index").rglob("*") if path.is_file())


def segments(folder: Path) -> set[str]:
    return {path.name for path in (folder / "index" / "shard" / "segments").iterdir()}


def assert_whole(folder: Path, prefix: str) -> int:
    """Every document is there with all its chunks and terms, or not at all. Gives how many there are."""
    store = indexed_store(folder)
    reference = MemoryStore()
    stored = list(store.documents())
    for described in stored:
        expected_document = some_document(prefix, int(described.id.removeprefix(prefix)))
        add(reference, expected_document)
        assert store.document(described.id) == expected_document
        assert store.chunks(described.id) == reference.chunks(described.id)
        assert described.chunks == len(store.chunks(described.id))
    assert store.count() == reference.count()
    terms = ["inform", "part", *processes.TOPICS]
    assert store.document_frequency(terms) == reference.document_frequency(terms)
    assert sorted(map(len, results(store))) == sorted(map(len, results(reference)))  # type: ignore[arg-type]
    store.close()
    return len(stored)


def test_opening_again_keeps_the_index(indexed: Path, expected: list[object]) -> None:
    before = segments(indexed)
    assert opened(indexed) == expected
    assert segments(indexed) == before
    copy_library(indexed, indexed.with_name("copy"))
    assert opened(indexed.with_name("copy")) == expected
    assert segments(indexed.with_name("copy")) == before


def test_the_index_is_taken_up_again_after_a_kill(indexed: Path, expected: list[object]) -> None:
    before = segments(indexed)
    for _ in range(2):
        child = subprocess.Popen(command("hold", indexed), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert json.loads(child.stdout.readline()) == expected
        child.kill()
        child.communicate()
    assert opened(indexed) == expected
    assert segments(indexed) == before


def test_numbers_are_not_given_again_after_opening_again(folder: Path) -> None:
    store = EmbeddedStore(folder)
    last = store.count()[1]
    assert store.remove(f"d{DOCUMENTS - 1}")
    store.close()
    store = EmbeddedStore(folder)
    add(store, some_document("new", 1))
    found = store.search_terms(["new1"], 50, None)
    assert found
    assert min(number for number, _ in found) > last
    store.close()


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _scramble(path: Path) -> None:
    chance = random.Random(path.name)
    with path.open("r+b") as file:
        file.write(chance.randbytes(min(path.stat().st_size, 500_000)))


def _empty(path: Path) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize(
    "damage", [_truncate, *(pytest.param(each, marks=pytest.mark.long) for each in (_scramble, _empty, Path.unlink))]
)
def test_a_damaged_index_is_built_anew(indexed: Path, expected: list[object], damage: Callable[[Path], None]) -> None:
    names = {path.name for path in shard_files(indexed)}
    assert len(names) > 10
    # Building takes a while, and every file is looked at in the same way: each damage gets some of them.
    first, step = {_scramble: (0, 3), _truncate: (1, 6)}.get(damage, (2, 6))
    for name in sorted(names)[first::step]:
        damage(random.Random(name).choice([path for path in shard_files(indexed) if path.name == name]))
        assert opened(indexed) == expected, name


@pytest.mark.parametrize("name", ["chunk_0.mmap", pytest.param("mutable_id_tracker.mappings", marks=pytest.mark.long)])
def test_a_damaged_index_that_was_not_closed_is_built_anew(indexed: Path, expected: list[object], name: str) -> None:
    child = subprocess.Popen(command("hold", indexed), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    child.kill()
    child.communicate()
    _truncate(next(path for path in shard_files(indexed) if path.name == name))
    assert opened(indexed) == expected


@pytest.mark.parametrize(
    "state",
    [
        "",
        "[]",
        "{}",
        "\0\xff",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("{", "null", '{"files": 3}', "3")),
    ],
)
def test_a_state_that_makes_no_sense(indexed: Path, state: str) -> None:
    before = segments(indexed)
    (indexed / "index" / "state.json").write_text(state, "latin-1")
    assert_whole_index(indexed)
    assert not before & segments(indexed)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", 0),
        ("engine", "0.0.1"),
        ("library", "another"),
        ("dimension", 8),
        ("files", {"x": []}),
        ("added", "x"),
    ],
)
def test_the_state_of_something_else(indexed: Path, name: str, value: object) -> None:
    before = segments(indexed)
    path = indexed / "index" / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    assert_whole_index(indexed)
    # A mark that no number is above leaves nothing to add to an index that has all.
    assert bool(before & segments(indexed)) == (name == "added")


def test_the_index_of_another_library(indexed: Path, expected: list[object], tmp_path: Path) -> None:
    other = indexed_store(tmp_path / "other")
    add(other, *(some_document("other", number) for number in range(DOCUMENTS)))
    other.close()
    shutil.rmtree(indexed / "index")
    shutil.copytree(tmp_path / "other" / "index", indexed / "index")
    assert opened(indexed) == expected


def test_nothing_is_embedded_again_when_the_index_is_gone(indexed: Path, expected: list[object]) -> None:
    shutil.rmtree(indexed / "index")
    embedder = HashEmbedder()
    store = indexed_store(indexed)
    with Library(store, embedder, SplitterByType(200, 20), FileReader(), Answering()) as library:
        assert results(store) == expected
        report = library.add_documents([some_document("d", number) for number in range(DOCUMENTS)])
        assert (report.unchanged, report.added, report.changed) == (DOCUMENTS, 0, 0)
        assert library.search("el informe de la nieve")
        assert embedder.embedded == 0


def test_the_index_goes_away_while_it_is_open(indexed: Path, expected: list[object]) -> None:
    store = indexed_store(indexed)
    assert results(store) == expected
    shutil.rmtree(indexed / "index")
    add(store, some_document("new", 1))
    assert store.search_terms(["new1"], 5, None)
    assert store.remove("new1")
    assert results(store) == expected
    store.close()
    assert opened(indexed) == expected


@pytest.mark.parametrize("acknowledged", [3, *(pytest.param(each, marks=pytest.mark.long) for each in (1, 6))])
def test_killed_while_adding(tmp_path: Path, acknowledged: int) -> None:
    folder = tmp_path / "library"
    child = subprocess.Popen(command("add_endlessly", folder, "k"), stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for _ in range(acknowledged):
        child.stdout.readline()
    # Somewhere in the middle of the next one, at another place each time.
    threading.Event().wait(random.random() * 0.05)
    child.kill()
    # What has been read ahead is lost to `communicate`.
    told = acknowledged + child.stdout.read().count("\n")
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    there = assert_whole(folder, "k")
    assert there >= told
    run("write", folder, "k", there + 2)
    assert assert_whole(folder, "k") == there + 2


@pytest.fixture
def holder(indexed: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the index."""
    child = subprocess.Popen(command("hold", indexed), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline()
    yield child
    child.communicate()


def test_another_process_holds_the_index(indexed: Path, expected: list[object], holder: subprocess.Popen[str]) -> None:
    store = indexed_store(indexed)
    before = segments(indexed)
    assert results(store) == expected
    # What is added and removed here is found here at once.
    add(store, some_document("new", 1))
    assert store.search_terms(["new1"], 5, None)
    assert store.remove("new1")
    assert results(store) == expected
    assert segments(indexed) == before
    holder.communicate()
    assert results(store) == expected
    store.close()


def test_a_big_library_waits_for_its_index_and_says_who_holds_it(
    indexed: Path, expected: list[object], holder: subprocess.Popen[str]
) -> None:
    store = indexed_store(indexed, exact_up_to=10, patience=0.1)
    with pytest.raises(LibraryBusy, match=rf"Process {holder.pid} holds the index of .*stop it, or try again"):
        results(store)
    assert store.count()[0] == DOCUMENTS
    store.close()
    patient = indexed_store(indexed, exact_up_to=10, patience=30)
    releasing = threading.Timer(0.2, holder.communicate)
    releasing.start()
    assert results(patient) == expected
    releasing.join()
    patient.close()


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    children = [subprocess.Popen(command("write", folder, prefix, 8)) for prefix in ("a", "b", "a")]
    assert [child.wait(240) for child in children] == [0, 0, 0]
    store = indexed_store(folder)
    ids = [stored.id for stored in store.documents()]
    assert sorted(ids) == sorted(f"{prefix}{number}" for prefix in "ab" for number in range(8))
    for document_id in ids:
        assert len(store.search_terms([document_id], 100, None)) == len(store.chunks(document_id))
    assert store.document_frequency(["inform"]) == {"inform": store.count()[1]}
    store.close()


def test_any_thread_may_close_what_another_opened(indexed: Path, expected: list[object]) -> None:
    store = indexed_store(indexed)
    found: list[object] = []
    searching = threading.Thread(target=lambda: found.extend(results(store)))
    searching.start()
    searching.join()
    assert found == expected
    store.close()
    big = indexed_store(indexed, exact_up_to=0, patience=0)
    assert results(big) == expected
    big.close()


def test_threads_share_a_store(indexed: Path, expected: list[object]) -> None:
    store = indexed_store(indexed)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(results(store))) for _ in range(4)]
    threads += [threading.Thread(target=add, args=(store, some_document("é", n))) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for number in range(3):
        assert store.remove(f"é{number}")
    assert results(store) == expected
    store.close()


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that every user can get to."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_that_can_only_be_read(indexed: Path, reachable: Path, expected: list[object]) -> None:
    library = reachable / "library"
    shutil.copytree(indexed, library)
    (reachable / "closed").mkdir(mode=0o700)
    (reachable / "closed" / "x").mkdir()
    for path in [library, *library.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.geteuid():
        (reachable / "closed").chmod(0)
    report = json.loads(run("use_as_nobody", library))
    assert report["writable"] is False
    assert report["results"] == expected
    assert [name for name, _ in report["errors"]] == ["LibraryReadOnly"] * 5
    adding, removing, *elsewhere = (message for _, message in report["errors"])
    assert adding == removing
    assert f"{library} can't be written to. Check the folder's permissions" in adding
    assert all("Choose a folder you may write to with --library." in message for message in elsewhere)


@pytest.mark.parametrize("name", ["library.db"])
def test_a_database_that_is_not_one(folder: Path, name: str) -> None:
    (folder / name).write_bytes(random.Random(1).randbytes(100_000))
    with pytest.raises(LibraryDamaged, match=r"library\.db is damaged .*Run answerable verify --repair"):
        EmbeddedStore(folder)


def test_a_damaged_database_never_gives_anything_but_a_library_error(folder: Path) -> None:
    sound = (folder / "library.db").read_bytes()
    outcomes = set()
    for seed in range(40):
        chance = random.Random(seed)
        damaged = bytearray(sound)
        for _ in range(chance.choice([1, 5, 30])):
            at, size = chance.randrange(100, len(sound)), chance.choice([1, 64, 4096])
            damaged[at : at + size] = chance.randbytes(size)
        if chance.random() < 0.2:
            del damaged[chance.randrange(len(damaged)) :]
        (folder / "library.db").write_bytes(damaged)
        try:
            database = WritableDatabase(folder / "library.db")
            try:
                for described in database.documents():
                    database.document(described.id)
                    database.chunks(described.id)
                database.fetch(range(100))
                with database.changes(0, 0) as (_, entries, _):
                    list(entries)
                database.remove("d1")
            finally:
                database.close()
            outcomes.add("whole")
        except LibraryError as error:
            outcomes.add(type(error).__name__)
    assert "LibraryDamaged" in outcomes


def test_another_format(folder: Path) -> None:
    with sqlite3.connect(folder / "library.db") as database:
        database.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    database.close()
    with pytest.raises(LibraryFormatError, match=r"has format 99; this version of answerable reads format \d+\. Use"):
        EmbeddedStore(folder)


def test_a_library_of_the_first_format_is_brought_up_to_date(folder: Path, tmp_path: Path) -> None:
    with sqlite3.connect(folder / "library.db") as database:
        database.execute("UPDATE meta SET value = '1' WHERE key = 'format'")
        database.execute("DROP TABLE records")
        database.execute("DROP INDEX documents_by_type")
        database.create_function("compressed", 1, lambda content: pack(content_from_bytes(content)))
        assert database.execute("UPDATE documents SET content = compressed(content)").rowcount == DOCUMENTS
    database.close()
    for create in (True, False):
        store = EmbeddedStore(folder, create)
        assert store.records() == []
        assert store.count()[0] == DOCUMENTS
        assert not audit(store)
        for stored in store.documents():
            document = store.document(stored.id)
            assert document is not None
            assert document.content_hash == stored.content_hash
        store.close()


def test_documents_of_a_type_are_found_by_an_index(folder: Path) -> None:
    seen: list[str] = []
    database = WritableDatabase(folder / "library.db", create=False)
    with database.snapshot() as connection:
        connection.set_trace_callback(seen.append)
    assert list(database.documents("chat")) == []
    assert len(list(database.documents("text"))) == len(list(database.documents())) == DOCUMENTS
    with database.snapshot() as connection:
        connection.set_trace_callback(None)
        (query, *_) = [each for each in seen if "chat" in each]
        (plan,) = [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
    database.close()
    assert "USING INDEX documents_by_type (type=?)" in plan


def test_a_text_of_which_a_byte_is_another_is_damaged(folder: Path) -> None:
    with sqlite3.connect(folder / "library.db") as database:
        (content,) = database.execute("SELECT content FROM documents WHERE number = 1").fetchone()
        assert content_to_bytes(content_from_bytes(content)) == content
        database.execute("UPDATE documents SET content = ? WHERE number = 1", [content[:-1] + bytes([content[-1] ^ 1])])
        (name,) = database.execute("SELECT id FROM documents WHERE number = 1").fetchone()
    database.close()
    store = EmbeddedStore(folder)
    with pytest.raises(LibraryDamaged):
        store.document(name)
    store.close()


def test_no_library_there(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound, match="Make one by adding something: answerable add PATH"):
        EmbeddedStore(tmp_path / "nothing", create=False)
    assert not (tmp_path / "nothing").exists()
    (tmp_path / "file").write_text("x")
    with pytest.raises(LibraryReadOnly, match="Choose a folder you may write to"):
        EmbeddedStore(tmp_path / "file")


def test_a_closed_library_says_so(folder: Path) -> None:
    store = EmbeddedStore(folder)
    store.close()
    for use in (store.count, lambda: results(store), lambda: store.remove("d1"), lambda: store.document("d1")):
        with pytest.raises(LibraryError):
            use()


def test_a_document_that_cannot_be_written_changes_nothing(folder: Path, expected: list[object]) -> None:
    store = EmbeddedStore(folder)
    bad = make_document("El informe con título de la nieve.", "d1", source="/d/1", title="\ud800")
    with pytest.raises(UnicodeEncodeError):
        add(store, bad)
    assert store.count()[0] == DOCUMENTS
    assert results(store) == expected
    store.close()


@pytest.mark.parametrize("limit", [33_700_000, 1_500_000])
def test_a_full_disk(tmp_path: Path, limit: int) -> None:
    """With the first limit the index has room and the database runs out of it; with the second neither has."""
    folder = tmp_path / "library"
    report = json.loads(run("fill_the_disk", folder, limit))
    assert report["error"].endswith(".")
    assert str(folder) in report["error"]
    assert "disk" in report["error"]
    assert "again" in report["error"]
    store = indexed_store(folder)
    assert store.count()[0] == report["stored"]
    assert [stored.chunks for stored in store.documents()] == [
        len(store.chunks(stored.id)) for stored in store.documents()
    ]
    add(store, some_document("d", 1))
    assert store.search_terms(["d1"], 5, None)
    store.close()


def test_the_process_of_the_index_cannot_write_its_lock(indexed: Path, expected: list[object]) -> None:
    """As on a full disk, where it has no lock yet: whoever writes is told, and the database is searched."""
    lock = indexed / "index.process.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()
    store = indexed_store(indexed)
    with pytest.raises(LibraryError, match=r"can't be written \(.*process\.lock.*The documents are safe.*try again"):
        store.refresh()
    assert results(store) == expected
    lock.rmdir()
    store.refresh()
    assert results(store) == expected
    store.close()


def test_removing_leaves_no_trace(indexed: Path) -> None:
    secret = "xyzzyplugh"
    text = "\n\n".join(f"El {secret} número {number} está en la caja." for number in range(120))
    store = indexed_store(indexed)
    for document_id in ("removed", "replaced"):
        add(store, make_document(text, document_id, source=f"/{document_id}/{secret}", title=secret, key=secret))
    with sqlite3.connect(indexed / "library.db") as database:
        rows = database.execute("SELECT content FROM documents WHERE id IN ('removed', 'replaced')").fetchall()
        vectors = database.execute("SELECT vector FROM chunks WHERE terms LIKE ?", (f"%{secret}%",)).fetchall()
    database.close()
    assert len(rows) == 2
    assert len(vectors) > 10
    traces = {secret.encode(), secret.encode("utf-16-le"), *(row[0][20:120] for row in rows)}
    traces |= {vector[200:] for (vector,) in vectors[::20]}
    assert store.search_terms([secret], 5, None)
    assert store.remove("removed")
    add(store, make_document("Ya no dice nada.", "replaced"))
    store.close()
    files = [path for path in indexed.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        data = path.read_bytes().rstrip(b"\0")
        assert not [trace for trace in traces if trace in data], path
