"""Vectors of another embedder, collected in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from answerable.protocols import Fingerprint, PassageVectors
from answerable.stores.binding import not_gathering, other_gathering

Switch = Callable[[Fingerprint, Mapping[int, PassageVectors]], bool]


class MemoryNextVectors:
    """Collected vectors of a store in memory. Follows `protocols.NextVectors`.

    `numbers` returns the numbers of the store's chunks; `switch` replaces all their vectors, or returns False if some
    are missing.
    """

    def __init__(self, numbers: Callable[[], list[int]], switch: Switch) -> None:
        self._numbers = numbers
        self._switch = switch
        self._fingerprint: Fingerprint | None = None
        self._vectors: dict[int, PassageVectors] = {}

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder whose vectors are being collected, None if there are none."""
        return self._fingerprint

    def begin(self, fingerprint: Fingerprint) -> None:
        """Begin or resume collecting. Raise EmbedderMismatch if vectors of another embedder are being collected."""
        if self._fingerprint not in (None, fingerprint):
            assert self._fingerprint is not None
            raise other_gathering(self._fingerprint, fingerprint)
        self._fingerprint = fingerprint

    def missing(self) -> list[int]:
        """Return the numbers of the chunks without a collected vector, in order."""
        return [number for number in self._numbers() if number not in self._vectors]

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Keep vectors by chunk number."""
        self._gathering()
        self._vectors.update(vectors)

    def switch(self) -> bool:
        """Replace the store's vectors in one step; return False if some are missing."""
        if not self._switch(self._gathering(), self._vectors):
            return False
        self.drop()
        return True

    def drop(self) -> None:
        """Delete all collected vectors."""
        self._fingerprint, self._vectors = None, {}

    def _gathering(self) -> Fingerprint:
        if self._fingerprint is None:
            raise not_gathering()
        return self._fingerprint
