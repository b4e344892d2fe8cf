"""What the tests let other processes do to a library: `python processes.py ACTION FOLDER …`."""

from __future__ import annotations

import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers import HashEmbedder, add, make_document

from answerable.datatypes import Document
from answerable.errors import LibraryError
from answerable.filters import parse_filter
from answerable.stores.embedded.store import EmbeddedStore

# However small the library is, its index is built.
indexed_store = partial(EmbeddedStore, indexed_from=0)
TOPICS = ["lluvia", "viento", "nieve", "granizo", "niebla"]


def copy_library(folder: Path, copy: Path) -> None:
    """Takes the holes in the index's files for holes: reading all of them takes longer than most tests."""
    subprocess.run(["cp", "-a", str(folder), str(copy)], check=True)


def some_document(prefix: str, number: int, **metadata: Any) -> Document:
    """A document of several chunks that all name it."""
    topic = TOPICS[number % len(TOPICS)]
    sentences = [f"El informe {prefix}{number} habla de {topic} y de la parte {part}." for part in range(12)]
    text = "\n\n".join(sentences)
    source = f"/{prefix}/{number}"
    return make_document(text, f"{prefix}{number}", source=source, language="es", number=number, **metadata)


def results(store: EmbeddedStore) -> list[Any]:
    """What a few searches of each kind give, by chunk rather than by number."""
    vector = HashEmbedder().embed_query("el informe habla de nieve")
    found = []
    for where in (None, parse_filter({"number": {"lt": 4}}), parse_filter({"not": {"source": "/d/2"}})):
        for scored in (store.search_vectors(vector, 15, where), store.search_terms(["niev", "part"], 15, where)):
            chunks = store.fetch([number for number, _ in scored])
            found.append([(chunks[number][0].chunk.id, round(score, 3)) for number, score in scored])
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def add_endlessly(folder: Path, prefix: str) -> None:
    """Adds documents until it is killed, and names each as soon as it is acknowledged."""
    store = indexed_store(folder)
    for number in itertools.count():
        add(store, some_document(prefix, number))
        print(number, flush=True)


def write(folder: Path, prefix: str, count: str) -> None:
    """Adds so many documents."""
    store = indexed_store(folder)
    for number in range(int(count)):
        add(store, some_document(prefix, number))
    store.close()


def hold(folder: Path) -> None:
    """Searches, and so holds the index, until the standard input ends."""
    store = indexed_store(folder)
    print(json.dumps(results(store)), flush=True)
    sys.stdin.read()
    store.close()


def use_as_nobody(folder: Path) -> None:
    """Searches and tries to write as a user who may only read."""
    with tempfile.TemporaryDirectory() as scratch:
        # Everything is imported before the rights are given up: Python itself may be out of reach then.
        store = indexed_store(Path(scratch))
        add(store, some_document("scratch", 1))
        results(store)
        store.close()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    store = indexed_store(folder, exact_up_to=0)
    report: dict[str, Any] = {"writable": store.is_writable, "results": results(store), "errors": []}
    for change in (lambda: add(store, some_document("new", 1)), lambda: store.remove("d1")):
        try:
            change()
        except LibraryError as error:
            report["errors"].append([type(error).__name__, str(error)])
    for out_of_reach in ("/proc/library", str(folder / "library.db" / "library"), str(folder.parent / "closed" / "x")):
        try:
            indexed_store(Path(out_of_reach))
        except LibraryError as error:
            report["errors"].append([type(error).__name__, str(error)])
    print(json.dumps(report))


def fill_the_disk(folder: Path, limit: str) -> None:
    """Adds big documents while no file may grow beyond the limit, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = indexed_store(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    for number in itertools.count():
        try:
            add(store, some_document("big", number, noise={"in": os.urandom(5_000_000).hex()}))
        except LibraryError as error:
            print(json.dumps({"stored": store.count()[0], "error": str(error)}))
            return


ACTIONS = {action.__name__: action for action in (add_endlessly, write, hold, use_as_nobody, fill_the_disk)}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
