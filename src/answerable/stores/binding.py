"""Which embedder's vectors an open store gives and takes, so that those of two are never mixed."""

from __future__ import annotations

from answerable.errors import EmbedderMismatch, LibraryError
from answerable.protocols import Fingerprint


class Binding:
    """The embedder that a store said its vectors come from, when it was first asked (or `bound`).

    Whoever was told makes vectors with it from then on: they don't go with any others.
    """

    def __init__(self, bound: Fingerprint | None = None) -> None:
        self._bound = bound

    def tell(self, found: Fingerprint | None) -> Fingerprint | None:
        """What is found, as the answer to who asks for it; the first one binds."""
        self._bound = self._bound or found
        return found

    def check(self, found: Fingerprint | None) -> None:
        """Raises EmbedderMismatch where the vectors have been made anew with another embedder since."""
        if self._bound is not None and found != self._bound:
            raise EmbedderMismatch(
                f"The library was opened with the embedder {self._bound}, and its vectors have been made anew with "
                f"{found or 'another'} since. Open it again with "
                + (f"the setting embedder = {found.provider}:{found.model}." if found else "that one.")
            )

    def move(self, fingerprint: Fingerprint) -> None:
        """Binds to the embedder that the store itself has just changed to."""
        self._bound = fingerprint


def other_gathering(there: Fingerprint, wanted: Fingerprint) -> EmbedderMismatch:
    """The error for gathering vectors of one embedder where those of another are being gathered."""
    return EmbedderMismatch(
        f"Vectors of the embedder {there} are being gathered for this library, not of {wanted}. Finish that with "
        "answerable reindex, or drop it with answerable reindex --abandon, then try again."
    )


def not_gathering() -> LibraryError:
    """The error for what was dropped, or finished by another process, while it was being gathered."""
    return LibraryError(
        "The vectors that were being gathered for this library are gone: another process has finished or dropped "
        "them. Run the same again to see what is left to do."
    )
