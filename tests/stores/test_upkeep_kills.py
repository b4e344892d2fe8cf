"""Whole libraries copied, exported, imported and given another embedder, by processes that are killed at any moment.

Exports say it all: what has the same bytes is the same library. Samples run in `make test`, full size in
`make test-long`.
"""

from __future__ import annotations

import itertools
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import upkeep_processes
from crash_processes import text_of
from helpers import HashEmbedder, add, make_document
from postgres_server import new_library
from qdrant_libraries import killed_at, points
from qdrant_server import StandIn
from upkeep_processes import ACTIONS, NEW, OLD

from answerable.datatypes import Document
from answerable.indexing.ingest import Ingestion
from answerable.maintenance.exporting import export_store
from answerable.maintenance.reindex import reindex
from answerable.protocols import Store
from answerable.splitting.by_type import SplitterByType
from answerable.stores.audit import audit
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore
from answerable.stores.qdrant.store import QdrantStore
from answerable.text.terms import terms
from answerable.wiring.build import build_store

KILLS = pytest.mark.parametrize("kills", [1, pytest.param(50, marks=pytest.mark.long)])
DOCUMENTS = 40

Check = Callable[[], None]


def documents_of(count: int) -> list[Document]:
    named = ((f"número{number}", number) for number in range(count))
    # Added at one time, so that exports are the same.
    made = (make_document(text_of(*one), one[0], source=one[0], language="es") for one in named)
    return [replace(document, added=1.0) for document in made]


def fill(store: Store, embedder: HashEmbedder, documents: int = DOCUMENTS) -> None:
    add(store, *documents_of(documents), embedder=embedder)


def fill_with_words(store: Store, documents: int = DOCUMENTS) -> None:
    """As `fill`, but all vectors are still to be made."""
    ingestion = Ingestion(store, OLD, SplitterByType(200, 20), documents)
    with ingestion.running():
        for document in documents_of(documents):
            ingestion.take(document)


def exported(store: Store, folder: Path) -> bytes:
    """The bytes of an export."""
    path = folder / "check.zip"
    export_store(store, path, overwrite=True)
    return path.read_bytes()


def exported_from(address: str, folder: Path) -> bytes:
    with closing(build_store(address)) as store:
        return exported(store, folder)


