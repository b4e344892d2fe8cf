"""What the reader costs, beside the embedder: CPU time, loading and memory.

The reader reads seven windows of real text with each question. Beside it: the embedder with the question and the same
windows, and `reader = "off"`.
`--questions 40 --repeats 5`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from measuring import QUESTION, ROOT, corpus, median_of, peak_megabytes, run_python, show

from answerable.answering.reading import WINDOW, WINDOWS

WARMING = 3
EXAMPLE = "How often should the espresso machine be descaled?"


def warm(cache: str, count: str) -> None:
    """Read and embed the same windows; print the median CPU milliseconds of each."""
    from answerable.e5.readers import E5Reader
    from answerable.embedding.local import LocalEmbedder
    from answerable.protocols import Passage

    texts = [text[:WINDOW] for text in corpus()]
    windows = [texts[start : start + WINDOWS] for start in range(int(count) + WARMING)]
    reader = E5Reader(cache_folder=Path(cache))
    embedder = LocalEmbedder(cache_folder=Path(cache))
    work = {
        "read": lambda number: reader.read(QUESTION, windows[number]),
        "passages": lambda number: embedder.embed_passages([Passage(text) for text in windows[number]]),
        "question": lambda number: embedder.embed_query(f"{QUESTION} {number}"),
    }
    medians = {name: middle(partial(do, number) for number in range(len(windows))) for name, do in work.items()}
    print(json.dumps(medians))


def middle(work: Iterable[Callable[[], object]]) -> float:
    """Return the median CPU milliseconds of the calls; the first few load what is loaded late."""
    spent = []
    for do in work:
        started = time.process_time()
        do()
        spent.append(time.process_time() - started)
    return 1000 * statistics.median(spent[WARMING:])


def ask(cache: str, reads: str) -> None:
    """Ask the examples a question, in a new process; print the most memory that it held."""
    import answerable

    with answerable.open(f"{cache}/library", cache_folder=cache, reader=reads) as library:
        library.ask(EXAMPLE)
    print(json.dumps(peak_megabytes()))


def load(cache: str) -> None:
    """Load the reader and read one window; print the CPU seconds that it took."""
    from answerable.e5.readers import E5Reader
    from answerable.embedding.local import LocalEmbedder

    LocalEmbedder(cache_folder=Path(cache)).embed_query(EXAMPLE)
    started = time.process_time()
    E5Reader(cache_folder=Path(cache)).read(EXAMPLE, [EXAMPLE])
    print(json.dumps(time.process_time() - started))


def main() -> None:
    """Warm, then new processes that take turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        environment = {"ANSWERABLE_CACHE_FOLDER": cache}
        library = f"{cache}/library"
        run_python("-m", "answerable", "add", ROOT / "examples", "-l", library, environment=environment)
        command = ("-m", "answerable", "ask", EXAMPLE, "-l", library)
        run_python(*command, environment=environment)
        found = run_python(__file__, "warm", cache, options.questions).report
        on, off, loading, memory, memory_off = median_of(
            options.repeats,
            lambda: run_python(*command, environment=environment).cpu,
            lambda: run_python(*command, environment={**environment, "ANSWERABLE_READER": "off"}).cpu,
            lambda: run_python(__file__, "load", cache).report,
            lambda: run_python(__file__, "ask", cache, "local").report,
            lambda: run_python(__file__, "ask", cache, "off").report,
        )
    rows = [
        (f"warm: reading {WINDOWS} windows with a question, p50", found["read"], "CPU ms"),
        ("warm: embedding the same windows, p50", found["passages"], "CPU ms"),
        ("warm: reading / embedding", found["read"] / found["passages"], "times"),
        ("warm: embedding the question, p50", found["question"], "CPU ms"),
        ("loading the reader after the embedder, with its first window", loading, "CPU s"),
        ("cold: answerable ask, whole process", on, "CPU s"),
        ("cold, reader off", off, "CPU s"),
        ("memory of a cold answer", memory, "MB"),
        ("memory, reader off", memory_off, "MB"),
    ]
    show("reading", rows, questions=options.questions)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["warm", folder, count]:
            warm(folder, count)
        case ["load", folder]:
            load(folder)
        case ["ask", folder, reads]:
            ask(folder, reads)
        case _:
            main()
