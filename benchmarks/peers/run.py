"""Answerable side by side with what people would pick, each with its own pieces around the same embedder.

    .venv/bin/python benchmarks/peers/run.py ../shared/data                      # all of it
    .venv/bin/python benchmarks/peers/run.py ../shared/data --only answerable_   # our column anew, beside what is there

Makes an environment for each system, measures, and writes `RESULTS.md` and `results.json` beside this file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# A script's own folder is where Python looks first: there, `haystack.py` would hide Haystack.
sys.path[0] = str(HERE.parent)

SETS = {
    "scifact": "en",
    "cranfield": "en",
    "faquad": "pt",
    "xquad/en": "en",
    "xquad/es": "es",
    "squad2/en-dev": "en",
    "squad2/es-dev": "es",
    "squad2/pt-dev": "pt",
}
"""The development sets and their languages."""
TIMED = "scifact"
"""The set that costs are measured on."""


def main() -> None:
    """Runs what the command line says."""
    from measuring import ROOT, machine

    from peers.comparison import Sets, costs, merge, rank
    from peers.embedding_server import serving
    from peers.systems import OURS, PEERS
    from peers.table import tables

    # The quality tests' embedder keeps the vectors of the sets between runs.
    sys.path.append(str(ROOT / "tests"))
    from quality.harness import QueryCachingEmbedder

    systems = (OURS, *PEERS)
    asked = _arguments([system.module for system in systems])
    wanted = [system for system in systems if not asked.only or system.module in asked.only]
    kept, page = asked.out / "results.json", asked.out / "RESULTS.md"
    results = json.loads(kept.read_text("utf-8")) if kept.is_file() else {}

    def keep(found: dict[str, dict[str, object]]) -> None:
        merge(results, found, sets.questions)
        kept.write_text(json.dumps({**results, "machine": machine()}, indent=1) + "\n", "utf-8")
        page.write_text(f"# Side by side\n\n{tables(systems, results, list(SETS), TIMED)}\n", "utf-8")

    with tempfile.TemporaryDirectory() as folder, serving(QueryCachingEmbedder()) as port:
        languages = {name: SETS[name] for name in asked.sets or SETS}
        sets = Sets(asked.data, Path(folder), languages, asked.questions)
        for system in wanted:
            keep({system.module: rank(system, sets, port)})
        if asked.rounds:
            corpus = Sets(asked.data, Path(folder), {TIMED: SETS[TIMED]}).files[TIMED]
            keep(costs(wanted, corpus, port, asked.rounds))
    print(page.read_text("utf-8"))


def _arguments(modules: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of the development sets")
    parser.add_argument("--only", choices=modules, action="append", help="only this system; may be repeated")
    parser.add_argument("--sets", choices=SETS, action="append", help="only this set; may be repeated")
    parser.add_argument("--questions", type=int, help="at most so many of a set, drawn once; all where not given")
    parser.add_argument("--rounds", type=int, default=5, help="how often costs are measured; 0: not")
    parser.add_argument("--out", type=Path, default=HERE, help="where RESULTS.md and results.json go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