def from_scratch(embedder: HashEmbedder, folder: Path, documents: int = DOCUMENTS) -> bytes:
    """The export of a library that was made with an embedder."""
    store = MemoryStore()
    fill(store, embedder, documents)
    return exported(store, folder)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library in a folder, which is only ever copied."""
    folder = tmp_path_factory.mktemp("upkeep") / "source"
    with closing(EmbeddedStore(folder, indexed_from=0)) as store:
        fill(store, OLD)
    return folder


def started(action: str, *arguments: object) -> subprocess.Popen[str]:
    """A process that is about to do it."""
    command = [sys.executable, upkeep_processes.__file__, action, *map(str, arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n"
    return child


def seconds_of(action: str, *arguments: object) -> float:
    """How long it takes when nothing happens to it."""
    with started(action, *arguments) as child:
        assert child.stdout is not None
        return float(child.stdout.read())


def moments(kills: int, seconds: float, is_enough: Callable[[], bool]) -> Iterator[float]:
    """When to kill what takes so long: by chance in each of so many slices, then ever sooner until it is enough."""
    for attempt in itertools.count():
        if attempt >= kills:
            if is_enough():
                return
            seconds /= 2
        yield seconds * (attempt % kills + random.random()) / kills


def kill(moment: float, action: str, *arguments: object) -> bool:
    """Whether a process is killed before it is done, so many seconds after it begins."""
    with started(action, *arguments) as child:
        time.sleep(moment)
        child.kill()
        assert child.stdout is not None
        said = child.stdout.read()
    assert child.returncode in (-signal.SIGKILL, 0)
    return not said


def is_part_of(address: str, whole: Store) -> bool:
    """Whether each document that is there is whole and as it should be."""
    with closing(build_store(address)) as store:
        listed = list(store.documents())
        for stored in listed:
            assert store.document(stored.id) == whole.document(stored.id)
            assert store.chunks(stored.id) == whole.chunks(stored.id)
            assert stored.chunks == len(store.chunks(stored.id)) > 0
        return len(listed) < whole.count()[0]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("action", "kills"),
    [("copy", 1), *(pytest.param(action, 50, marks=pytest.mark.long) for action in ("copy", "restore"))],
)
def test_killed_while_a_library_is_filled(source: Path, tmp_path: Path, action: str, kills: int) -> None:
    expected = exported_from(str(source), tmp_path)
    given = source if action == "copy" else tmp_path / "check.zip"
    given = given if given == source else given.rename(tmp_path / "given.zip")
    seconds = seconds_of(action, given, tmp_path / "undisturbed")
    with closing(EmbeddedStore(source, indexed_from=0)) as whole:
        parts: list[bool] = []
        for moment in moments(kills, seconds, lambda: any(parts)):
            target = tmp_path / "target"
            while not kill(moment, action, given, target):
                # The machine has more time for it than when it was measured.
                moment /= 2
                shutil.rmtree(target)
            parts.append(is_part_of(str(target), whole))
            ACTIONS[action](str(given), str(target))  # type: ignore[operator]
            assert exported_from(str(target), tmp_path) == expected
            shutil.rmtree(target)


@pytest.mark.timeout(1800)
@KILLS
def test_killed_while_a_library_is_exported(source: Path, tmp_path: Path, kills: int) -> None:
    expected = exported_from(str(source), tmp_path)
    file = tmp_path / "file.zip"
    seconds = seconds_of("export", source, file)
    assert file.read_bytes() == expected
    for moment in moments(kills, seconds, lambda: True):
        file.unlink()
        while not kill(moment, "export", source, file):
            moment /= 2
            file.unlink()
        assert not file.exists() or file.read_bytes() == expected
        file.unlink(missing_ok=True)
        ACTIONS["export"](str(source), str(file))  # type: ignore[operator]
        assert file.read_bytes() == expected


@pytest.mark.timeout(1800)
@KILLS
@pytest.mark.parametrize("kind", ["embedded", "postgres"])
def test_killed_while_the_embedder_is_changed(source: Path, tmp_path: Path, kind: str, kills: int) -> None:
    """All vectors are of the old one or all of the new one, and the rest is done without what was done."""
    before, after = from_scratch(OLD, tmp_path), from_scratch(NEW, tmp_path)

    numbers = itertools.count()

    def library() -> str:
        address = new_library() if kind == "postgres" else str(tmp_path / str(next(numbers)))
        ACTIONS["copy"](str(source), address)  # type: ignore[operator]
        return address

    undisturbed = library()
    seconds = seconds_of("change", undisturbed)
    assert exported_from(undisturbed, tmp_path) == after
    unfinished: list[bool] = []
    for moment in moments(kills, seconds, lambda: any(unfinished)):
        while not kill(moment, "change", address := library()):
            moment /= 2
        unfinished.append(finish(build_store(address), before, after, tmp_path))
        assert exported_from(address, tmp_path) == after


def finish(store: Store, before: bytes, after: bytes, folder: Path) -> bool:
    """Checks what a killed reindex has left, and does the rest; whether there was any."""
    with closing(store):
        is_new = store.fingerprint == NEW.fingerprint
        assert exported(store, folder) == (after if is_new else before)
        asked = (NEW if is_new else OLD).embed_query("¿Qué midió la estación número7?")
        assert len(store.search_vectors(asked, 1000, None)) == store.count()[1]
        again = HashEmbedder(32)
        left = store.count()[1] if is_new else len(store.next_vectors().missing())
        reindex(store, again)
        assert again.embedded == (0 if is_new else left)
        assert store.next_vectors().fingerprint is None
        assert exported(store, folder) == after
    return not is_new


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("step", "is_done"), [(31, False), *(pytest.param(1, is_done, marks=pytest.mark.long) for is_done in (False, True))]
)
def test_killed_at_any_request_while_the_embedder_is_changed(tmp_path: Path, step: int, is_done: bool) -> None:
    """On a Qdrant server; what was left behind is gone in the end."""
    before, after = from_scratch(OLD, tmp_path, 3), from_scratch(NEW, tmp_path, 3)
    seen: list[bool] = []
    with closing(StandIn()) as server:
        for request in range(1, 200, step):
            address = server.address()
            with closing(QdrantStore(address)) as store:
                fill(store, OLD, 3)
            if not killed_at(server, request, is_done, lambda address=address: ACTIONS["change"](address)):  # type: ignore[misc]
                break
            seen.append(not finish(QdrantStore(address), before, after, tmp_path))
            name = address.rpartition("/")[2]
            assert len([one for one in points(server) if one.startswith(f"{name}.1.chunks")]) == 1
    assert False in seen
    assert seen == sorted(seen)


@pytest.mark.timeout(1800)
@KILLS
@pytest.mark.parametrize("kind", ["embedded", "postgres"])
def test_killed_while_vectors_are_made(tmp_path: Path, kind: str, kills: int) -> None:
    """All words are there, and only the vectors that aren't written are made again."""
    after = from_scratch(OLD, tmp_path)
    numbers = itertools.count()

    def library() -> str:
        address = new_library() if kind == "postgres" else str(tmp_path / str(next(numbers)))
        with closing(build_store(address)) as store:
            fill_with_words(store)
            assert len(store.waiting()) == store.count()[1]
        return address

    seconds = seconds_of("embed", undisturbed := library())
    assert exported_from(undisturbed, tmp_path) == after
    unfinished: list[bool] = []
    for moment in moments(kills, seconds, lambda: any(unfinished)):
        while not kill(moment, "embed", address := library()):
            moment /= 2
        unfinished.append(embed_the_rest(build_store(address), after, tmp_path))


