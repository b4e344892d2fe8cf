"""A library on a Qdrant server: documents, sync records, passages, vectors and terms in two collections.

A document and its chunks become visible by one change of one point; `head` describes the protocol. A process caches
only data that never changes, so any number of processes and machines may read and write; writers take turns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from answerable.datatypes import Document
from answerable.errors import LibraryError, LibraryReadOnly
from answerable.protocols import Fingerprint, IndexedChunk, Issue, SyncRecord
from answerable.stores.hashed import field_numbers
from answerable.stores.qdrant import audit, points, schema
from answerable.stores.qdrant.address import parse_address
from answerable.stores.qdrant.connection import Connection
from answerable.stores.qdrant.head import VERSION, Head
from answerable.stores.qdrant.next_vectors import QdrantNextVectors
from answerable.stores.qdrant.reader import QdrantReader, check_dimension
from answerable.stores.qdrant.writing import LEASE, Lease, Writer


class QdrantStore(QdrantReader):
    """A library at an address (see `address`). `create` creates a missing one; `key` is the server's API key.

    Another process may take over a write that hasn't renewed its lease for `lease` seconds. Safe to share between
    threads. Raises LibraryNotFound, LibraryFormatError, LibraryError and SettingsError.
    """

    def __init__(self, address: str, create: bool = True, key: str = "", lease: float = LEASE) -> None:
        connection = Connection(parse_address(address), key)
        try:
            made = schema.prepare(connection, create)
            super().__init__(made)
            self._writer = Writer(made, lease)
            self._indexed: dict[str, set[str]] = {}
            self._is_writable = self._may_write()
            self.refresh()
        except BaseException:
            connection.close()
            raise

    @property
    def is_writable(self) -> bool:
        """Whether the API key allows writes."""
        return self._is_writable

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Bind the library to an embedder unless it already has one."""
        if self._point.read().fingerprint is None:
            self._writer.write(
                lambda lease: None if lease.head.fingerprint else replace(lease.head, fingerprint=fingerprint)
            )
        if self._is_writable:
            self._ready_for_chunks(self._point.known())

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Store a document with its chunks and record, and remove the documents it replaces, in one step."""
        kept = [record] if record else []

        def put(lease: Lease) -> Head:
            self._send_chunks(lease, chunks)
            lease.send(lease.head.collection, points.document_points(document, len(chunks), lease.first))
            head = self._without_documents(lease.head, {document.id, *replaces})
            head = replace(head, documents=head.documents + 1, chunks=head.chunks + len(chunks))
            return self._with_records(head, lease, kept, lease.first + 1)

        self._writer.write(put, 1 + len(kept), len(chunks))

    def remove(self, *document_ids: str) -> bool:
        """Remove these documents in one step; return False if none of them exists.

        Their bytes stay in the server's files until it optimises the segment.
        """
        return self._writer.write(lambda lease: _changed(lease, self._without_documents(lease.head, document_ids)))

    def remember(self, records: Sequence[SyncRecord]) -> None:
        """Write sync records, all or none; each replaces the record with its origin and source."""
        latest = list({(record.origin, record.source): record for record in records}.values())
        if latest:
            self._writer.write(lambda lease: self._with_records(lease.head, lease, latest, lease.first), len(latest))

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Remove the sync records of these sources; the documents stay."""
        keys = [points.record_key(origin, source) for source in sources]
        self._writer.write(lambda lease: _changed(lease, self._without_records(lease.head, keys)))

    def next_vectors(self) -> QdrantNextVectors:
        """Return the object that collects vectors of another embedder."""
        return QdrantNextVectors(self._point, self._writer, self._binding_of(self._point.read()))

    def refresh(self) -> None:
        """Erase points left by interrupted writers; the server itself keeps the indexes up to date."""
        if self._is_writable:
            self._writer.tidy()

    def audit(self) -> list[Issue]:
        """Return the faults of the collections (see `qdrant.audit`), all from one consistent state."""
        return self._point.consistent(lambda head: audit.issues(self._connection, head))

    def repair(self) -> None:
        """Repair what `audit` finds."""
        self._writer.write(lambda lease: audit.repair(self._connection, lease))

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._connection.close()

    def _may_write(self) -> bool:
        try:
            self._point.may_write()
        except LibraryReadOnly:
            return False
        return True

    def _without_documents(self, head: Head, ids: Collection[str]) -> Head:
        """Return the head with the versions of these documents hidden; unknown ids are ignored."""
        keys = [points.key("id", document_id) for document_id in ids]
        found = self._found(head, "document", keys, (VERSION, "chunks")) if keys else []
        dropped = head.without(payload[VERSION] for payload in found)
        chunks = sum(payload["chunks"] for payload in found)
        return replace(dropped, documents=head.documents - len(found), chunks=head.chunks - chunks)

    def _without_records(self, head: Head, keys: Sequence[str]) -> Head:
        found = self._found(head, "record", keys, (VERSION,)) if keys else []
        return head.without(payload[VERSION] for payload in found)

    def _with_records(self, head: Head, lease: Lease, records: Sequence[SyncRecord], first: int) -> Head:
        """Upload records; return the head with the records that they replace hidden."""
        lease.send(head.collection, (points.record_point(one, version) for version, one in enumerate(records, first)))
        return self._without_records(head, [points.record_key(record.origin, record.source) for record in records])

    def _ready_for_chunks(self, head: Head) -> set[str]:
        """Create the chunks' collection if it is missing; return the keys known to be indexed in it."""
        if head.chunk_collection not in self._indexed:
            schema.make_chunks(self._connection, head)
            self._indexed[head.chunk_collection] = set()
        return self._indexed[head.chunk_collection]

    def _send_chunks(self, lease: Lease, chunks: Sequence[IndexedChunk]) -> None:
        head = lease.head
        if not chunks:
            return
        if head.fingerprint is None:
            raise LibraryError("The library isn't bound to an embedder yet. Bind one before adding documents.")
        self._binding_of(head).check(head.fingerprint)
        for chunk in chunks:
            check_dimension(head, chunk.vector)
        keys = {key for chunk in chunks for key in field_numbers(chunk.fields)}
        schema.index_fields(self._connection, head.chunk_collection, keys, self._ready_for_chunks(head))
        lease.renew()
        numbered = enumerate(chunks, lease.after_number + 1)
        lease.send(head.chunk_collection, (points.chunk_point(one, number, lease.first) for number, one in numbered))


def _changed(lease: Lease, head: Head) -> Head | None:
    return head if head.hidden != lease.head.hidden else None
