"""Vectors of another embedder, gathered in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from answerable.protocols import Fingerprint, PassageVectors
from answerable.stores.binding import not_gathering, other_gathering

Switch = Callable[[Fingerprint, Mapping[int, PassageVectors]], bool]


class MemoryNextVectors:
    """What is gathered for a store in memory. Follows `protocols.NextVectors`.

    `numbers` gives those of the store's chunks; `switch` changes the vectors of all of them, and gives False without
    changing any where it has chunks that aren't among them.
    """

    def __init__(self, numbers: Callable[[], list[int]], switch: Switch) -> None:
        self._numbers = numbers
        self._switch = switch
        self._fingerprint: Fingerprint | None = None
        self._vectors: dict[int, PassageVectors] = {}

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder whose vectors are being gathered, None where none are."""
        return self._fingerprint

    def begin(self, fingerprint: Fingerprint) -> None:
        """Begins, or goes on with what is there. Raises EmbedderMismatch where that is another embedder's."""
        if self._fingerprint not in (None, fingerprint):
            assert self._fingerprint is not None
            raise other_gathering(self._fingerprint, fingerprint)
        self._fingerprint = fingerprint

    def missing(self) -> list[int]:
        """The numbers of the chunks whose vectors haven't been gathered yet, in order."""
        return [number for number in self._numbers() if number not in self._vectors]

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Keeps vectors of chunks, by number."""
        self._gathering()
        self._vectors.update(vectors)

    def switch(self) -> bool:
        """Puts them in the place of the store's, in one step; False where some are missing."""
        if not self._switch(self._gathering(), self._vectors):
            return False
        self.drop()
        return True

    def drop(self) -> None:
        """Forgets what was gathered."""
        self._fingerprint, self._vectors = None, {}

    def _gathering(self) -> Fingerprint:
        if self._fingerprint is None:
            raise not_gathering()
        return self._fingerprint
