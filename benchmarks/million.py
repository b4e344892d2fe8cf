"""A library that grows to a million chunks of 500 characters: what adding, memory, disk and searches cost by size.

Real text (`debian.py`) under vectors of a stand-in (`standin.py`): embedding a million passages takes days on a machine
of two cores, and how a store copes with many doesn't depend on which model it was. Everything else is as it is for
users: splitting, languages, sentences, terms, and `Library.search`, of which embedding the question is left out.

Documents are added in a process of their own, streamed from a file; another makes the index, a fresh one searches.
Recall is that of the store's vectors against all cosines, of copies any is right; with filters that one chunk in ten,
in a hundred and in ten thousand passes. Memory is what a process holds of its own ("memory") and that with the files it
has mapped ("and mapped"), at most. FAISS, LanceDB, Qdrant Edge and pgvector search the same vectors
(`million_peers.py`). `--postgres` copies the library to a PostgreSQL server of its own and searches it there.
`--chunks 10000 100000 1000000 --searches 200 --peers --postgres`; libraries stay in `--folder` and aren't built again.
`--plot FILE` draws what searches cost by size.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from debian import CACHE
from measuring import run_python, show
from million_peers import PEERS
from million_plot import growth_plot
from million_postgres import serve_postgres
from million_steps import add, ask, index, serve


def measured(folder: Path, chunks: int, searches: int, peers: bool, postgres: bool) -> dict[str, float]:
    """All figures of one size, each step in a process of its own."""
    place = folder / f"{chunks}"
    place.mkdir(parents=True, exist_ok=True)
    figures: dict[str, float] = {}
    for name in ("add", "index", "ask", *(["postgres"] if postgres else [])):
        done = place / f"{name}.json"
        if not done.exists():
            report = run_python(__file__, "--step", name, "--folder", place, "--chunks", chunks, "--searches", searches)
            done.write_text(json.dumps(report.report), "utf-8")
        figures |= json.loads(done.read_text("utf-8"))
    figures |= run_python(__file__, "--step", "serve", "--folder", place).report
    for name in PEERS if peers else ():
        done = place / f"{name}.json"
        if not done.exists():
            done.write_text(json.dumps(_peer(place, name, searches)), "utf-8")
        figures |= json.loads(done.read_text("utf-8"))
    (place / "figures.json").write_text(json.dumps(figures), "utf-8")
    return figures


def _peer(place: Path, name: str, searches: int) -> dict[str, float]:
    packages = PEERS[name][1]
    python = Path(sys.executable)
    if packages:
        home = CACHE.parent / "peers" / packages[0]
        python = home / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", home], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", *packages], check=True)
    command: list[str | Path] = [python, Path(__file__).with_name("million_peers.py"), place, name, str(searches)]
    # Otherwise OpenMP's idle threads spin: that would count against FAISS.
    variables = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=variables)
    report: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return report


def main() -> None:
    """Each size in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=CACHE.parent / "million")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--step", choices=("add", "index", "ask", "serve", "postgres"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    steps: dict[str, Callable[[], object]] = {
        "add": lambda: add(options.folder, options.chunks[0]),
        "index": lambda: index(options.folder),
        "ask": lambda: ask(options.folder, options.searches),
        "serve": lambda: serve(options.folder),
        "postgres": lambda: serve_postgres(options.folder),
    }
    if options.step:
        print(json.dumps(steps[options.step]()))
        return
    found = {}
    for chunks in options.chunks:
        found[chunks] = measured(options.folder, chunks, options.searches, options.peers, options.postgres)
        show(f"million, {chunks:,}", [(name, value, "") for name, value in found[chunks].items()], chunks=chunks)
    if options.plot:
        options.plot.write_text(growth_plot(list(found.values())), "utf-8")


if __name__ == "__main__":
    main()
