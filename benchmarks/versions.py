"""Two versions search copies of one library in turns, question by question: the ratios of what their searches take.

Each version is a process of its own with its sources on the path; a library of `million.py` is copied for each, and
gets its index there: `cp -r LIBRARY ONE; cp -r LIBRARY OTHER`, then `versions.py SOURCES=ONE SOURCES=OTHER`, where
SOURCES is the folder of a checkout. Of three searches the first warms up, and of the others the quicker one counts. CPU
is that of the searching process and of its index. With `--postgres` each version copies its library to one PostgreSQL
server and searches it there; CPU is that of the searching process and of its connections' processes on the server.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from measuring import ROOT, show
from million_steps import BEST, FILTERS, SERVER_SETTINGS, Given, library

from answerable.maintenance.copy import copy_store
from answerable.protocols import Store
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.postgres.store import PostgresStore

sys.path.insert(0, str(ROOT / "tests" / "servers"))

from postgres_server import in_database, private_server

AGAIN = 3
# The server's processes that serve this process: both have the name that PGAPPNAME gives.
SERVING = """
    SELECT pid FROM pg_stat_activity
    WHERE application_name = current_setting('application_name') AND pid != pg_backend_pid()
"""


def answer(folder: Path, server: str) -> None:
    """Searches for the questions that are asked on standard input: the numbers of a filter and of a question."""
    questions = json.loads((folder / "questions.json").read_text("utf-8"))["questions"]
    store, others = _copied(folder, server) if server else _indexed(folder)
    with library(store, Given(dict(zip(questions, np.load(folder / "queries.npy"), strict=True)))) as opened:
        opened.search(questions[0])
        print(len(questions), flush=True)
        for line in sys.stdin:
            where, question = json.loads(line)
            before, own, wall = _cpu(others()), time.process_time(), time.monotonic()
            opened.search(questions[question], BEST, list(FILTERS.values())[where])
            wall, own = time.monotonic() - wall, time.process_time() - own
            after = _cpu(others())
            served = sum(seconds - before.get(process, 0) for process, seconds in after.items())
            print(json.dumps([own + served, wall, own]), flush=True)


def _indexed(folder: Path) -> tuple[Store, Callable[[], list[int]]]:
    """A library in a folder; what gives the number of the process of its index."""
    store = EmbeddedStore(folder)

    def index() -> list[int]:
        process = store._index._process if store._index else None
        return [process.pid] if process else []

    return store, index


def _copied(folder: Path, server: str) -> tuple[Store, Callable[[], list[int]]]:
    """A library copied to a server; what gives the numbers of the processes that serve this one."""
    store = PostgresStore(in_database(server, f"of_{os.environ['PGAPPNAME']}"))
    with closing(EmbeddedStore(folder)) as source:
        copy_store(source, store)
    asking = psycopg.connect(server, autocommit=True)
    asking.execute("VACUUM ANALYZE")
    return store, lambda: [pid for (pid,) in asking.execute(SERVING)]


def _cpu(processes: Iterable[int]) -> dict[int, float]:
    # What Linux calls the CPU clock of another process.
    return {process: time.clock_gettime((~process << 3) | 2) for process in processes}


def ask(process: subprocess.Popen[str], *numbers: int) -> Any:
    """What a version says about one search."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{json.dumps(numbers)}\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def measured(versions: list[str], asked: int, server: str) -> list[tuple[str, float, str]]:
    """The ratios of the second version to the first: medians of questions, and of the sums."""
    processes = []
    for number, version in enumerate(versions):
        sources, _, folder = version.partition("=")
        command = [sys.executable, __file__, "--answer", folder, "--server", server]
        path = f"{Path(sources).resolve() / 'src'}"
        variables = {**os.environ, "PYTHONPATH": path, "PGAPPNAME": f"version_{number}"}
        processes.append(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables)
        )
    count = min(int(process.stdout.readline()) for process in processes if process.stdout)
    rows: list[tuple[str, float, str]] = []
    for number, name in enumerate(FILTERS):
        taken: list[list[list[float]]] = [[], []]
        for turn, question in enumerate(range(0, count, max(1, count // asked))):
            for which in (0, 1) if turn % 2 else (1, 0):
                tried = [ask(processes[which], number, question) for _ in range(AGAIN)][1:]
                taken[which].append([min(each[kind] for each in tried) for kind in range(3)])
        for kind, unit in enumerate(("CPU", "wall", "CPU of the searching process")):
            one, other = ([each[kind] for each in those] for those in taken)
            ratios = [new / old for old, new in zip(one, other, strict=True)]
            rows.append((f"hybrid{name}: {unit}, median ratio", statistics.median(ratios), "times"))
            rows.append((f"hybrid{name}: {unit}, ratio of sums", sum(other) / sum(one), "times"))
    for process in processes:
        process.communicate()
    return rows


def main() -> None:
    """Asks both versions in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", metavar="SOURCES=LIBRARY")
    parser.add_argument("--asked", type=int, default=40)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--server", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answer(options.answer, options.server)
    elif len(options.versions) != 2:
        parser.error("Give two versions.")
    else:
        with private_server("", *SERVER_SETTINGS) if options.postgres else nullcontext() as server:
            rows = measured(options.versions, options.asked, server.address if server else "")
        show("versions, on PostgreSQL" if options.postgres else "versions", rows, asked=options.asked)


if __name__ == "__main__":
    main()
