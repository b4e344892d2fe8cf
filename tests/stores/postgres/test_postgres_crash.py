"""A library on PostgreSQL after kills, of those who add and of the server, and with many processes at once.

Samples run in `make test`, full size in `make test-long`. What other processes do is in here too:
`python test_postgres_crash.py ACTION ADDRESS …`.
"""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "servers"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
from crash_processes import SHARED, TOPICS, text_of, whole_documents, write_documents
from helpers import HashEmbedder
from postgres_server import Server, in_database, new_library, private_server

from answerable.answering.decide import Answering
from answerable.datatypes import Document
from answerable.library import Library
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.postgres.store import PostgresStore

LONG = pytest.mark.long
# Each is added by itself.
DOCUMENTS = 60
QUESTIONS = [f"¿Qué midió la estación número{number}? ¿{topic}?" for number, topic in enumerate(TOPICS)]
State = tuple[dict[str, Any], list[Any]]


def open_library(address: str) -> Library:
    """A library with small chunks and the quick embedder; everything else is what users get."""
    splitter, answerer = SplitterByType(200, 20), Answering()
    return Library(PostgresStore(address), HashEmbedder(), splitter, FileReader(), answerer)


def add(address: str, folder: str) -> None:
    """Adds file after file, and names each as soon as it is acknowledged."""
    with open_library(address) as library:
        for path in sorted(Path(folder).iterdir()):
            library.add(path)
            print(path, flush=True)


def add_for(address: str, name: str, seconds: str) -> None:
    """Adds documents of its own and some that all add; prints the ids of its own."""
    own: list[str] = []
    with open_library(address) as library:
        end = time.monotonic() + float(seconds)
        for number in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()):
            mine = f"{name}{number}"
            library.add_documents([_document(mine, number), _document(f"común{number % SHARED}", number % SHARED)])
            own.append(mine)
            found = library.search("¿Qué midió la estación?", k=50, where={"document_id": mine})
            assert len(found) == len(library.chunks(mine)), f"{mine} isn't found whole right after it was added"
    print(json.dumps(own), flush=True)


def ask_for(address: str, seconds: str) -> None:
    """Asks of whatever is there; prints how many questions were answered."""
    answered = 0
    with open_library(address) as library:
        end = time.monotonic() + float(seconds)
        while time.monotonic() < end:
            known = library.documents()
            if not known:
                continue
            wanted = random.choice(known)
            answer = library.ask(f"¿Qué midió la estación {wanted.id}?")
            answered += bool(answer.citations)
            for citation in answer.citations:
                # A document that all add may be replaced meanwhile, by the same one.
                content = library.document(citation.document_id).content
                assert content[citation.start : citation.end] == citation.quote
            where = {"document_id": wanted.id}
            assert len(library.search(wanted.id, k=50, where=where)) == wanted.chunks, f"{wanted.id} isn't whole"
    print(json.dumps(answered), flush=True)


def _document(name: str, number: int) -> Document:
    return Document.from_text(text_of(name, number), name, source=f"/{name}", language="es")


