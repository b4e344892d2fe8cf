"""Binds an open store to one embedder, so that vectors of two embedders are never mixed."""

from __future__ import annotations

from answerable.errors import EmbedderMismatch, LibraryError
from answerable.protocols import Fingerprint


class Binding:
    """Remembers the embedder that the store reported first, with which the store's caller goes on embedding."""

    def __init__(self, bound: Fingerprint | None = None) -> None:
        self._bound = bound

    def tell(self, found: Fingerprint | None) -> Fingerprint | None:
        """Return `found`, the store's embedder, and pin it if none is pinned yet."""
        self._bound = self._bound or found
        return found

    def check(self, found: Fingerprint | None) -> None:
        """Raise EmbedderMismatch if `found`, the embedder of the stored vectors, differs from the pinned one."""
        if self._bound is not None and found != self._bound:
            raise EmbedderMismatch(
                f"The library was opened with the embedder {self._bound}, and its vectors have since been replaced by "
                f"those of {found or 'another'}. Open it again with "
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
    """Return the error for collecting vectors while those of another embedder are being collected."""
    return EmbedderMismatch(
        f"An unfinished reindex of this library uses the embedder {there}, not {wanted}. Finish it with "
        "answerable reindex, or drop it with answerable reindex --abandon, then try again."
    )


def not_gathering() -> LibraryError:
    """Return the error for using collected vectors that another process has dropped or put into use."""
    return LibraryError(
        "This reindex can't go on: another process has finished or abandoned it. "
        "Run the same command again to see what is left to do."
    )
