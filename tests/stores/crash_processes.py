"""What the crash tests let other processes do to a library: `python crash_processes.py ACTION LIBRARY …`."""

from __future__ import annotations

import itertools
import json
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers import HashEmbedder

from answerable.answering.decide import Answering
from answerable.datatypes import Document, chunk_id
from answerable.errors import AnswerableError
from answerable.library import Library
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded.store import EmbeddedStore
from answerable.text.languages import document_language

DOCUMENTS = 200
TOPICS = ["lluvia", "viento", "nieve", "granizo", "niebla"]
SHARED = 5


def write_documents(folder: Path, count: int = DOCUMENTS) -> None:
    """Small files of one to five chunks each; every chunk names its file."""
    folder.mkdir()
    for number in range(count):
        (folder / f"informe-{number:03}.txt").write_text(text_of(f"número{number}", number), "utf-8")


def text_of(name: str, number: int) -> str:
    """Paragraphs that all hold the name."""
    topic = TOPICS[number % len(TOPICS)]
    return "\n\n".join(
        f"La estación {name} midió {topic} el día {day} y guardó {number * day} valores en el cuaderno."
        for day in range(1, 3 + number % 9)
    )


def open_library(folder: Path) -> Library:
    """A library with small chunks and the quick embedder; everything else is what users get."""
    splitter, answerer = SplitterByType(200, 20), Answering()
    return Library(EmbeddedStore(folder, indexed_from=0), HashEmbedder(), splitter, FileReader(), answerer)


def add(folder: Path, documents: str) -> None:
    """Says when it begins and how long it took to add all files."""
    print("begins", flush=True)
    started = time.monotonic()
    with open_library(folder) as library:
        library.add(documents)
    print(time.monotonic() - started, flush=True)


def add_on_a_full_disk(folder: Path, documents: str, limit: str) -> None:
    """Adds while no file may grow beyond the limit; prints what the error says."""
    # The detector unpacks its model into a temporary file, which is not what this is about.
    document_language("Una frase que corre, palabra tras palabra, hasta su final.")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    add_and_report(folder, documents)


def add_and_report(folder: Path, documents: str) -> None:
    """Adds; prints what the error says, None without one."""
    message = None
    try:
        with open_library(folder) as library:
            library.add(documents)
    except AnswerableError as error:
        message = str(error)
    print(json.dumps(message), flush=True)


def add_and_ask(folder: Path, name: str, seconds: str) -> None:
    """Adds documents of its own and some that all processes add, and asks for them; prints the ids of its own."""
    own: list[str] = []
    with open_library(folder) as library:
        end = time.monotonic() + float(seconds)
        for number in itertools.count():
            if time.monotonic() > end:
                break
            mine = f"{name}{number}"
            shared = f"común{number % SHARED}"
            library.add_documents([_document(mine, number), _document(shared, number % SHARED)])
            own.append(mine)
            found = library.search("¿Qué midió la estación?", k=50, where={"document_id": mine})
            assert len(found) == len(library.chunks(mine)), f"{mine} isn't found whole right after it was added"
            earlier = own[number // 2]
            assert library.search(earlier, where={"document_id": earlier}), f"{earlier} isn't found any more"
            answer = library.ask(f"¿Qué midió la estación {earlier}?")
            assert answer.citations, f"no answer on {earlier}"
            for citation in answer.citations:
                content = library.document(citation.document_id).content
                assert content[citation.start : citation.end] == citation.quote
    print(json.dumps(own), flush=True)


def _document(name: str, number: int) -> Document:
    return Document.from_text(text_of(name, number), name, source=f"/{name}", language="es")


def whole_documents(library: Library) -> dict[str, Any]:
    """Every document with its chunks, after checking that each is whole."""
    found: dict[str, Any] = {}
    listed = library.documents()
    assert len({stored.id for stored in listed}) == len(listed)
    assert len({stored.source for stored in listed}) == len(listed)
    for stored in listed:
        document = library.document(stored.id)
        chunks = library.chunks(stored.id)
        assert len(chunks) == stored.chunks > 0
        covered = 0
        for sequence, chunk in enumerate(chunks):
            assert chunk.sequence == sequence
            assert document.content[chunk.start : chunk.end] == chunk.content
            assert chunk.id == chunk_id(document.id, chunk.start, chunk.content)
            assert not document.content[covered : chunk.start].strip()
            covered = chunk.end
        assert not document.content[covered:].strip()
        found[stored.id] = document, chunks
    return found


ACTIONS = {action.__name__: action for action in (add, add_on_a_full_disk, add_and_report, add_and_ask)}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
