"""From the sets to the reader's weights: `python -m training DATA FOLDER`. Run it again to continue.

DATA is `shared/data`. FOLDER keeps the tokenised corpus, the checkpoint, the curve of figures and, at the end or with
`--export`, `reader.npz` for `src/answerable/e5`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from torch.multiprocessing import spawn

from training.corpus import save
from training.export import export
from training.near import add_near, add_translations
from training.sets import read_sets
from training.train import Options, train


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--examples", type=int, default=600_000)
    parser.add_argument("--begin", metavar="WEIGHTS", default="", help="train a reader further from a reader.npz")
    parser.add_argument("--rate", type=float, default=1.2e-4, help="the highest learning rate")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--export", action="store_true", help="only write the weights of the last checkpoint")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    corpus = given.folder / "corpus.pkl"
    if not corpus.exists():
        print("reading the sets", file=sys.stderr, flush=True)
        trained, held = read_sets(given.data)
        for each in (trained, held):
            add_near(each)
            add_translations(each)
        save(corpus, trained, held)
    options = Options(examples=given.examples, rate=given.rate, processes=given.processes, begin=given.begin)
    if not given.export:
        spawn(train, (given.folder, options), given.processes)
    print(export(given.folder, options), flush=True)


if __name__ == "__main__":
    main()
