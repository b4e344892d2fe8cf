"""The default store: a folder with an SQLite file of documents and, once there are many, a Qdrant Edge index.

Any process may write, since writes go to the database. A small library needs no index: its vectors and terms are
scored exactly, in memory. One process at a time holds the index (see `process`). Another process that searches
meanwhile scores exactly, too; if there are too many chunks for that, it waits for the index.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from answerable.datatypes import FloatArray
from answerable.disk.files import close_to_others, make_file
from answerable.errors import EmbedderMismatch, LibraryBusy, LibraryDamaged, LibraryError
from answerable.filters import Filter
from answerable.protocols import BatchStore, CountingStore, ErasingStore, Store, Unerased
from answerable.stores.embedded.file import Version, read_version
from answerable.stores.embedded.state import erased_in, forget_index
from answerable.stores.embedded.writing import DatabaseNextVectors, WritableDatabase
from answerable.stores.exact import ExactIndex, Scored
from answerable.text.terms import rarity

if TYPE_CHECKING:
    # Imported when a search needs the index: a small library has none.
    from filelock import FileLock

    from answerable.stores.embedded.process import EdgeClient

# Up to this number of chunks, reading all vectors costs less than starting the index's process.
INDEXED_FROM = 3_000
# Most chunks to compare in memory while another process has the index: 77 MB with 384 dimensions.
EXACT_UP_TO = 50_000
# Chunks; with fewer, a search through the full vectors is as fast.
QUANTIZED_FROM = 20_000
# Seconds to wait for the index that another process holds: a round number.
PATIENCE = 30.0
# Names of the files in a library's folder, besides the database.
_OWN = ("index", "index.lock", "index.process.lock", "index.pid", ".answerableignore")


Found = TypeVar("Found")


class EmbeddedStore(WritableDatabase, Store, BatchStore, CountingStore, ErasingStore):
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
        # Earlier versions created these files readable for other users.
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
            left = read_version(connection).last_removal - erased_in(self._folder / "index", self.identity)
        return Unerased(max(found.passages, left), found.erased)

    def erase(self) -> None:
        """Rewrite the database, then the parts of the index that had removed chunks.

        If another process has the index open, that process rewrites it before its next search. Raise LibraryReadOnly,
        LibraryBusy and DiskFull.
        """
        with self._searching:
            super().erase()
            self.refresh()

    def next_vectors(self) -> DatabaseNextVectors:
        return DatabaseNextVectors(self, self._release_index)

    def refresh(self) -> None:
        """Bring the index up to date, unless another process has it open, which will do so before its next search."""
        with self._searching:
            index = self._hold_index(wait=0) if self._is_indexed(self.count()[1]) else None
            if index is not None:
                index.catch_up()

    def repair(self, rebuild: bool = True) -> None:
        """Repair the database, in a new file if tables are damaged; with `rebuild`, have the index rebuilt.

        Raise LibraryBusy and LibraryDamaged (see `salvage`).
        """
        with self._searching:
            # The index's process has the database open.
            self._release_index()
            try:
                super().repair()
            except LibraryDamaged:
                from answerable.stores.embedded.mending import salvage

                with self.closed() as path:
                    salvage(path)
            if rebuild and (self._folder / "index").exists():
                # Leave an index that another process has open to that process.
                with contextlib.suppress(OSError), self._index_lock.acquire(timeout=0):
                    forget_index(self._folder / "index")

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        return self._search(ExactIndex.search_vectors, vector, k, where)

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        return self._search(ExactIndex.cosines, vector, numbers)

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        if rarities is None:
            chunks, counts = self.count()[1], self.document_frequency(terms)
            rarities = {term: rarity(chunks, count) for term, count in counts.items() if count}
        return self._search(ExactIndex.search_terms, list(rarities), k, where, rarities)

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        return self._search(ExactIndex.count_places, list(hashes), where)

    def close(self) -> None:
        """Close the index and the database. Idempotent."""
        with self._searching:
            self._release_index()
            super().close()

    @cached_property
    def _index_lock(self) -> FileLock:
        from filelock import FileLock

        # All threads share the lock: one thread may close an index that another has opened.
        return FileLock(self._folder / "index.lock", mode=0o600, thread_local=False)

    def _release_index(self) -> None:
        with self._searching:
            if self._index is not None:
                self._index.close()
                self._index = None
                self._index_lock.release()

    def _search(self, method: Callable[..., Found], *arguments: Any) -> Found:
        """Call this method of `ExactIndex` in memory, or the method of the same name in the index's process."""

        def search() -> Found:
            index = self._current_index()
            if isinstance(index, ExactIndex):
                return method(index, *arguments)
            found: Found = index.ask(method.__name__, *arguments)
            return found

        with self._searching:
            try:
                return search()
            except LibraryError:
                # The index's process has died: start a new one, or search without the index.
                return search()

    def _current_index(self) -> EdgeClient | ExactIndex:
        try:
            version = self.version()
        except EmbedderMismatch:
            # This store can't use the index any more, and other processes may be waiting for it.
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
            # The disk is probably full: the database can still be searched exactly.
            if not is_exact:
                raise
        if is_exact:
            return self._exact_index(version)
        raise LibraryBusy(
            f"Process {self._holder()} holds the index of {self._folder}. "
            "Ask through it, stop it, or try again when it is done."
        )

    def _is_indexed(self, chunks: int) -> bool:
        return chunks > self._indexed_from or self._index is not None or (self._folder / "index").exists()

    def _hold_index(self, wait: float) -> EdgeClient | None:
        if self._index is None:
            from answerable.stores.embedded.process import EdgeClient

            fingerprint = self.fingerprint
            if fingerprint is None or not self.is_writable:
                return None
            try:
                self._index_lock.acquire(timeout=wait)
            except OSError:
                # Another process holds the lock (Timeout is an OSError), or the file can't be locked.
                return None
            try:
                # Other processes name this id in their error if they wait too long. The disk may be full.
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
                    before, index = replace(version, last_number=0), ExactIndex()
                known = before.last_number, before.last_removal, before.last_filled
                with self.changes(*known) as (_, added, removed):
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
