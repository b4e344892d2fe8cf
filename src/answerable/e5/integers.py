"""Matrices as integers with scales: of 8 bits, a quarter of the size and faster than bfloat16, or of 4 bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray

LARGEST = 127
MIDDLE = 8


@dataclass(frozen=True, slots=True)
class Integers:
    """A matrix: `values` of shape (rows, columns), times `scales` of shape (rows,)."""

    values: npt.NDArray[np.int8]
    scales: FloatArray

    def exact(self) -> FloatArray:
        """Return the matrix in float32."""
        matrix: FloatArray = self.values.astype(np.float32) * self.scales[:, None]
        return matrix


@dataclass(frozen=True, slots=True)
class FourBits:
    """A matrix: `values` of shape (rows, groups, 16), each minus MIDDLE, times `scales` of shape (rows, groups).

    A byte holds two values, the first in its lower half.
    """

    values: npt.NDArray[np.uint8]
    scales: FloatArray


def rounded(matrix: FloatArray) -> Integers:
    """Round a matrix to integers; the largest value of each row becomes 127 or -127."""
    scales = np.maximum(np.abs(matrix).max(axis=1) / LARGEST, np.finfo(np.float32).tiny).astype(np.float32)
    return Integers(np.rint(matrix / scales[:, None]).astype(np.int8), scales)
