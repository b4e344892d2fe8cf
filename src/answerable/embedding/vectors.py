"""What embedders do with vectors once a model has given them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from answerable.datatypes import FloatArray


def normalised(vectors: FloatArray) -> FloatArray:
    """The rows, each of length one; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: FloatArray = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return rows


def means_of_windows(
    windows: Sequence[tuple[int, int]], vectors: Iterable[FloatArray], shape: tuple[int, int]
) -> FloatArray:
    """The vectors of texts from those of their windows: the means, weighted by tokens, L2-normalised.

    `windows` has the number of the text and the tokens of each window, in the order of `vectors`; `shape` is (number of
    texts, dimension).
    """
    sums = np.zeros(shape, np.float32)
    for (owner, tokens), vector in zip(windows, vectors, strict=True):
        sums[owner] += tokens * vector
    return normalised(sums)
