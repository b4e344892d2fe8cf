"""Numbers that others hand over → vectors that can be trusted: as many as there should be, of one length, finite."""

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
    """The vector of each text, embedded in batches. Raises ValueError when they can't be the vectors of these texts."""
    vectors: list[list[float]] = []
    for start in range(0, len(texts), BATCH):
        batch = list(texts[start : start + BATCH])
        returned = list(embedding_fn(batch))
        if len(returned) != len(batch):
            raise ValueError(f"embedding_fn returned {len(returned)} vectors for {len(batch)} texts")
        vectors += as_matrix(returned, "embedding_fn's vectors").tolist()
    if len({len(vector) for vector in vectors}) > 1:
        raise ValueError("embedding_fn's vectors differ in length between calls: they must all have one")
    return vectors


def as_matrix(vectors: Any, name: str) -> Doubles:
    """The vectors as rows, at least one; ValueError names them when they are ragged, empty or not finite."""
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
    """The rows at length 1 and the lengths they had; a row of zeros stays one, so that its every cosine is 0."""
    # Scaled first: the square of a large number may be too large, that of a small one nothing.
    largest = np.abs(matrix).max(axis=1)
    scaled = matrix / np.where(largest > 0, largest, 1)[:, None]
    lengths = np.linalg.norm(scaled, axis=1)
    unit = scaled / np.where(lengths > 0, lengths, 1)[:, None]
    return unit.astype(np.float32), lengths * largest