def embed_the_rest(store: Store, after: bytes, folder: Path) -> bool:
    """Checks what is left when the making of vectors was killed, and does the rest; whether there was any."""
    with closing(store):
        chunks, waiting = store.count()[1], store.waiting()
        asked = OLD.embed_query("¿Qué midió la estación número7?")
        found = store.search_vectors(asked, 1000, None)
        assert len(found) == chunks
        assert audit(store) == []
        assert not {number for number, cosine in found if cosine}.intersection(waiting)
        assert store.search_terms(terms("La estación número7", "es"), 1000, None)
        again = HashEmbedder(64)
        Ingestion(store, again, SplitterByType(200, 20), 0).fill()
        assert again.embedded == len(waiting)
        assert store.waiting() == []
        assert exported(store, folder) == after
    return bool(waiting)


def embed_in(address: str) -> None:
    # The next writer needn't wait a minute for the lease of this one.
    with closing(QdrantStore(address, lease=0.5)) as store:
        Ingestion(store, OLD, SplitterByType(200, 20), 0).fill()


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("step", "is_done"), [(7, False), *(pytest.param(1, is_done, marks=pytest.mark.long) for is_done in (False, True))]
)
def test_killed_at_any_request_while_vectors_are_made(tmp_path: Path, step: int, is_done: bool) -> None:
    """On a Qdrant server."""
    after = from_scratch(OLD, tmp_path, 3)
    seen: list[bool] = []
    with closing(StandIn()) as server:
        for request in range(1, 200, step):
            address = server.address()
            with closing(QdrantStore(address)) as store:
                fill_with_words(store, 3)
            if not killed_at(server, request, is_done, lambda address=address: embed_in(address)):  # type: ignore[misc]
                break
            seen.append(embed_the_rest(QdrantStore(address), after, tmp_path))
    assert True in seen
