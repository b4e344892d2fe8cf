"""The methods that change an embedded library's SQLite file, each in one transaction; other writers wait."""

from __future__ import annotations

import shutil
import sqlite3
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from answerable.datatypes import Document
from answerable.errors import DiskFull, LibraryBusy, LibraryDamaged
from answerable.protocols import (
    Addition,
    Difference,
    Fingerprint,
    IndexedChunk,
    Issue,
    NextVectors,
    PassageVectors,
    SyncRecord,
    Unerased,
)
from answerable.stores import records
from answerable.stores.embedded.database import Database
from answerable.stores.embedded.file import (
    bind_embedder,
    count_terms,
    insert_document,
    read_erased,
    read_fingerprint,
    read_version,
    remove_document,
    write_erased,
    write_records,
)
from answerable.stores.records import other_reindex, reindex_ended


class WritableDatabase(Database):
    """A database with the methods of a `Store` that write, and those of `BatchStore` and `ErasingStore`."""

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Bind the library to an embedder unless it already has one."""
        with self.transaction() as connection:
            bind_embedder(connection, "fingerprint", fingerprint)

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Write a document and its record, and remove the documents it replaces, in one transaction."""
        with self._putting() as (connection, frequency):
            for document_id in sorted({document.id, *replaces}):
                remove_document(connection, document_id, frequency)
            insert_document(connection, document, chunks, frequency)
            write_records(connection, [record] if record else [])

    def put_all(self, additions: Sequence[Addition]) -> range:
        """Write documents and their records, and remove the documents they replace, in one transaction."""
        with self._putting() as (connection, frequency):
            for each in additions:
                for document_id in sorted(stored.id for stored in self.lookup(each.document.id, each.document.source)):
                    remove_document(connection, document_id, frequency)
                insert_document(connection, each.document, each.chunks, frequency)
            write_records(connection, [each.record for each in additions if each.record])
            end = read_version(connection).last_number + 1
        return range(end - sum(len(each.chunks) for each in additions), end)

    def fill(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Write vectors by chunk number, in one transaction; ignore chunks that have been removed."""
        with self._putting() as (connection, _):
            filled = "UPDATE chunks SET vector = ?, sentence_vectors = ? WHERE number = ?"
            connection.executemany(filled, ((*_vector_row(made), number) for number, made in vectors.items()))
            connection.executemany("INSERT INTO filled (number) VALUES (?)", ((number,) for number in vectors))

    def remove(self, *document_ids: str) -> bool:
        """Remove documents, their chunks and their share of the term counts."""
        with self._counting() as (connection, frequency):
            removed = [remove_document(connection, document_id, frequency) for document_id in document_ids]
        self.checkpoint()
        return any(removed)

    def unerased(self) -> Unerased:
        """Return how many removed chunks may have left data in the file, and when it was last rewritten."""
        with self.snapshot() as connection:
            removal, moment = read_erased(connection)
            return Unerased(max(0, read_version(connection).last_removal - removal), moment)

    def erase(self) -> None:
        """Rewrite the file and its log, since SQLite leaves copies of moved cells in the free space of its pages.

        Raise LibraryReadOnly, DiskFull, and LibraryBusy if another process reads the log for too long.
        """
        with self._locked() as connection:
            self._require_writable()
            removal = read_version(connection).last_removal
            needed = 2 * self.path.stat().st_size
            if shutil.disk_usage(self.path.parent).free < needed:
                raise DiskFull(f"Erasing what was removed from {self.path} needs {needed / 1e6:,.0f} MB of free space.")
            connection.execute("VACUUM")
            if not self.checkpoint():
                raise LibraryBusy(f"Another process is reading {self.path}. Erase again when it is done.")
            with self.transaction():
                write_erased(connection, removal, time.time())

    def records(self, origin: str = "") -> list[SyncRecord]:
        """Return the sync records of an origin, or of all, sorted by origin and source."""
        query = "SELECT * FROM records WHERE ? IN ('', origin) ORDER BY origin, source"
        with self._reading() as connection:
            return [records.sync_record_from_row(row) for row in connection.execute(query, (origin,))]

    def remember(self, kept: Sequence[SyncRecord]) -> None:
        """Write records in one transaction."""
        with self.transaction() as connection:
            write_records(connection, kept)

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Remove the sync records of these sources; the documents stay."""
        statement = "DELETE FROM records WHERE origin = ? AND source = ?"
        with self.transaction() as connection:
            connection.executemany(statement, ((origin, source) for source in sources))
        self.checkpoint()

    def audit(self) -> list[Issue]:
        """Return the faults of the file (see `mending`)."""
        from answerable.stores.embedded.mending import issues

        try:
            with self.snapshot() as connection:
                return issues(connection)
        except LibraryDamaged as error:
            return [Issue(Difference.DAMAGED, self.path.name, str(error))]

    def repair(self, rebuild: bool = True) -> None:
        """Remove unreadable and orphaned rows, and count terms again. Raise LibraryDamaged for damaged tables."""
        from answerable.stores.embedded.mending import repair

        with self.transaction() as connection, self.decoding():
            repair(connection)

    @contextmanager
    def _counting(self) -> Iterator[tuple[sqlite3.Connection, Counter[str]]]:
        """Write in one transaction; at its end, add the block's changes to the stored numbers of chunks per term."""
        frequency: Counter[str] = Counter()
        with self.transaction() as connection:
            yield connection, frequency
            count_terms(connection, frequency)

    @contextmanager
    def _putting(self) -> Iterator[tuple[sqlite3.Connection, Counter[str]]]:
        """Like `_counting`. Raise EmbedderMismatch if another embedder's vectors have replaced the old ones."""
        with self._counting() as (connection, frequency):
            with self.decoding():
                self.binding.check(read_fingerprint(connection, "fingerprint"))
            yield connection, frequency


_NEXT = "next_fingerprint"
_TABLE = """
CREATE TABLE IF NOT EXISTS next_vectors (
    number INTEGER PRIMARY KEY, vector BLOB NOT NULL, sentence_vectors BLOB NOT NULL
)
"""
_MISSING = "SELECT number FROM chunks WHERE number NOT IN (SELECT number FROM next_vectors)"
_SWITCH = """
UPDATE chunks SET (vector, sentence_vectors) =
    (SELECT vector, sentence_vectors FROM next_vectors WHERE next_vectors.number = chunks.number)
"""


class DatabaseNextVectors(NextVectors):
    """Vectors of another embedder, collected in a separate table; `switched` is called after a switch.

    They replace the library's vectors in one transaction: every process sees either all old or all new vectors. The
    table exists only while vectors are being collected.
    """

    def __init__(self, database: WritableDatabase, switched: Callable[[], None]) -> None:
        self._database = database
        self._switched = switched
        self._begun: Fingerprint | None = None

    @property
    def fingerprint(self) -> Fingerprint | None:
        with self._database.snapshot() as connection:
            return read_fingerprint(connection, _NEXT)

    def begin(self, fingerprint: Fingerprint) -> None:
        with self._database.transaction() as connection:
            connection.execute(_TABLE)
            bind_embedder(connection, _NEXT, fingerprint)
            there = read_fingerprint(connection, _NEXT)
            if there is not None and there != fingerprint:
                raise other_reindex(there, fingerprint)
        self._begun = fingerprint

    def missing(self) -> list[int]:
        with self._database.snapshot() as connection:
            query = _MISSING if read_fingerprint(connection, _NEXT) else "SELECT number FROM chunks"
            return [row["number"] for row in connection.execute(f"{query} ORDER BY number")]

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        rows = ((number, *_vector_row(found)) for number, found in vectors.items())
        with self._database.transaction() as connection:
            self._collecting(connection)
            connection.executemany("INSERT OR REPLACE INTO next_vectors VALUES (?, ?, ?)", rows)

    def switch(self) -> bool:
        with self._database.transaction() as connection:
            fingerprint = self._collecting(connection)
            if connection.execute(f"{_MISSING} LIMIT 1").fetchone():
                return False
            connection.execute(_SWITCH)
            connection.execute("DELETE FROM meta WHERE key = 'fingerprint'")
            bind_embedder(connection, "fingerprint", fingerprint)
            # A new identity makes every process rebuild its index.
            connection.execute("UPDATE meta SET value = ? WHERE key = 'identity'", (uuid.uuid4().hex,))
            _forget(connection)
        self._database.binding.move(fingerprint)
        self._database.checkpoint()
        self._switched()
        return True

    def drop(self) -> None:
        if self.fingerprint is not None:
            with self._database.transaction() as connection:
                _forget(connection)
            self._database.checkpoint()

    def _collecting(self, connection: sqlite3.Connection) -> Fingerprint:
        found = read_fingerprint(connection, _NEXT)
        if found is None or found != self._begun:
            raise reindex_ended()
        return found


def _vector_row(made: PassageVectors) -> tuple[bytes, bytes]:
    return records.vector_to_bytes(made.whole), records.quantize(made.spans)


def _forget(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE IF EXISTS next_vectors")
    connection.execute("DELETE FROM meta WHERE key = ?", (_NEXT,))
