"""Checks of vectors that come from outside: their number, one length, finite values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray

BATCH = 64

EmbeddingFunction: TypeAlias = Callable[[list[str]], list[list[float]]]
Doubles: TypeAlias = npt.NDArray[np.float64]


def embed(embedding_fn: EmbeddingFunction, texts: Sequence[str]) -> list[list[float]]:
    """Embed texts in batches. Raises ValueError when the result can't be the vectors of these texts."""
    vectors: list[list[float]] = []
    for start in range(0, len(texts), BATCH):
        batch = list(texts[start : start + BATCH])
        returned = _as_list(embedding_fn(batch))
        if len(returned) != len(batch):
            raise ValueError(f"embedding_fn returned {len(returned)} vectors for {len(batch)} texts")
        vectors += as_matrix(returned, "embedding_fn's vectors").tolist()
    if len({len(vector) for vector in vectors}) > 1:
        raise ValueError("embedding_fn's vectors differ in length between calls: they must all have one")
    return vectors


def _as_list(returned: Any) -> list[Any]:
    try:
        return list(returned)
    except TypeError as error:
        kind = type(returned).__name__
        raise ValueError(f"embedding_fn returned {kind}: it must return a list with a vector for each text") from error


def as_matrix(vectors: Any, name: str) -> Doubles:
    """Return the vectors as rows. Raises ValueError, with `name`, when they are ragged, empty or not finite."""
    try:
        matrix = np.asarray(vectors, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be lists of numbers, all of one length") from error
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"{name} must be lists of at least one number, all of one length")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be finite: there is a NaN or an infinity among them")
    return matrix


def normalize(matrix: Doubles) -> tuple[FloatArray, Doubles]:
    """Return the rows scaled to length 1, and their lengths; a row of zeros stays zero, with cosine 0 to any other."""
    # Scaled first: squares of large numbers overflow, those of small ones underflow.
    largest = np.abs(matrix).max(axis=1)
    scaled = matrix / np.where(largest > 0, largest, 1)[:, None]
    lengths = np.linalg.norm(scaled, axis=1)
    unit = scaled / np.where(lengths > 0, lengths, 1)[:, None]
    return unit.astype(np.float32), lengths * largest
