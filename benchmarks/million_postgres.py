"""The step of `million.py` that copies a library to a PostgreSQL server of its own and searches it there.

Up to COMPARED passages the searches take turns with those of `postgres_every.py`: a graph over all passages, which
takes hours to make of a million, and every posting of a word.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import psycopg
from measuring import ROOT, cpu_seconds
from million_steps import BEST, FILTERS, SERVER_SETTINGS, Given, library, searched, timed
from postgres_every import EveryRow

from answerable.filters import parse_filter
from answerable.maintenance.copy import copy_store
from answerable.retrieval.hybrid import CANDIDATES
from answerable.retrieval.question import analyze_question
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.postgres.store import PostgresStore

sys.path.insert(0, str(ROOT / "tests" / "servers"))

from postgres_server import in_database, private_server

COMPARED = 200_000


def serve_postgres(folder: Path) -> dict[str, float]:
    """What copying and searching took; CPU is that of client and server together."""
    with private_server("", *SERVER_SETTINGS) as server:
        store = PostgresStore(in_database(server.address, "million"))
        source = EmbeddedStore(folder)
        began = time.monotonic()
        copy_store(source, store)
        found = {"copying, with its sketches, wall s": time.monotonic() - began}
        source.close()
        with psycopg.connect(server.address, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        found["database, bytes a chunk"] = _size(server.folder / "data" / "base") / store.count()[1]

        def clock() -> float:
            # A tick is a hundredth of a second: too coarse for one search, not for a mean.
            return cpu_seconds() + _server_ticks(server.folder) / os.sysconf("SC_CLK_TCK")

        if store.count()[1] <= COMPARED:
            every = EveryRow(server.address, "million")
            found |= beside({"": store, "every row: ": every}, folder, clock)
            every.close()
        found |= searched(store, folder, clock, clock())
    coarse = ("p50 CPU ms", "p95 CPU ms", "first search, CPU s")
    return {f"PostgreSQL, {name}": value for name, value in found.items() if not name.endswith(coarse)}


def beside(stores: Mapping[str, PostgresStore], folder: Path, clock: Callable[[], float]) -> dict[str, float]:
    """What the stores find, and what their searches by vectors, by words and by both take; question by question."""
    told = json.loads((folder / "questions.json").read_text("utf-8"))
    questions: list[str] = told["questions"]
    vectors = np.load(folder / "queries.npy")
    known = dict(zip(questions, vectors, strict=True))
    opened = {name: library(store, Given(known)) for name, store in stores.items()}
    languages = next(iter(stores.values())).languages()
    words = {question: analyze_question(question, languages).terms for question in questions}
    times: dict[str, list[tuple[float, float]]] = {}
    shares: dict[str, list[float]] = {}
    for (kind, where), number in product(FILTERS.items(), range(len(questions))):
        question, condition = questions[number], parse_filter(where)
        tenth, most = told["exact"][kind][number]
        for name, store in stores.items():
            hits = store.search_vectors(known[question], BEST, condition)
            share = sum(cosine >= tenth - 1e-5 for _, cosine in hits) / most if most else 1.0
            shares.setdefault(f"{name}recall@10{kind}", []).append(share)
            searches: dict[str, Callable[[], object]] = {
                "vectors": partial(store.search_vectors, known[question], CANDIDATES, condition),
                "words": partial(store.search_terms, words[question], CANDIDATES, condition),
                "hybrid": partial(opened[name].search, question, BEST, where),
            }
            for searched_by, search in searches.items():
                times.setdefault(f"{name}{searched_by}{kind}", []).append(timed(search, clock))
    found = {name: statistics.mean(values) for name, values in shares.items()}
    for name, values in times.items():
        found[f"{name}, beside, p50 wall ms"] = 1000 * statistics.median(wall for _, wall in values)
        found[f"{name}, beside, mean CPU ms"] = 1000 * statistics.mean(cpu for cpu, _ in values)
    return found


def _size(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def _server_ticks(server: Path) -> int:
    """What the server's processes that are there have used so far."""
    leader = int((server / "data" / "postmaster.pid").read_text().split()[0])
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            told = path.read_text().rpartition(")")[2].split()
            if int(told[1]) == leader:
                ticks += int(told[11]) + int(told[12])
    return ticks
