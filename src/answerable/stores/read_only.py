"""The methods of a store that change something, for stores that change nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NoReturn

from answerable.datatypes import Document
from answerable.errors import LibraryReadOnly
from answerable.protocols import Fingerprint, IndexedChunk, Issue, NextVectors, SyncRecord


class ReadOnlyStore:
    """A base class; `why` says what to do instead. Every method raises LibraryReadOnly."""

    is_writable = False
    why = ""

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Raise LibraryReadOnly."""
        self._refuse()

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Raise LibraryReadOnly."""
        self._refuse()

    def remove(self, *document_ids: str) -> bool:
        """Raise LibraryReadOnly."""
        self._refuse()

    def remember(self, records: Sequence[SyncRecord]) -> None:
        """Raise LibraryReadOnly."""
        self._refuse()

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Raise LibraryReadOnly."""
        self._refuse()

    def refresh(self) -> None:
        """Raise LibraryReadOnly."""
        self._refuse()

    def audit(self) -> list[Issue]:
        """Raise LibraryReadOnly."""
        self._refuse()

    def repair(self) -> None:
        """Raise LibraryReadOnly."""
        self._refuse()

    def next_vectors(self) -> NextVectors:
        """Raise LibraryReadOnly."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise LibraryReadOnly(self.why)
