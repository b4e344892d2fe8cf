"""Test the files of reader weights: rounded matrices, exact shapes, clear errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from training.weights import write_weights

from answerable.e5.weights import Integers, ReaderWeights
from answerable.errors import EmbeddingError

MATRIX = np.array([[0.5, -1.27, 0.01], [0.0, 0.0, 0.0]], np.float32)
VECTOR = np.array([1.5, -0.25], np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "reader.npz"
    write_weights(made, {"l4.q.w": MATRIX, "l4.q.b": VECTOR}, {"examples": 7})
    return made


def test_matrices_are_rounded_to_a_hundred_and_twenty_seventh_of_the_rows_largest(path: Path) -> None:
    found = ReaderWeights(path).tensor("l4.q.w")
    assert isinstance(found, Integers)
    assert found.values.tolist() == [[50, -127, 1], [0, 0, 0]]
    assert np.abs(found.exact() - MATRIX).max() <= 1.27 / 127 / 2


def test_other_tensors_are_numbers(path: Path) -> None:
    weights = ReaderWeights(path)
    assert np.array_equal(weights.tensor("l4.q.b"), VECTOR)
    assert "l4.q.b" in weights
    assert "l3.q.b" not in weights
    assert weights.about == {"examples": 7}


@pytest.mark.parametrize("damage", [b"", b"no archive", None])
def test_damaged_weights_are_said_to_be(path: Path, damage: bytes | None) -> None:
    path.write_bytes(path.read_bytes()[:200] if damage is None else damage)
    with pytest.raises(EmbeddingError, match=r"reader\.npz"):
        ReaderWeights(path)


def test_the_packaged_weights_fit_into_a_wheel_and_say_how_they_were_made() -> None:
    weights = ReaderWeights("reader.npz")
    assert {"examples", "commit", "seed", "data"} <= weights.about.keys()
    import answerable.e5

    assert (Path(answerable.e5.__file__).parent / "reader.npz").stat().st_size < 25_000_000
