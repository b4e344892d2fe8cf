"""The default store: a folder with the documents in SQLite and, once there are many, a Qdrant Edge index beside it.

Any process may write, since writes go to the database. A small library needs no index: its vectors and terms are
scored exactly, in memory. One process at a time holds the index (see `index.client`); another that searches meanwhile
scores exactly too or, where there are too many chunks for that, waits.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from filelock import FileLock

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.disk.private import close_to_others, make_file
from answerable.errors import EmbedderMismatch, LibraryBusy, LibraryDamaged, LibraryError
from answerable.filters import Filter
from answerable.protocols import Difference, Fingerprint, IndexedChunk, Issue, StoredDocument, SyncRecord
from answerable.stores.embedded.database.database import Database, Version
from answerable.stores.embedded.database.next import DatabaseNextVectors
from answerable.stores.embedded.database.salvage import salvage
from answerable.stores.embedded.index.client import EdgeClient
from answerable.stores.memory.exact import ExactIndex
from answerable.stores.memory.keywords import Scored

# Up to here reading all vectors costs less than starting the index's process.
INDEXED_FROM = 3_000
EXACT_UP_TO = 50_000
# Below this many chunks the whole vectors are as quickly looked at.
QUANTIZED_FROM = 20_000
PATIENCE = 30.0
# Beside the database.
_OWN = ("index", "index.lock", "index.process.lock", "index.pid", ".answerableignore")


class EmbeddedStore:
    """A library in a folder. `create` makes it where there is none; otherwise LibraryNotFound.

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
        self._folder = folder
        self._indexed_from = indexed_from
        self._quantized_from = quantized_from
        self._exact_up_to = exact_up_to
        self._patience = patience
        self._database = Database(folder / "library.db", create)
        self._lock = threading.RLock()
        # Threads share it: any of them may close what another opened.
        self._index_lock = FileLock(folder / "index.lock", mode=0o600, thread_local=False)
        # As they were made by earlier versions.
        close_to_others(*(folder / name for name in _OWN))
        self._index: EdgeClient | None = None
        self._exact: tuple[Version, ExactIndex] | None = None

    @property
    def is_writable(self) -> bool:
        """Whether anything can be changed."""
        return self._database.is_writable

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder that made the vectors, None until there are any."""
        return self._database.fingerprint

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Binds the library to an embedder unless it is bound already."""
        self._database.bind_embedder(fingerprint)

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Makes a document visible, in one step with removing those it replaces; on disk when this returns."""
        self._database.put(document, chunks, replaces, record)

    def remove(self, *document_ids: str) -> bool:
        """Removes every trace of documents, of all in one step; False when there is none of them."""
        removed = self._database.remove(*document_ids)
        if removed:
            self.refresh()
        return removed

    def records(self, origin: str = "") -> list[SyncRecord]:
        """What is remembered of an origin, or of all, by origin and source."""
        return self._database.records(origin)

    def remember(self, records: Sequence[SyncRecord]) -> None:
        """Writes records, all or none; one of the same origin and source is replaced."""
        self._database.remember(records)

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Removes records; documents stay."""
        self._database.forget(origin, sources)

    def next_vectors(self) -> DatabaseNextVectors:
        """Where vectors of another embedder are gathered."""
        return DatabaseNextVectors(self._database, self._release_index)

    def refresh(self) -> None:
        """Brings the index up to date, unless another process holds it: then that one does so before it searches."""
        with self._lock:
            self._caught_up()

    def document(self, document_id: str) -> Document | None:
        """The whole document with its parts."""
        return self._database.document(document_id)

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Every document, or every one of a type, by source and id."""
        return self._database.documents(type)

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """The documents that have this id or, where it isn't empty, this source."""
        return self._database.lookup(document_id, source)

    def chunks(self, document_id: str) -> list[Chunk]:
        """A document's chunks in order."""
        return self._database.chunks(document_id)

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """A document's chunks in order, with everything that is kept of them."""
        return self._database.indexed_chunks(document_id)

    def languages(self) -> list[str]:
        """The languages of the documents, each once."""
        return self._database.languages()

    def count(self) -> tuple[int, int]:
        """How many documents and chunks there are."""
        return self._database.count()

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term stands."""
        return self._database.document_frequency(terms)

    def audit(self) -> list[Issue]:
        """What is wrong in the database, or else in the index, unless another process holds that."""
        found = self._database.audit()
        if found:
            return found
        return self._index_flaws()

    def repair(self) -> None:
        """Puts the database right as far as that is possible, and makes an index anew that differs from it."""
        with self._lock:
            # Its process has the database open.
            self._release_index()
            self._mend_database()
            if self._index_flaws() and self._index is not None:
                self._index.rebuild()

    def _mend_database(self) -> None:
        """Where tables are damaged, in a new file. Raises LibraryBusy and LibraryDamaged (see `salvage`)."""
        try:
            self._database.repair()
        except LibraryDamaged:
            with self._database.closed() as path:
                salvage(path)

    def _index_flaws(self) -> list[Issue]:
        with self._lock:
            try:
                index = self._caught_up()
                return index.audit() if index else []
            except LibraryError as error:
                return [Issue(Difference.DAMAGED, "index", str(error))]

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Chunks with their documents (without parts)."""
        return self._database.fetch(numbers)

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """The k highest cosines, best first."""
        return self._search(lambda index: index.search_vectors(vector, k, where))

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """The cosines of these chunks, best first."""
        return self._search(lambda index: index.cosines(vector, numbers))

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> Scored:
        """The k highest BM25 scores, best first."""

        def search(index: EdgeClient | ExactIndex) -> Scored:
            if isinstance(index, ExactIndex):
                return index.search_terms(terms, k, where)
            return index.search_terms(self._database.document_frequency(terms), self._database.count()[1], k, where)

        return self._search(search)

    def close(self) -> None:
        """Frees the index and the database. Closing twice is fine."""
        with self._lock:
            self._release_index()
            self._database.close()

    def _release_index(self) -> None:
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None
            self._index_lock.release()

    def _search(self, search: Callable[[EdgeClient | ExactIndex], Scored]) -> Scored:
        with self._lock:
            index = self._current_index()
            try:
                return search(index)
            except LibraryError:
                # Its process has died: it is started again, or done without.
                return search(self._current_index())

    def _current_index(self) -> EdgeClient | ExactIndex:
        try:
            version = self._database.version()
        except EmbedderMismatch:
            # What is held is of no use to this store any more, and may keep others waiting.
            self._release_index()
            raise
        if version.chunks == 0:
            return ExactIndex()
        if not self._is_indexed(version.chunks):
            return self._exact_index(version)
        # Where nothing can be written there is no index to wait for.
        is_exact = version.chunks <= self._exact_up_to or not self.is_writable
        try:
            index = self._hold_index(wait=0 if is_exact else self._patience)
            if index is not None:
                index.catch_up()
                return index
        except LibraryError:
            # Mostly a full disk: then what there is can still be searched, as long as the database can be read.
            if not is_exact:
                raise
        if is_exact:
            return self._exact_index(version)
        raise LibraryBusy(
            f"Process {self._holder()} holds the index of {self._folder}. "
            "Ask through it, stop it, or try again when it is done."
        )

    def _caught_up(self) -> EdgeClient | None:
        """The index as the database is now; None where there is none yet, or another process holds it."""
        index = self._hold_index(wait=0) if self._is_indexed(self._database.count()[1]) else None
        if index is not None:
            index.catch_up()
        return index

    def _is_indexed(self, chunks: int) -> bool:
        return chunks > self._indexed_from or self._index is not None or (self._folder / "index").exists()

    def _hold_index(self, wait: float) -> EdgeClient | None:
        if self._index is None:
            fingerprint = self._database.fingerprint
            if fingerprint is None or not self.is_writable:
                return None
            try:
                self._index_lock.acquire(timeout=wait)
            except OSError:
                # Held by another (a Timeout is one of these too), or not ours to lock.
                return None
            try:
                # Who waits is told whose it is, where there is room for that.
                with contextlib.suppress(OSError):
                    make_file(self._folder / "index.pid")
                    (self._folder / "index.pid").write_text(str(os.getpid()))
                self._index = EdgeClient(self._folder / "index", self._database.path, fingerprint, self._quantized_from)
            except BaseException:
                self._index_lock.release()
                raise
            self._exact = None
        return self._index

    def _exact_index(self, version: Version) -> ExactIndex:
        """The chunks in memory, with what came and went since the last search."""
        if self._exact is None or self._exact[0] != version:
            (before, index), self._exact = self._exact or (None, ExactIndex()), None
            with self._database.snapshot():
                version = self._database.version()
                if before is None or before.identity != version.identity:
                    before, index = Version(version.identity, 0, version.last_removal, 0), ExactIndex()
                with self._database.changes(before.last_number, before.last_removal) as (_, added, removed):
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
