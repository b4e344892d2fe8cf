"""The embedder whose vectors an open store reads and writes, so that those of two are never mixed."""

from __future__ import annotations

from answerable.errors import EmbedderMismatch, LibraryError
from answerable.protocols import Fingerprint


class Binding:
    """The embedder that a store named when it was first asked; its caller makes vectors with that one from then on."""

    def __init__(self, bound: Fingerprint | None = None) -> None:
        self._bound = bound

    def tell(self, found: Fingerprint | None) -> Fingerprint | None:
        """Return the fingerprint; the first call pins it."""
        self._bound = self._bound or found
        return found

    def check(self, found: Fingerprint | None) -> None:
        """Raise EmbedderMismatch if the vectors were replaced by another embedder's."""
        if self._bound is not None and found != self._bound:
            raise EmbedderMismatch(
                f"The library was opened with the embedder {self._bound}, and its vectors were replaced by those of "
                f"{found or 'another'} since. Open it again with "
                + (f"the setting embedder = {found.provider}:{found.model}." if found else "that one.")
            )

    def move(self, fingerprint: Fingerprint) -> None:
        """Pin another embedder, after the store itself replaced the vectors."""
        self._bound = fingerprint


def other_gathering(there: Fingerprint, wanted: Fingerprint) -> EmbedderMismatch:
    """Return the error for collecting vectors where those of another embedder are being collected."""
    return EmbedderMismatch(
        f"Vectors of the embedder {there} are being gathered for this library, not of {wanted}. Finish that with "
        "answerable reindex, or drop it with answerable reindex --abandon, then try again."
    )


def not_gathering() -> LibraryError:
    """Return the error for collected vectors that another process has dropped or switched to."""
    return LibraryError(
        "The vectors that were gathered for this library are gone: another process has finished or dropped them. "
        "Run the same again to see what is left to do."
    )
