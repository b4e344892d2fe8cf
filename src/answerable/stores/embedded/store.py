"""The default store: a folder with the documents in SQLite and, once there are many, a Qdrant Edge index beside it.

Any process may write, since writes go to the database. A small library needs no index: its vectors and terms are
scored exactly, in memory. One process at a time holds the index (see `index.client`); another that searches meanwhile
scores exactly too or, where there are too many chunks for that, waits.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from answerable.datatypes import FloatArray
from answerable.disk.private import close_to_others, make_file
from answerable.errors import EmbedderMismatch, LibraryBusy, LibraryDamaged, LibraryError
from answerable.filters import Filter
from answerable.protocols import Difference, Issue, Unerased
from answerable.stores.embedded.database.database import Database, Version
from answerable.stores.embedded.database.next_vectors import DatabaseNextVectors
from answerable.stores.embedded.database.rows import last_removal
from answerable.stores.embedded.database.salvage import salvage
from answerable.stores.embedded.index.client import EdgeClient
from answerable.stores.embedded.index.state import erased_in
from answerable.stores.memory.exact import ExactIndex
from answerable.stores.memory.keywords import Scored
from answerable.text.bm25 import rarity

# Up to this number of chunks, reading all vectors costs less than starting the index's process.
INDEXED_FROM = 3_000
EXACT_UP_TO = 50_000
# With fewer chunks, searching full vectors is as fast.
QUANTIZED_FROM = 20_000
PATIENCE = 30.0
# Beside the database.
_OWN = ("index", "index.lock", "index.process.lock", "index.pid", ".answerableignore")

Found = TypeVar("Found")


class EmbeddedStore(Database):
    """A library in a folder. `create` creates a missing library; otherwise raises LibraryNotFound.

    With more than `indexed_from` chunks the index is built; a library that has one goes on using it. While another
    process holds the index, up to `exact_up_to` chunks are searched without it; with more, a search waits `patience`
    seconds for it. With more than `quantized_from` chunks vectors are quantised.
    """

    def __init__(
        self,
        folder: Path,
        create: bool = True,
        exact_up_to: int = EXACT_UP_TO,
        patience: float = PATIENCE,
        quantized_from: int = QUANTIZED_FROM,
        indexed_from: int = INDEXED_FROM,
    ) -> None:
        super().__init__(folder / "library.db", create)
        self._folder = folder
        self._indexed_from = indexed_from
        self._quantized_from = quantized_from
        self._exact_up_to = exact_up_to
        self._patience = patience
        self._searching = threading.RLock()
        # Threads share it: any of them may close what another opened.
        self._index_lock = FileLock(folder / "index.lock", mode=0o600, thread_local=False)
        # Earlier versions left them open to others.
        close_to_others(*(folder / name for name in _OWN))
        self._index: EdgeClient | None = None
        self._exact: tuple[Version, ExactIndex] | None = None

    def remove(self, *document_ids: str) -> bool:
        """Remove these documents in one step; return False if none of them exists. `erase` rewrites the files."""
        removed = super().remove(*document_ids)
        if removed:
            self.refresh()
        return removed

    def unerased(self) -> Unerased:
        """Return how many removed chunks may have left data in the folder, and when it was last rewritten."""
        found = super().unerased()
        if not (self._folder / "index").exists():
            return found
        with self.snapshot() as connection:
            left = last_removal(connection) - erased_in(self._folder / "index", self.identity)
        return Unerased(max(found.passages, left), found.erased)

    def erase(self) -> None:
        """Rewrite the database, then the parts of the index that had removed chunks.

        If another process has the index open, that one rewrites it before its next search. Raise LibraryReadOnly,
        LibraryBusy and DiskFull.
        """
        with self._searching:
            super().erase()
            self._caught_up()

    def next_vectors(self) -> DatabaseNextVectors:
        """Return the object that collects vectors of another embedder."""
        return DatabaseNextVectors(self, self._release_index)

    def refresh(self) -> None:
        """Bring the index up to date, unless another process has it open: that one updates it before it searches."""
        with self._searching:
            self._caught_up()

    def audit(self) -> list[Issue]:
        """Return the faults of the database; if it has none, those of the index unless another process has it open."""
        return super().audit() or self._index_issues()

    def repair(self) -> None:
        """Repair the database, in a new file where tables are damaged, and rebuild an index that differs from it.

        Raise LibraryBusy and LibraryDamaged (see `salvage`).
        """
        with self._searching:
            # Its process has the database open.
            self._release_index()
            try:
                super().repair()
            except LibraryDamaged:
                with self.closed() as path:
                    salvage(path)
            if self._index_issues() and self._index is not None:
                self._index.rebuild()

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """Return number and cosine of the k chunks with the highest cosine, best first."""
        return self._search(lambda index: index.search_vectors(vector, k, where))

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """Return number and cosine of each of these chunks, best first."""
        return self._search(lambda index: index.cosines(vector, numbers))

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        """Return number and score of the k chunks with the highest BM25 score, best first."""

        def search(index: EdgeClient | ExactIndex) -> Scored:
            if isinstance(index, ExactIndex):
                return index.search_terms(terms, k, where, rarities)
            return index.search_terms(self._rarities(terms) if rarities is None else rarities, k, where)

        return self._search(search)

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        """Return how many chunks that pass `where` have each of these texts, by its hash (see `text.places`)."""
        return self._search(lambda index: index.count_places(hashes, where))

    def close(self) -> None:
        """Close the index and the database. Idempotent."""
        with self._searching:
            self._release_index()
            super().close()

    def _rarities(self, terms: Sequence[str]) -> dict[str, float]:
        chunks = self.count()[1]
        return {term: rarity(chunks, count) for term, count in self.document_frequency(terms).items() if count}

    def _index_issues(self) -> list[Issue]:
        with self._searching:
            try:
                index = self._caught_up()
                return index.audit() if index else []
            except LibraryError as error:
                return [Issue(Difference.DAMAGED, "index", str(error))]

    def _release_index(self) -> None:
        with self._searching:
            if self._index is not None:
                self._index.close()
                self._index = None
            self._index_lock.release()

    def _search(self, search: Callable[[EdgeClient | ExactIndex], Found]) -> Found:
        with self._searching:
            index = self._current_index()
            try:
                return search(index)
            except LibraryError:
                # Its process has died: start it again, or search without it.
                return search(self._current_index())

    def _current_index(self) -> EdgeClient | ExactIndex:
        try:
            version = self.version()
        except EmbedderMismatch:
            # The index is of no use to this store any more, and others may wait for it.
            self._release_index()
            raise
        if version.chunks == 0:
            return ExactIndex()
        if not self._is_indexed(version.chunks):
            return self._exact_index(version)
        # A library that can't be written has no index to wait for.
        is_exact = version.chunks <= self._exact_up_to or not self.is_writable
        try:
            index = self._hold_index(wait=0 if is_exact else self._patience)
            if index is not None:
                index.catch_up(version)
                return index
        except LibraryError:
            # Mostly a full disk: the database can still be searched.
            if not is_exact:
                raise
        if is_exact:
            return self._exact_index(version)
        raise LibraryBusy(
            f"Process {self._holder()} holds the index of {self._folder}. "
            "Ask through it, stop it, or try again when it is done."
        )

    def _caught_up(self) -> EdgeClient | None:
        """Bring the index up to date and return it; None if there is none or another process has it open."""
        index = self._hold_index(wait=0) if self._is_indexed(self.count()[1]) else None
        if index is not None:
            index.catch_up()
        return index

    def _is_indexed(self, chunks: int) -> bool:
        return chunks > self._indexed_from or self._index is not None or (self._folder / "index").exists()

    def _hold_index(self, wait: float) -> EdgeClient | None:
        if self._index is None:
            fingerprint = self.fingerprint
            if fingerprint is None or not self.is_writable:
                return None
            try:
                self._index_lock.acquire(timeout=wait)
            except OSError:
                # Another process holds it (Timeout is an OSError), or it can't be locked.
                return None
            try:
                # For the message to others that wait; the disk may be full.
                with contextlib.suppress(OSError):
                    make_file(self._folder / "index.pid")
                    (self._folder / "index.pid").write_text(str(os.getpid()))
                self._index = EdgeClient(self._folder / "index", self.path, fingerprint, self._quantized_from)
            except BaseException:
                self._index_lock.release()
                raise
            self._exact = None
        return self._index

    def _exact_index(self, version: Version) -> ExactIndex:
        """Return the index in memory, updated with the chunks added and removed since the last search."""
        if self._exact is None or self._exact[0] != version:
            (before, index), self._exact = self._exact or (None, ExactIndex()), None
            with self.snapshot():
                version = self.version()
                if before is None or before.identity != version.identity:
                    before, index = Version(version.identity, 0, version.last_removal, 0), ExactIndex()
                with self.changes(before.last_number, before.last_removal) as (_, added, removed):
                    for entry in added:
                        index.add(entry.number, entry.vector, entry.terms, entry.fields)
                    index.remove(removed)
            self._exact = version, index
        return self._exact[1]

    def _holder(self) -> str:
        try:
            return (self._folder / "index.pid").read_text().strip() or "?"
        except OSError:
            return "?"
