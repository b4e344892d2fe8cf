"""Two versions search copies of one library in turns, question by question: the ratios of what their searches take.

Each version is a process of its own with its sources on the path; a library of `million.py` is copied for each, and
gets its index there: `cp -r LIBRARY ONE; cp -r LIBRARY OTHER`, then `versions.py SOURCES=ONE SOURCES=OTHER`, where
SOURCES is the folder of a checkout. Of three searches the first warms up, and of the others the quicker one counts. CPU
is that of the searching process and of its index.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from measuring import show
from million_steps import BEST, FILTERS, Given, library

from answerable.stores.embedded.store import EmbeddedStore

AGAIN = 3


def answer(folder: Path) -> None:
    """Searches for the questions that are asked on standard input: the numbers of a filter and of a question."""
    questions = json.loads((folder / "questions.json").read_text("utf-8"))["questions"]
    store = EmbeddedStore(folder)
    with library(store, Given(dict(zip(questions, np.load(folder / "queries.npy"), strict=True)))) as opened:
        opened.search(questions[0])
        assert store._index is not None
        process = store._index._process
        assert process is not None
        # What Linux calls the CPU clock of another process.
        clocks = time.CLOCK_PROCESS_CPUTIME_ID, (~process.pid << 3) | 2, time.CLOCK_MONOTONIC
        print(len(questions), flush=True)
        for line in sys.stdin:
            where, question = json.loads(line)
            before = [time.clock_gettime(clock) for clock in clocks]
            opened.search(questions[question], BEST, list(FILTERS.values())[where])
            own, index, wall = (time.clock_gettime(clock) - start for clock, start in zip(clocks, before, strict=True))
            print(json.dumps([own + index, wall, own]), flush=True)


def ask(process: subprocess.Popen[str], *numbers: int) -> Any:
    """What a version says about one search."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{json.dumps(numbers)}\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def measured(versions: list[str], asked: int) -> list[tuple[str, float, str]]:
    """The ratios of the second version to the first: medians of questions, and of the sums."""
    processes = []
    for version in versions:
        sources, _, folder = version.partition("=")
        command = [sys.executable, __file__, "--answer", folder]
        variables = {**os.environ, "PYTHONPATH": f"{Path(sources).resolve() / 'src'}"}
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
        for kind, unit in enumerate(("CPU", "wall", "CPU without the index's")):
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
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answer(options.answer)
    elif len(options.versions) != 2:
        parser.error("Give two versions.")
    else:
        show("versions", measured(options.versions, options.asked), asked=options.asked)


if __name__ == "__main__":
    main()
