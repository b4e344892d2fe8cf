"""Test how a text's vector is computed from the vectors of its windows."""

from __future__ import annotations

import numpy as np
import pytest

from answerable.embedding.vectors import means_of_windows, normalised


def test_windows_weigh_by_their_tokens() -> None:
    rows = np.eye(3, dtype=np.float32)
    found = means_of_windows([(0, 3), (1, 7), (0, 4)], rows, (3, 3))
    assert found.dtype == np.float32
    assert found.tolist() == [pytest.approx([0.6, 0, 0.8]), [0, 1, 0], [0, 0, 0]]


def test_without_texts_there_are_no_rows() -> None:
    assert means_of_windows([], [], (0, 3)).shape == (0, 3)


def test_a_vector_too_few_is_an_error() -> None:
    with pytest.raises(ValueError, match="shorter"):
        means_of_windows([(0, 1), (0, 1)], np.ones((1, 2), np.float32), (1, 2))


def test_rows_get_the_length_one_and_zeros_stay() -> None:
    found = normalised(np.array([[3, 4], [0, 0], [1e15, 0]], np.float32))
    assert np.allclose(found, [[0.6, 0.8], [0, 0], [1, 0]])
