"""Which rows of a matrix lie nearest to a query: by FAISS (Douze et al. 2024, arXiv:2401.08281), or by numpy."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray

Rows = npt.NDArray[np.int64]

# Two libraries round one sum differently, by far less than this: what lies so close to the last place may have it.
MARGIN = 1e-4


class VectorIndex(Protocol):
    """Unit vectors, shape (rows, dimension), that are searched by their inner product with a query."""

    def __init__(self, vectors: FloatArray) -> None: ...

    def candidates(self, queries: FloatArray, k: int) -> Iterator[Rows]:
        """For each query the k best rows and every other within `MARGIN` of them, in any order; k is 1 to rows."""
        ...


class NumpyIndex:
    """Exact search by one product of matrix and query."""

    def __init__(self, vectors: FloatArray) -> None:
        self._vectors = vectors

    def candidates(self, queries: FloatArray, k: int) -> Iterator[Rows]:
        """See `VectorIndex.candidates`."""
        for query in queries:
            scores = self._vectors @ query
            worst = np.partition(scores, -k)[-k]
            yield np.flatnonzero(scores > worst - MARGIN)


class FaissIndex:
    """Exact search by FAISS. Raises ImportError where the package faiss-cpu isn't installed."""

    def __init__(self, vectors: FloatArray) -> None:
        self._index: Any = import_module("faiss").IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)

    def candidates(self, queries: FloatArray, k: int) -> Iterator[Rows]:
        """See `VectorIndex.candidates`."""
        scores, _ = self._index.search(queries, k)
        for query, worst in zip(queries, scores[:, -1], strict=True):
            # A search for k keeps whichever of equal rows it likes; the range has all of them.
            _, _, rows = self._index.range_search(query[None], float(worst) - MARGIN)
            yield rows


def best_index() -> type[VectorIndex]:
    """FAISS where it is installed, else numpy: both find the same."""
    try:
        import_module("faiss")
    except ImportError:
        return NumpyIndex
    return FaissIndex
