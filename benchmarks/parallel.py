"""Adding with several processes, and on a Ray cluster of two nodes of one processor each, beside one.

Wall time, since that is what workers save: medians of rounds in which the ways take turns, and their ratios. Every way
first adds a few pages, so that models are loaded. Nodes are pinned to a processor with `taskset`. Nothing is taken from
a cache of vectors. `--rounds 3 --pages 40`; `--only reading`, `processes` or `ray` for a part.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

from ingestion import make_folder
from measuring import ROOT, run_python, show

PAGES_PER_FILE = 4
WARM_PAGES = 12
MESSAGES = 20_000
CHATS = 6
Way = tuple[str, tuple[object, ...]]


def add(folders: str, workers: str, ray: str, scratch: str) -> None:
    """Adds a folder to warm up, then another; prints how long that took."""
    import answerable

    first, second = folders.split(":")
    with answerable.open(f"{scratch}/library", cache_folder=scratch, workers=int(workers), ray=ray) as opened:
        opened.add(first)
        started = time.perf_counter()
        report = opened.add(second)
        seconds = time.perf_counter() - started
    assert not report.failures, report.failures
    print(json.dumps({"seconds": seconds, "chunks": report.chunks}))


def read(folder: str, workers: str) -> None:
    """Reads and splits every file of a folder and embeds nothing; prints how long that took."""
    from functools import partial

    from answerable.indexing.workers.processes import start_processes
    from answerable.indexing.workers.worker_pool import WorkerPool, read_and_split
    from answerable.protocols.reading import SourceFile
    from answerable.settings import Settings
    from answerable.wiring.build import build_tools

    files = [SourceFile(str(path), str(path)) for path in sorted(Path(folder).iterdir())]
    worker_pool = WorkerPool(partial(start_processes, int(workers), partial(build_tools, Settings())))
    tools = build_tools(Settings())

    def read_all(files: list[SourceFile]) -> int:
        if int(workers) == 1:
            return sum(len(each.chunks) for file in files for each in read_and_split(tools, file).prepared)
        worker_pool.expect(files)
        found = (contents for file in files if (contents := worker_pool.read(file.path)))
        return sum(
            len(split.chunks) for each in found for one in each.documents if (split := worker_pool.prepared(one))
        )

    # What is needed for it is loaded first.
    read_all(files[:2])
    started = time.perf_counter()
    chunks = read_all(files)
    seconds = time.perf_counter() - started
    worker_pool.close()
    print(json.dumps({"seconds": seconds, "chunks": chunks}))


def medians(ways: list[Way], rounds: int, models: Path) -> dict[str, float]:
    """Seconds of each way, which take turns."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for name, arguments in ways:
            with tempfile.TemporaryDirectory() as scratch:
                # A library and a cache of vectors of its own each time; the compiled model is kept.
                (Path(scratch) / "models").symlink_to(models)
                outcome = run_python(__file__, *arguments, scratch)
                seconds[name].append(outcome.report["seconds"])
                print(name, outcome.report, f"{outcome.cpu:.1f} CPU s", file=sys.stderr)
    return {name: statistics.median(found) for name, found in seconds.items()}


def ways_to_add(folders: str, clusters: dict[str, str]) -> list[Way]:
    """By processes, and by clusters at their addresses."""
    if clusters:
        return [(name, ("add", folders, 1, address)) for name, address in clusters.items()]
    return [(f"--workers {count}", ("add", folders, count, "")) for count in (1, 2)]


def start_clusters(stack: ExitStack) -> dict[str, str]:
    """One of one node, another of two, each node on a processor of its own."""
    sys.path.insert(0, str(ROOT / "tests" / "parallel"))
    from ray_nodes import Node, wait_for_processors

    addresses = {}
    for name, hosts in {"one node": ["127.0.0.4"], "two nodes": ["127.0.0.2", "127.0.0.3"]}.items():
        folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        head = ""
        for processor, host in enumerate(hosts):
            node = Node(folder, host, head, prefix=["taskset", "-c", str(processor)])
            stack.callback(node.kill)
            node.wait_until_reachable()
            head = head or node.address
        wait_for_processors(head, len(hosts))
        addresses[name] = head
    return addresses


def main() -> None:
    """Measures one beside two, of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=80)
    parser.add_argument("--only", choices=["reading", "processes", "ray"], default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        warm, pdfs, chats, models = (Path(temporary) / name for name in ("warm", "pdfs", "chats", "models"))
        models.mkdir()
        for folder, pages in ((warm, WARM_PAGES), (pdfs, options.pages)):
            folder.mkdir()
            make_folder(folder, pages + WARM_PAGES * (folder is pdfs), PAGES_PER_FILE)
        for path in sorted(pdfs.iterdir())[: WARM_PAGES // PAGES_PER_FILE]:
            path.unlink()
        rows: list[tuple[str, float, str]] = []
        if options.only in ("", "reading"):
            write_chats(chats)
            for name, folder in (("chats", chats), ("PDFs", pdfs)):
                ways: list[Way] = [(f"reading {name}, --workers {count}", ("read", folder, count)) for count in (1, 2)]
                rows += compared(medians(ways, options.rounds, models))
        folders = f"{warm}:{pdfs}"
        if options.only in ("", "processes"):
            rows += compared(medians(ways_to_add(folders, {}), options.rounds, models))
        if options.only in ("", "ray"):
            rows += compared(medians(ways_to_add(folders, start_clusters(stack)), options.rounds, models))
    show("parallel", rows, pages=options.pages, rounds=options.rounds)


def write_chats(folder: Path) -> None:
    """Exports of a phone, some 20,000 messages each."""
    from generated_chats import SPAIN, write_chat

    folder.mkdir()
    for number in range(CHATS):
        write_chat(folder / f"WhatsApp Chat with {number}.txt", SPAIN, MESSAGES, seed=number)


def compared(seconds: dict[str, float]) -> list[tuple[str, float, str]]:
    """Each way's median, and the first by the second."""
    (one, first), (two, second) = seconds.items()
    return [(one, first, "s"), (two, second, "s"), (f"{one} / {two}", first / second, "times")]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["add", folders, workers, ray, scratch]:
            add(folders, workers, ray, scratch)
        case ["read", folder, workers, _]:
            read(folder, workers)
        case _:
            main()
