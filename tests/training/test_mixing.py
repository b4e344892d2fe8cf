"""Weights of two readers, mixed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from training.mixing import _exact, mix
from training.weights import write_weights

from answerable.e5.weights import ReaderWeights


def test_weights_are_mixed_by_their_share(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    paths = tmp_path / "before.npz", tmp_path / "after.npz"
    matrices = [draw.normal(size=(3, 4)).astype(np.float32) for _ in paths]
    for number, (path, matrix) in enumerate(zip(paths, matrices, strict=True)):
        write_weights(path, {"w": matrix, "b": np.full(2, number, np.float32)}, {"examples": number})
    mix(*paths, tmp_path / "mixed.npz", share=0.25)
    mixed = ReaderWeights(tmp_path / "mixed.npz")
    assert _exact(mixed, "w") == pytest.approx(0.75 * matrices[0] + 0.25 * matrices[1], abs=0.05)
    assert list(_exact(mixed, "b")) == [0.25, 0.25]
    assert mixed.about == {"examples": 1, "share": 0.25, "mixed with": {"examples": 0}}
