"""What was removed leaves nothing in the files of a library in a folder: no text, term, name or vector."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers import HashEmbedder, make_document

from answerable.answering.decide import Answering
from answerable.library import Library
from answerable.maintenance import erasing
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.audit import audit
from answerable.stores.embedded.file import write_erased
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.embedded.writing import WritableDatabase
from answerable.stores.hashed import field_numbers

SECRET = "xyzzyplugh"
DIMENSION = 64
BLOCK = 4096


class ChanceEmbedder(HashEmbedder):
    """Gives each text a vector of its own, that no other has a part of."""

    def _vector(self, text: str) -> np.ndarray:  # type: ignore[type-arg]
        row = np.random.default_rng(abs(hash(text))).standard_normal(DIMENSION).astype(np.float32)
        return row / np.float32(np.linalg.norm(row))


def words(number: int) -> str:
    """A text of words of its own, so that pages of terms and names are split again and again."""
    chance = np.random.default_rng(number)
    return " ".join("".join(chance.choice(list("bcdfgklmnprst"), 7)) for _ in range(40))


def secret_text(number: int) -> str:
    """A document of some passages with secret terms, as long as they are different."""
    return "\n\n".join(f"{SECRET}{number}x{part} {words(1000 * number + part)}" for part in range(1 + number % 5))


def fill(library: Library, count: int = 60) -> list[str]:
    """Add documents, every third of which is secret; return the ids of those."""
    documents = []
    for number in range(count):
        is_secret = number % 3 == 0
        name = f"/folder/{words(number)[:20]}/{SECRET if is_secret else 'open'}-{number}.md"
        text = secret_text(number) if is_secret else words(number) + "\n\n" + words(-number % 977)
        documents.append(make_document(text, source=name, title=name))
    library.add_documents(documents)
    return [document.id for document in documents[::3]]


def traces(library: Library, ids: list[str]) -> set[bytes]:
    """The bytes by which to know what is removed: texts, names, vectors (32 and 8 bit), hashes of fields."""
    found = {SECRET.encode(), SECRET.encode("utf-16-le")}
    with sqlite3.connect(library._store._folder / "library.db") as database:  # type: ignore[attr-defined]
        for document in ids:
            rows = "FROM chunks WHERE document = (SELECT number FROM documents WHERE id = ?)"
            found |= {row[0] for row in database.execute(f"SELECT vector {rows}", (document,))}
            found |= {row[0][8:] for row in database.execute(f"SELECT sentence_vectors {rows}", (document,))}
            found |= {
                row[0][12:80] for row in database.execute("SELECT content FROM documents WHERE id = ?", (document,))
            }
            source = library.document(document).source
            (hashed,) = field_numbers({"source": [source]}).values()
            found.add(int(hashed[0]).to_bytes(8, "little", signed=True))
    database.close()
    return {trace for trace in found if len(trace) >= 8}


def left(folder: Path, wanted: set[bytes]) -> dict[str, int]:
    """The number of traces in each file that has some. Of sparse files, only blocks that aren't empty are read."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_blocks:
            data = path.read_bytes()
            blocks = np.frombuffer(data + bytes(-len(data) % BLOCK), np.uint8).reshape(-1, BLOCK)
            data = blocks[blocks.any(axis=1)].tobytes()
            if count := sum(trace in data for trace in wanted):
                found[path.relative_to(folder).as_posix()] = count
    return found


def library_in(folder: Path, indexed: bool, quantized_from: int = 20_000) -> Library:
    store = EmbeddedStore(folder, indexed_from=0 if indexed else 1000, quantized_from=quantized_from)
    embedder = ChanceEmbedder(DIMENSION)
    return Library(store, embedder, SplitterByType(300, 0), FileReader(), Answering())


@pytest.fixture(params=["small", "quantised", pytest.param("indexed", marks=pytest.mark.long)])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    made = library_in(tmp_path / "library", request.param != "small", 20 if request.param == "quantised" else 20_000)
    yield made
    made.close()


def test_nothing_of_a_removed_document_is_in_any_file(library: Library, tmp_path: Path) -> None:
    folder, ids = tmp_path / "library", fill(library)
    library.search(SECRET)
    wanted = traces(library, ids)
    assert len(wanted) > 100
    assert sum(left(folder, wanted).values()) > 30
    segments = set(folder.glob("index/shard/segments/*"))
    # One after the other, as pages are merged then; these removals aren't erased at once, but the last one erases all.
    for document in ids[:-1]:
        WritableDatabase.remove(library._store, document)  # type: ignore[arg-type]
    assert left(folder, wanted)
    library.remove(ids[-1])
    # While it is open, as a server holds it, and once it is closed.
    assert left(folder, wanted) == {}
    assert library.unerased() == 0
    assert not segments & set(folder.glob("index/shard/segments/*"))
    library.close()
    assert left(folder, wanted) == {}
    with_rest = library_in(folder, bool(segments))
    assert audit(with_rest._store) == []
    assert len(with_rest.search("open", k=50)) == 50
    with_rest.close()


