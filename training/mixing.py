"""Mixes a reader with the one that it was trained on from: `python -m training.mixing BEFORE AFTER OUT`.

The mean of both keeps what the reader knew before and has most of what it learned (Wortsman et al. 2022,
arXiv:2109.01903).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from answerable.datatypes import FloatArray
from answerable.e5.weights import Integers, ReaderWeights
from training.weights import write_weights

SHARE = 0.5


def mix(before: Path, after: Path, out: Path, share: float = SHARE) -> None:
    """Write `share` of the weights in `after` and the rest of those in `before`."""
    with np.load(after) as tensors:
        names = [name for name in tensors if name != "about" and not name.endswith(".scale")]
    old, new = ReaderWeights(before), ReaderWeights(after)
    mixed = {name: share * _exact(new, name) + (1 - share) * _exact(old, name) for name in names}
    write_weights(out, mixed, {**new.about, "share": share, "mixed with": old.about})


def _exact(weights: ReaderWeights, name: str) -> FloatArray:
    tensor = weights.tensor(name)
    return tensor.exact() if isinstance(tensor, Integers) else tensor


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.mixing", description=__doc__)
    for name in ("before", "after", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--share", type=float, default=SHARE, help="of the weights after training; default %(default)s")
    given = parser.parse_args()
    mix(given.before, given.after, given.out, given.share)


if __name__ == "__main__":
    main()