def start(action: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, action, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said_of(child: subprocess.Popen[str], lines: int) -> str:
    """So many of the lines that it prints, as soon as it has printed them."""
    assert child.stdout is not None
    return "".join(itertools.islice(child.stdout, lines))


def state_of(address: str) -> State:
    """Every document with its chunks, and what questions give, after checking that it all fits together."""
    with open_library(address) as library:
        documents = whole_documents(library)
        chunk_ids = {chunk.id for _, chunks in documents.values() for chunk in chunks}
        searches: list[Any] = []
        for question in QUESTIONS:
            results = library.search(question, k=8)
            assert {result.chunk.id for result in results} <= chunk_ids
            searches.append([(result.chunk.id, round(result.score, 4)) for result in results])
    store = PostgresStore(address)
    indexed = [chunk for chunk, _ in store.fetch(range(1, 20_000)).values()]
    assert store.count() == (len(documents), len(indexed))
    if indexed:
        everywhere = store.search_vectors(indexed[0].vector, len(indexed) + 10, None)
        assert len(everywhere) == len({number for number, _ in everywhere}) == len(indexed)
        terms = ["estacion", "cuadern"]
        held = {term: sum(term in chunk.terms for chunk in indexed) for term in terms}
        assert store.document_frequency(terms) == held
        for term, count in held.items():
            assert len(store.search_terms([term], len(indexed) + 10, None)) == count
    store.close()
    return documents, searches


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small files."""
    folder = tmp_path_factory.mktemp("crash") / "documents"
    write_documents(folder, DOCUMENTS)
    return folder


@pytest.fixture(scope="module")
def undisturbed(documents: Path) -> tuple[State, float]:
    """The library that nothing happened to, and how many seconds adding takes."""
    address = new_library()
    child = start("add", address, documents)
    assert child.stdout is not None
    child.stdout.readline()
    started = time.monotonic()
    _, errors = child.communicate(timeout=240)
    assert child.returncode == 0, errors[-2000:]
    seconds = time.monotonic() - started
    state = state_of(address)
    assert len(state[0]) == DOCUMENTS
    return state, seconds


def assert_nothing_lost(address: str, acknowledged: list[str], documents: Path, expected: State) -> None:
    """What was acknowledged is there, nothing is there by halves, and adding all makes it the undisturbed library."""
    found, _ = state_of(address)
    assert {name: expected[0][name] for name in found} == found
    sources = {document.source for document, _ in found.values()}
    assert {Path(path).name for path in acknowledged} <= {Path(source).name for source in sources}
    with open_library(address) as library:
        report = library.add(documents)
    assert (report.added, report.unchanged, report.changed) == (DOCUMENTS - len(found), len(found), 0)
    assert state_of(address) == expected


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [1, pytest.param(30, marks=LONG)])
def test_the_one_who_adds_is_killed(documents: Path, undisturbed: tuple[State, float], kills: int) -> None:
    expected, seconds = undisturbed
    chance = random.Random()
    left = []
    for attempt in range(kills):
        address = new_library()
        child = start("add", address, documents)
        assert child.stdout is not None
        # Killed by chance within its slice of the files, so few kills reach all stages; one alone, before the end.
        moment = (attempt + chance.random() * (0.5 if kills == 1 else 1)) / kills
        first = said_of(child, 1 + int(DOCUMENTS * moment))
        time.sleep(seconds / DOCUMENTS * chance.random())
        child.kill()
        printed = child.stdout.read()
        child.communicate()
        acknowledged = [line for line in (first + printed).splitlines(keepends=True) if line.endswith("\n")]
        left.append(len(acknowledged))
        assert_nothing_lost(address, [line.strip() for line in acknowledged], documents, expected)
    assert min(left) < DOCUMENTS, "no kill came before the end of adding"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that may be killed."""
    with private_server() as made:
        yield made


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=LONG)])
def test_the_server_is_killed(server: Server, documents: Path, undisturbed: tuple[State, float], kills: int) -> None:
    """It is started again a moment later: the one who adds waits for it and goes on."""
    expected, seconds = undisturbed
    chance = random.Random()
    for attempt in range(kills):
        address = in_database(server.address, f"killed {kills} {attempt}")
        child = start("add", address, documents)
        assert child.stdout is not None
        first = said_of(child, 1 + int(0.8 * DOCUMENTS * chance.random()))
        time.sleep(seconds / DOCUMENTS * chance.random())
        server.kill()
        restart = threading.Timer(0.5, server.start)
        restart.start()
        # What has been read ahead is lost to `communicate`.
        printed = child.stdout.read()
        _, errors = child.communicate()
        restart.join()
        assert child.returncode == 0, errors[-2000:]
        acknowledged = (first + printed).splitlines()
        assert len(acknowledged) == DOCUMENTS
        assert_nothing_lost(address, acknowledged, documents, expected)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seconds", [3, pytest.param(60, marks=LONG)])
def test_four_add_and_four_ask_at_once(seconds: int) -> None:
    address = new_library()
    adding = [start("add_for", address, name, seconds) for name in ("norte", "sur", "este", "oeste")]
    asking = [start("ask_for", address, seconds) for _ in range(4)]
    # All pipes are read at once by the children's own small output; none can fill up.
    ended = [child.communicate(timeout=seconds + 240) for child in (*adding, *asking)]
    assert [child.returncode for child in (*adding, *asking)] == [0] * 8, [errors[-2000:] for _, errors in ended]
    reports = [json.loads(printed.splitlines()[-1]) for printed, _ in ended]
    assert all(reports)
    own = [name for names in reports[:4] for name in names]
    found, _ = state_of(address)
    assert set(own) <= found.keys() <= {*own, *(f"común{number}" for number in range(SHARED))}
    for name, (document, _) in found.items():
        number = int("".join(filter(str.isdigit, name)))
        assert document.content == text_of(name, number)


ACTIONS = {action.__name__: action for action in (add, add_for, ask_for)}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]](*sys.argv[2:])
