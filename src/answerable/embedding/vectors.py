"""Normalise vectors and average those of windows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from answerable.datatypes import FloatArray


def normalised(vectors: FloatArray) -> FloatArray:
    """Scale each row to length one; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: FloatArray = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return rows


def means_of_windows(
    windows: Sequence[tuple[int, int]], vectors: Iterable[FloatArray], shape: tuple[int, int]
) -> FloatArray:
    """Return the vectors of texts: the means of those of their windows, weighted by tokens, L2-normalised.

    `windows` are pairs of text number and tokens, in the order of `vectors`; `shape` is (number of texts, dimension).
    """
    sums = np.zeros(shape, np.float32)
    for (owner, tokens), vector in zip(windows, vectors, strict=True):
        sums[owner] += tokens * vector
    return normalised(sums)
