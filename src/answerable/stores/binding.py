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


def check_embedder(made_by: Fingerprint | None, used: Fingerprint) -> None:
    """Raise EmbedderMismatch if a library's vectors come from another embedder: they can't be compared."""
    if made_by is not None and made_by != used:
        raise EmbedderMismatch(
            f"This library was made with the embedder {made_by}, you are using {used}. "
            f"Use the one that made it (the setting embedder is {made_by.provider}:{made_by.model}), "
            "change the library's with `answerable reindex`, or add your documents to a new library with --library."
        )


def other_gathering(there: Fingerprint, wanted: Fingerprint) -> EmbedderMismatch:
    """Return the error for collecting vectors where those of another embedder are being collected."""
    return EmbedderMismatch(
        f"Vectors of the embedder {there} are being computed for this library, not of {wanted}. Finish that with "
        "answerable reindex, or drop it with answerable reindex --abandon, then try again."
    )


def not_gathering() -> LibraryError:
    """Return the error for collected vectors that another process has dropped or switched to."""
    return LibraryError(
        "The new vectors for this library are gone: another process has finished or dropped them. "
        "Run the command again to see what is left to do."
    )
