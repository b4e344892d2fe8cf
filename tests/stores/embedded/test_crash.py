"""A library after kills, full disks, failing disks and many processes: whole documents, and none lost.

Samples run in `make test`, full size in `make test-long`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import crash_processes
import numpy as np
import pytest
from crash_processes import DOCUMENTS, SHARED, TOPICS, open_library, text_of, whole_documents

from answerable.datatypes import Answer
from answerable.stores.embedded.store import EmbeddedStore

LONG = pytest.mark.long
QUESTIONS = [f"¿Qué midió la estación número{number}? ¿{topic}?" for number, topic in enumerate(TOPICS)]


def command(action: str, *arguments: object) -> list[str]:
    return [sys.executable, crash_processes.__file__, action, *map(str, arguments)]


def run(action: str, *arguments: object, **environment: str) -> Any:
    """What the process printed last."""
    done = subprocess.run(
        command(action, *arguments), capture_output=True, text=True, timeout=240, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@dataclass(frozen=True)
class State:
    """All that can be seen of a library, without the numbers that the store gives to chunks."""

    documents: dict[str, Any]
    vectors: dict[str, Any]
    sentence_vectors: dict[str, Any]
    searches: list[Any]


def state_of(folder: Path) -> State:
    """Raises AssertionError unless every document is whole and every result a chunk of one of them."""
    with open_library(folder) as library:
        documents = whole_documents(library)
        chunk_ids = {chunk.id for _, chunks in documents.values() for chunk in chunks}
        searches: list[Any] = []
        for question in QUESTIONS:
            results = library.search(question, k=8)
            assert {result.chunk.id for result in results} <= chunk_ids
            searches.append([(result.chunk.id, round(result.score, 4)) for result in results])
            searches.append(_said(library.ask(question)))
    store = EmbeddedStore(folder, indexed_from=0)
    indexed = [chunk for chunk, _ in store.fetch(range(1, 10 * DOCUMENTS * 5)).values()]
    total = len(indexed)
    assert store.count() == (len(documents), total)
    # The index holds each of them once, and so do the counts of terms.
    if indexed:
        everywhere = store.search_vectors(indexed[0].vector, total + 10, None)
        assert len(everywhere) == len({number for number, _ in everywhere}) == total
        assert store.document_frequency(["estacion", "estación"]) == _frequency(indexed, ["estacion", "estación"])
    store.close()
    assert {chunk.chunk.id for chunk in indexed} == chunk_ids
    return State(
        documents,
        {chunk.chunk.id: chunk.vector for chunk in indexed},
        {chunk.chunk.id: chunk.sentence_vectors for chunk in indexed},
        searches,
    )


def _said(answer: Answer) -> list[Any]:
    return [answer.text, [(citation.document_id, citation.start, citation.end) for citation in answer.citations]]


def _frequency(indexed: list[Any], terms: list[str]) -> dict[str, int]:
    return {term: sum(term in chunk.terms for chunk in indexed) for term in terms}


def assert_equal(found: State, expected: State) -> None:
    assert found.documents == expected.documents
    assert found.searches == expected.searches
    assert found.vectors.keys() == expected.vectors.keys()
    for chunk_id, vector in expected.vectors.items():
        assert float(vector @ found.vectors[chunk_id]) >= 0.9999
        rows, others = expected.sentence_vectors[chunk_id], found.sentence_vectors[chunk_id]
        assert np.allclose((rows * others).sum(axis=1), (rows * rows).sum(axis=1), atol=1e-4)


def assert_whole(folder: Path, expected: State) -> int:
    """Every document that is there is as in the undisturbed library. Gives how many there are."""
    found = state_of(folder)
    assert {name: expected.documents[name] for name in found.documents} == found.documents
    return len(found.documents)


def finish(folder: Path, documents: Path, expected: State) -> None:
    """Adds what is missing; then the library must be the undisturbed one."""
    there = len(whole(folder))
    with open_library(folder) as library:
        report = library.add(documents)
    assert (report.added, report.unchanged, report.changed) == (DOCUMENTS - there, there, 0)
    assert_equal(state_of(folder), expected)


def whole(folder: Path) -> dict[str, Any]:
    with open_library(folder) as library:
        return whole_documents(library)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small files."""
    folder = tmp_path_factory.mktemp("crash") / "documents"
    crash_processes.write_documents(folder)
    return folder


@pytest.fixture(scope="module")
def undisturbed(documents: Path) -> tuple[State, float]:
    """The library that nothing happened to, and how many seconds adding takes."""
    folder = documents.with_name("undisturbed")
    seconds = run("add", folder, documents)
    state = state_of(folder)
    assert len(state.documents) == DOCUMENTS
    return state, seconds


