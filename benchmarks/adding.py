"""Adding short documents: CPU of each outside embedding, by this commit, another one (`--before`) and two peers.

They take turns, each in a process of its own, with an embedder that costs next to nothing. Ours adds to a folder and to
memory; LlamaIndex and LangChain to memory, where their documentation keeps an index first. `--documents 2000 --rounds 5
--before COMMIT --no-peers`.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
from measuring import ROOT, corpus, cpu_seconds, peak_megabytes, run_python, show
from numpy.typing import NDArray
from peers.interface import DIMENSION, Embedder, Spans, Text
from peers.systems import PEERS as SYSTEMS

PEERS = ("llamaindex", "langchain")
FIRST = "This sentence is added before the clock starts, so that models, lists of words and statements are loaded."


class NoEmbedder(Embedder):
    """The same vectors for every passage."""

    def __init__(self) -> None:
        self.cpu = 0.0
        self._rows = np.random.default_rng(1).standard_normal((1000, DIMENSION), np.float32)
        self._rows /= np.linalg.norm(self._rows, axis=1, keepdims=True)

    def passages(self, texts: Sequence[str], spans: Sequence[Spans] = ()) -> NDArray[np.float32]:
        """One row for each text and each of its spans."""
        rows: NDArray[np.float32] = self._rows[: len(texts) + sum(map(len, spans))]
        return rows

    def question(self, text: str) -> NDArray[np.float32]:
        """The first row."""
        return self.passages([text])[0]


def add(system: str, file: str) -> None:
    """Adds the documents of a file; prints the CPU seconds, and the most memory held."""
    documents = [Text(*row) for row in json.loads(Path(file).read_text("utf-8"))]
    with tempfile.TemporaryDirectory() as folder:
        if system in PEERS:
            work = import_module(f"peers.{system}").build(Path(folder), "en", NoEmbedder()).add
        else:
            from peers.answerable_ import Answerable

            ours = Answerable(Path(folder) / "library" if system == "folder" else Path(":memory:"), NoEmbedder())
            ours.add([Text("first", "", FIRST)])
            work = ours.add
        started = cpu_seconds()
        work(documents)
        print(json.dumps({"cpu": cpu_seconds() - started, "peak": peak_megabytes()}))


def source_of(commit: str, folder: Path) -> Path:
    """The package as it was at a commit."""
    packed = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder)
    return folder / "src"


def main() -> None:
    """Measures what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", metavar="COMMIT", help="measure this commit too")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="leave LlamaIndex and LangChain out")
    options = parser.parse_args()
    if options.peers:
        from peers.environments import environment
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "documents.json"
        texts = [text.rpartition("\n\n") for text in itertools.islice(corpus(), options.documents)]
        file.write_text(json.dumps([(str(at), title, body) for at, (title, _, body) in enumerate(texts)]), "utf-8")
        here = sys.executable, ROOT / "src"
        systems = {"folder": ("folder", *here), "memory": ("memory", *here)}
        if options.before:
            there = sys.executable, source_of(options.before, Path(temporary))
            systems |= {"folder, before": ("folder", *there), "memory, before": ("memory", *there)}
        for peer in SYSTEMS if options.peers else ():
            if peer.module in PEERS:
                systems[f"{peer.name}, memory"] = peer.module, str(environment(peer)), ROOT / "src"
        found: dict[str, list[dict[str, float]]] = {name: [] for name in systems}
        for _ in range(options.rounds):
            for name, (system, python, source) in systems.items():
                paths = {"PYTHONPATH": f"{source}:{ROOT / 'benchmarks'}"}
                report = run_python(__file__, "add", system, file, environment=paths, python=python).report
                found[name].append(report)
    rows = []
    for name, reports in found.items():
        cpu = statistics.median(report["cpu"] for report in reports) / len(texts)
        pairs = zip(found["folder"], reports, strict=True)
        rows.append((name, 1000 * cpu, "CPU ms a document"))
        if name != "folder":
            rows.append((f"{name} / folder", statistics.median(b["cpu"] / a["cpu"] for a, b in pairs), "times"))
        rows.append((f"{name}, most memory held", statistics.median(report["peak"] for report in reports), "MB"))
    show("adding", rows, documents=len(texts), rounds=options.rounds)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["add", system, file]:
            add(system, file)
        case _:
            main()
