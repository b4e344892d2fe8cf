"""The steps of `million.py`, each for a process of its own: adding, making the index, asking, searching."""

from __future__ import annotations

import json
import random
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from debian import CACHE, texts
from measuring import cpu_seconds, peak_megabytes
from standin import StandInEmbedder, learn

from answerable.datatypes import Document, FloatArray
from answerable.filters import parse_filter
from answerable.library import Library
from answerable.protocols import Store
from answerable.retrieval.hybrid import CANDIDATES
from answerable.retrieval.retriever import analyze_question
from answerable.settings import Settings
from answerable.stores.embedded.database import Database
from answerable.stores.embedded.store import EmbeddedStore
from answerable.wiring.build import build_answerer, build_reader, build_splitter

SIZE, OVERLAP = 500, 50
HELD_OUT = 500
# Bytes of text that give a chunk.
CHARACTERS = 448
SAMPLE = 20_000
BEST = 10
FILTERS: dict[str, Mapping[str, Any] | None] = {
    "": None,
    ", 10 % pass": {"g10": 7},
    ", 1 % pass": {"g100": 7},
    ", .01 % pass": {"g10000": 7},
}


class Given(StandInEmbedder):
    """Gives vectors that are known already: what searching costs is without the embedder's part."""

    def __init__(self, known: Mapping[str, FloatArray]) -> None:
        super().__init__(np.zeros((1, 1), np.float32))
        self._known = known

    def embed_query(self, text: str) -> FloatArray:
        """The vector that is known of a text."""
        return self._known[text]


class Unindexed(EmbeddedStore):
    """Leaves the index to another process, so that each is measured alone."""

    def refresh(self) -> None:
        """Nothing."""


def library(store: Store, embedder: StandInEmbedder) -> Library:
    """A library as users get it but for the embedder."""
    settings = Settings(chunk_size=SIZE, chunk_overlap=OVERLAP)
    answerer = build_answerer(settings, embedder.fingerprint)
    return Library(store, embedder, build_splitter(settings), build_reader(settings), answerer)


def word_vectors() -> FloatArray:
    """Those of the stand-in, learnt once."""
    path = CACHE / "words.npy"
    if not path.exists():
        documents, _ = texts()
        pieces = (document.content[start : start + SIZE] for document in documents for start in range(0, 5000, SIZE))
        np.save(path, learn(piece for piece, _ in zip(pieces, range(SAMPLE), strict=False)))
    table: FloatArray = np.load(path)
    return table


def add(folder: Path, chunks: int) -> dict[str, float]:
    """Adds documents until there are about so many chunks; what that took."""
    documents, sizes = texts()
    kept = [number for number in range(len(documents)) if number % HELD_OUT]
    lengths = np.cumsum([sizes[number] for number in kept])
    count = int(np.searchsorted(lengths, chunks * CHARACTERS)) + 1
    store = Unindexed(folder)
    opened = library(store, StandInEmbedder(word_vectors()))
    started, wall = cpu_seconds(), time.monotonic()
    with peak_of_own() as peak, opened:
        opened.add_documents(documents.of(kept[:count]))
        total = store.count()[1]
    return {
        "chunks": total,
        "adding, CPU ms a chunk": 1000 * (cpu_seconds() - started) / total,
        "adding, wall s": time.monotonic() - wall,
        "adding, memory MB": peak(),
        "adding, and mapped MB": peak_megabytes(),
        "database, bytes a chunk": _bytes(folder.glob("library.db*")) / total,
    }


def index(folder: Path) -> dict[str, float]:
    """Makes the index of what was added; what that took."""
    shutil.rmtree(folder / "index", ignore_errors=True)
    store = EmbeddedStore(folder)
    started, wall = cpu_seconds(), time.monotonic()
    with peak_of_own() as peak:
        store.refresh()
        total = store.count()[1]
        store.close()
    return {
        "indexing, CPU ms a chunk": 1000 * (cpu_seconds() - started) / total,
        "indexing, wall s": time.monotonic() - wall,
        "indexing, memory MB": peak(),
        "indexing, and mapped MB": peak_megabytes(),
        "index, bytes a chunk": _bytes((folder / "index").rglob("*")) / total,
    }


def _bytes(paths: Iterator[Path]) -> int:
    # Allocated: most files of the index have holes.
    return sum(path.stat().st_blocks * 512 for path in paths if path.is_file())


@contextmanager
def peak_of_own() -> Iterator[Callable[[], float]]:
    """The most megabytes of its own, without the files it has mapped, that the process holds meanwhile."""
    peak = 0
    over = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not over.wait(0.2):
            (line,) = [each for each in Path("/proc/self/status").read_text().splitlines() if "RssAnon" in each]
            peak = max(peak, int(line.split()[1]))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda: peak / 1024
    finally:
        over.set()
        watcher.join()


