"""The default store: a folder with SQLite for the truth and Qdrant Edge as the index beside it.

Everybody may write, since writes go to the database. One process at a time holds the index; another that wants to
search meanwhile scores the database's vectors and terms exactly, or, where there are too many, waits a while.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from filelock import FileLock

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.errors import LibraryBusy
from answerable.filters import Filter
from answerable.protocols import Fingerprint, IndexedChunk, StoredDocument, SyncRecord
from answerable.stores.database import Database, Version
from answerable.stores.edge_index import EdgeIndex, Scored
from answerable.stores.exact import ExactIndex

EXACT_UP_TO = 50_000
PATIENCE = 30.0


class EmbeddedStore:
    """A library in a folder. `create` makes it where there is none; otherwise LibraryNotFound.

    While another process holds the index, up to `exact_up_to` chunks are searched without it; with more of them a
    search waits `patience` seconds for it.
    """

    def __init__(
        self, folder: Path, create: bool = True, exact_up_to: int = EXACT_UP_TO, patience: float = PATIENCE
    ) -> None:
        self._folder = folder
        self._exact_up_to = exact_up_to
        self._patience = patience
        self._database = Database(folder / "library.db", create)
        self._lock = threading.RLock()
        # Threads share it: any of them may close what another opened.
        self._index_lock = FileLock(folder / "index.lock", thread_local=False)
        self._index: EdgeIndex | None = None
        self._exact: tuple[Version, ExactIndex] | None = None

    @property
    def is_writable(self) -> bool:
        """Whether anything can be changed."""
        return self._database.is_writable

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder that made the vectors, None until there are any."""
        return self._database.fingerprint

    def claim(self, fingerprint: Fingerprint) -> None:
        """Binds the library to an embedder unless it is bound already."""
        self._database.claim(fingerprint)

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Makes a document visible, in one step with removing those it replaces; on disk when this returns."""
        self._database.put(document, chunks, replaces, record)

    def remove(self, document_id: str) -> bool:
        """Removes every trace of a document; False when there is none."""
        removed = self._database.remove(document_id)
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

    def refresh(self) -> None:
        """Brings the index up to date, unless another process holds it: then that one does so before it searches."""
        with self._lock:
            if self._database.count()[1] or self._index is not None or (self._folder / "index").exists():
                index = self._hold_index(wait=0)
                if index is not None:
                    index.catch_up()

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

    def languages(self) -> list[str]:
        """The languages of the documents, each once."""
        return self._database.languages()

    def count(self) -> tuple[int, int]:
        """How many documents and chunks there are."""
        return self._database.count()

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term stands."""
        return self._database.document_frequency(terms)

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Chunks with their documents (without parts)."""
        return self._database.fetch(numbers)

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """The k highest cosines, best first."""
        with self._lock:
            index = self._current_index()
            return index.search_vectors(vector, k, where)

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> Scored:
        """The k highest BM25 scores, best first."""
        with self._lock:
            index = self._current_index()
            if isinstance(index, ExactIndex):
                return index.search_terms(terms, k, where)
            return index.search_terms(self._database.document_frequency(terms), self._database.count()[1], k, where)

    def close(self) -> None:
        """Frees the index and the database. Closing twice is fine."""
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None
            self._index_lock.release()
            self._database.close()

    def _current_index(self) -> EdgeIndex | ExactIndex:
        version = self._database.version()
        if version.chunks == 0:
            return ExactIndex()
        # Where nothing can be written there is no index to wait for.
        is_exact = version.chunks <= self._exact_up_to or not self.is_writable
        index = self._hold_index(wait=0 if is_exact else self._patience)
        if index is not None:
            index.catch_up()
            return index
        if is_exact:
            return self._exact_index(version)
        raise LibraryBusy(
            f"Process {self._holder()} holds the index of {self._folder}. "
            "Ask through it, stop it, or try again when it is done."
        )

    def _hold_index(self, wait: float) -> EdgeIndex | None:
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
                (self._folder / "index.pid").write_text(str(os.getpid()))
                self._index = EdgeIndex(self._folder / "index", self._database, fingerprint.dimension)
            except BaseException:
                self._index_lock.release()
                raise
            self._exact = None
        return self._index

    def _exact_index(self, version: Version) -> ExactIndex:
        if self._exact is None or self._exact[0] != version:
            index = ExactIndex()
            with self._database.changes(0, version.last_removal) as (current, added, _):
                for entry in added:
                    index.add(entry.number, entry.vector, entry.terms, entry.fields)
            self._exact = current, index
        return self._exact[1]

    def _holder(self) -> str:
        try:
            return (self._folder / "index.pid").read_text().strip() or "?"
        except OSError:
            return "?"