def killed(folder: Path, documents: Path, moment: float) -> bool:
    """Whether a process that adds is killed after so many seconds, before it says that it is done."""
    with subprocess.Popen(command("add", folder, documents), stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begins\n"
        time.sleep(moment)
        child.kill()
        said = child.stdout.read()
    assert child.returncode in (-signal.SIGKILL, 0)
    return not said


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [1, pytest.param(30, marks=LONG)])
def test_killed_at_random_moments_of_an_add(
    tmp_path: Path, documents: Path, undisturbed: tuple[State, float], kills: int
) -> None:
    expected, seconds = undisturbed
    chance = random.Random()
    left = []
    for attempt in range(kills):
        folder = tmp_path / str(attempt)
        # Killed by chance within its slice of the time, so few kills reach all stages; one alone, before the end.
        moment = (attempt + chance.random() * (0.5 if kills == 1 else 1)) / kills
        while True:
            is_killed = killed(folder, documents, seconds * moment)
            there = assert_whole(folder, expected)
            if is_killed and (kills > 1 or there < DOCUMENTS):
                break
            # The machine has more time for it than when it was measured.
            seconds /= 2
            shutil.rmtree(folder)
        left.append(there)
        finish(folder, documents, expected)
        shutil.rmtree(folder)
    assert min(left) < DOCUMENTS, "no kill came before the end of adding"


@LONG
@pytest.mark.parametrize("limit", [60_000, 200_000, 400_000, 900_000])
def test_the_disk_is_full(tmp_path: Path, documents: Path, undisturbed: tuple[State, float], limit: int) -> None:
    """With small limits the database runs out of space, with the largest the index. A sample is in `test_embedded`."""
    folder = tmp_path / "library"
    message = run("add_on_a_full_disk", folder, documents, limit)
    assert message is not None
    assert str(folder) in message
    assert "disk" in message
    assert "again" in message
    assert assert_whole(folder, undisturbed[0]) <= DOCUMENTS
    finish(folder, documents, undisturbed[0])


@pytest.fixture(scope="module")
def failing_fsync(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library to preload: its fsync and fdatasync fail after so many calls."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "this test compiles a small C file: install gcc (Debian: apt-get install gcc libc6-dev)"
    built = tmp_path_factory.mktemp("fsync") / "failing_fsync.so"
    source = Path(__file__).with_name("failing_fsync.c")
    done = subprocess.run([compiler, "-shared", "-fPIC", "-o", built, source, "-ldl"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return built


@pytest.mark.skipif(sys.platform != "linux", reason="preloading works otherwise elsewhere")
@pytest.mark.parametrize("calls", [5, *(pytest.param(calls, marks=LONG) for calls in (0, 1, 2, 3, 40, 70, 100, 150))])
def test_the_disk_fails_to_sync(
    tmp_path: Path, documents: Path, undisturbed: tuple[State, float], failing_fsync: Path, calls: int
) -> None:
    """The first 19 of some 185 syncs are those of the database, the others of the index (by strace)."""
    folder = tmp_path / "library"
    message = run("add_and_report", folder, documents, LD_PRELOAD=str(failing_fsync), FSYNC_CALLS=str(calls))
    assert message is not None, "no sync failed"
    assert str(folder) in message
    assert "disk" in message
    assert "again" in message
    there = assert_whole(folder, undisturbed[0])
    if calls < 19:
        assert there < DOCUMENTS
    else:
        assert there == DOCUMENTS
        assert "The documents are safe in the database" in message
    finish(folder, documents, undisturbed[0])


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seconds", [1, pytest.param(60, marks=LONG)])
def test_four_processes_add_and_ask_at_once(tmp_path: Path, seconds: int) -> None:
    folder = tmp_path / "library"
    children = [
        subprocess.Popen(
            command("add_and_ask", folder, name, seconds), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for name in ("norte", "sur", "este", "oeste")
    ]
    # All pipes are read at once by the children's own small output; none can fill up.
    ended = [child.communicate(timeout=seconds + 240) for child in children]
    assert [child.returncode for child in children] == [0] * 4, [errors[-2000:] for _, errors in ended]
    own = [name for printed, _ in ended for name in json.loads(printed.splitlines()[-1])]
    assert all(json.loads(printed.splitlines()[-1]) for printed, _ in ended)
    found = state_of(folder).documents
    names = [*own, *(f"común{number}" for number in range(SHARED))]
    assert set(own) <= found.keys() <= set(names)
    for name, (document, _) in found.items():
        number = int("".join(filter(str.isdigit, name)))
        assert document.content == text_of(name, number)