def ask(folder: Path, count: int) -> dict[str, float]:
    """Writes questions from documents that aren't in the library, and the numbers of the chunks that are nearest."""
    documents, _ = texts()
    chance = random.Random(2)
    lines = [chance.choice(_lines(documents[number])) for number in range(0, len(documents), HELD_OUT)]
    questions = list(dict.fromkeys(line for line in lines if line))[:count]
    embedder = StandInEmbedder(word_vectors())
    asked = np.stack([embedder.embed_query(question) for question in questions])
    database = Database(folder / "library.db", create=False)
    with database.changes(0, 0) as (version, entries, _):
        vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (version.chunks, len(asked[0])))
        numbers, fields = [], []
        for row, entry in enumerate(entries):
            vectors[row] = entry.vector
            numbers.append(entry.number)
            fields.append([entry.fields[name][0] for name in ("g10", "g100", "g10000")])
    database.close()
    np.save(folder / "queries.npy", asked)
    np.save(folder / "groups.npy", np.array(fields))
    exact = {name: _nearest(vectors, numbers, asked, np.array(fields), where) for name, where in FILTERS.items()}
    (folder / "questions.json").write_text(json.dumps({"questions": questions, "exact": exact}), "utf-8")
    return {"questions": len(questions)}


def _lines(document: Document) -> list[str]:
    """Lines that may be asked: of several words, not too long."""
    lines = [" ".join(line.split()) for line in document.content.split("\n")]
    return [line for line in lines if len(line.split()) >= 5 and len(line) <= 120] or [""]


def _nearest(
    vectors: FloatArray, numbers: list[int], asked: FloatArray, groups: Any, where: Mapping[str, Any] | None
) -> list[list[float]]:
    """Of each question the cosine of the tenth best chunk among those that pass, and how many pass."""
    rows = np.arange(len(numbers))
    for column, name in enumerate(("g10", "g100", "g10000")):
        if where and name in where:
            rows = np.flatnonzero(groups[:, column] == where[name])
    best = np.full((len(asked), 0), 0, np.float32)
    for start in range(0, len(rows), 50_000):
        cosines = asked @ vectors[rows[start : start + 50_000]].T
        best = np.sort(np.concatenate([best, cosines], axis=1), axis=1)[:, -BEST:]
    return [[float(row[0]) if len(row) else 1.0, float(min(len(rows), BEST))] for row in best]


def serve(folder: Path) -> dict[str, float]:
    """Searches in a fresh process; what that took."""
    started = cpu_seconds()
    with peak_of_own() as peak:
        store = EmbeddedStore(folder)
        found = searched(store, folder, cpu_seconds, started)
        found["serving, memory MB"] = peak()
    found["serving, and mapped MB"] = peak_megabytes()
    return found


def searched(store: Store, folder: Path, clock: Callable[[], float], started: float) -> dict[str, float]:
    """Recall and what a search takes, with each filter; the first one since `started`. The store is closed."""
    told = json.loads((folder / "questions.json").read_text("utf-8"))
    questions: list[str] = told["questions"]
    vectors = np.load(folder / "queries.npy")
    opened = library(store, Given(dict(zip(questions, vectors, strict=True))))
    found: dict[str, float] = {}
    with opened:
        opened.search(questions[0])
        found["first search, CPU s"] = clock() - started
        for name, where in FILTERS.items():
            condition = parse_filter(where)
            shares, times = [], []
            for vector, (tenth, most) in zip(vectors, told["exact"][name], strict=True):
                hits = store.search_vectors(vector, BEST, condition)
                # Many chunks are the same: whichever of equally near ones was found is right.
                shares.append(sum(cosine >= tenth - 1e-5 for _, cosine in hits) / most if most else 1.0)
                times.append(timed(partial(store.search_vectors, vector, CANDIDATES, condition), clock))
            found[f"recall@10{name}"] = statistics.mean(shares)
            found |= _spread(f"vectors{name}", times)
            counts: list[int] = []
            found |= _spread(
                f"hybrid{name}",
                [timed(partial(_counting, counts, opened, question, where), clock) for question in questions],
            )
            found[f"passages of {BEST}{name}"] = statistics.mean(counts)
        languages = store.languages()
        asked = [analyze_question(question, languages).terms for question in questions]
        searches = [partial(store.search_terms, terms, CANDIDATES, None) for terms in asked]
        found |= _spread("terms", [timed(search, clock) for search in searches])
    return found


def _counting(counts: list[int], opened: Library, question: str, where: Mapping[str, Any] | None) -> None:
    """Searches, and notes how many passages were found."""
    counts.append(len(opened.search(question, BEST, where)))


def timed(work: Callable[[], object], clock: Callable[[], float]) -> tuple[float, float]:
    """CPU and wall seconds of some work."""
    cpu, wall = clock(), time.perf_counter()
    work()
    return clock() - cpu, time.perf_counter() - wall


def _spread(name: str, times: list[tuple[float, float]]) -> dict[str, float]:
    """The middle and the 95th percentile, CPU and wall, and the mean, in milliseconds."""
    named = {}
    for kind, values in zip(("CPU", "wall"), zip(*times, strict=True), strict=True):
        for point in (50, 95):
            named[f"{name}, p{point} {kind} ms"] = 1000 * float(np.percentile(values, point))
    named[f"{name}, mean CPU ms"] = 1000 * statistics.mean(cpu for cpu, _ in times)
    return named