def test_what_replaced_versions_leave_is_counted_and_erased_by_repair(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    library = library_in(folder, indexed=False)
    ids = fill(library)
    wanted = traces(library, ids)
    sources = [library.document(document).source for document in ids[:3]]
    wanted -= {source.encode() for source in sources}
    removed = sum(len(library.chunks(document)) for document in ids[:3])
    library.add_documents([make_document(words(9000 + number), source=source) for number, source in enumerate(sources)])
    report = library.verify()
    assert report.unerased == removed
    assert any(f"{removed} removed passages" in note for note in report.notes)
    library._store.remove(*ids[3:])
    repaired = library.verify(repair=True)
    assert (repaired.unerased, library.unerased(), audit(library._store)) == (0, 0, [])
    left_names = {SECRET.encode(), SECRET.encode("utf-16-le")} | {trace for trace in wanted if len(trace) == 8}
    # The sources that were kept have secret names.
    assert left(folder, wanted - left_names) == {}
    library.close()


def test_a_sync_erases_once_a_day_or_when_much_was_removed(tmp_path: Path) -> None:
    folder, notes = tmp_path / "library", tmp_path / "notes"
    notes.mkdir()
    for number in range(60):
        (notes / f"{number}.md").write_text(words(number)[:200])
    library = library_in(folder, indexed=False)
    library.add(notes)
    (notes / "0.md").write_text(f"{SECRET} {words(100)[:200]}")
    library.sync()
    assert library.unerased() == 1
    (notes / "0.md").unlink()
    library.sync()
    assert library.unerased() == 2
    assert SECRET.encode() not in (folder / "library.db-wal").read_bytes()
    with library._store.transaction() as connection:  # type: ignore[attr-defined]
        write_erased(connection, 0, time.time() - erasing.PATIENCE - 1)
    library.sync()
    assert library.unerased() == 0
    assert left(folder, {SECRET.encode()}) == {}
    for number in range(1, 9):
        (notes / f"{number}.md").write_text(words(200 + number)[:200])
    library.sync()
    assert library.unerased() == 0
    library.close()


@pytest.mark.long
def test_an_index_that_another_process_has_open_is_erased_before_its_next_search(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    library = library_in(folder, indexed=True)
    ids = fill(library, 30)
    library.search(SECRET)
    wanted = traces(library, ids)
    other = library_in(folder, indexed=True)
    other.remove(ids[0])
    assert other.unerased() > 0
    (note,) = [note for note in other.verify(repair=True).notes if "removed passages" in note]
    assert "once no other process uses the library" in note
    other._store.remove(*ids[1:-1])
    other.remove(ids[-1])
    other.close()
    assert left(folder, wanted)
    library.search("open")
    assert library.unerased() == 0
    assert left(folder, wanted) == {}
    library.close()


@pytest.mark.long
def test_an_index_of_an_earlier_version_may_have_traces_of_all_that_was_removed(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    library = library_in(folder, indexed=True)
    ids = fill(library, 12)
    library._store.remove(*ids)
    library.close()
    state = folder / "index" / "state.json"
    notes = json.loads(state.read_text())
    del notes["erased"]
    state.write_text(json.dumps(notes))
    with sqlite3.connect(folder / "library.db") as database:
        database.execute("DELETE FROM meta WHERE key = 'erased'")
    database.close()
    library = library_in(folder, indexed=True)
    assert library.unerased() > 0
    library.add_documents([make_document(words(1))])
    assert library.unerased() == 0
    assert audit(library._store) == []
    library.close()


def test_a_removal_that_cannot_be_erased_is_still_a_removal(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    library = library_in(folder, indexed=False)
    ids = fill(library, 12)
    reader = sqlite3.connect(folder / "library.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM documents").fetchone()
    library._store._connection.execute("PRAGMA busy_timeout = 100")  # type: ignore[attr-defined]
    library.remove(ids[0])
    assert library.unerased() > 0
    assert ids[0] not in {document.id for document in library.documents()}
    reader.execute("COMMIT")
    reader.close()
    assert library.verify(repair=True).unerased == 0
    library.close()
