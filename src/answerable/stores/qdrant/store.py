"""A library on a Qdrant server, for people who run one: documents, vectors, terms and sync records in two collections.

A document and its chunks become visible by one change of one point, whose workings `qdrant_state` describes. Nothing is
kept in this process but copies of what never changes, so that any number of processes and machines may read and write.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.errors import LibraryError, LibraryReadOnly
from answerable.filters import Filter
from answerable.protocols import Fingerprint, IndexedChunk, Issue, StoredDocument, SyncRecord
from answerable.stores.binding import Binding
from answerable.stores.memory.keywords import Scored
from answerable.stores.qdrant import audit as qdrant_audit
from answerable.stores.qdrant import rows
from answerable.stores.qdrant import schema as qdrant_schema
from answerable.stores.qdrant.address import parse_address
from answerable.stores.qdrant.connection import Connection, models
from answerable.stores.qdrant.next import QdrantNextVectors
from answerable.stores.qdrant.reading import Reading
from answerable.stores.qdrant.search import Search, check_dimension
from answerable.stores.qdrant.state import State, Writing
from answerable.stores.qdrant.values import field_numbers
from answerable.stores.qdrant.writing import LEASE, Dropped, Upload, Writer

Result = TypeVar("Result")

# A server takes requests of up to 32 MB, and a character may become six bytes.
_CHARACTERS_AT_ONCE = 4_000_000


class QdrantStore:
    """A library at an address (see `qdrant_address`). `create` makes it where there is none; `key` is the server's.

    A write of this store that hasn't been heard of for `lease` seconds is given up by others. `collection` is one to
    use instead of that which the library's name stands for. Safe to share between threads. Raises LibraryNotFound,
    LibraryFormatError, LibraryError and SettingsError.
    """

    def __init__(
        self, address: str, create: bool = True, key: str = "", lease: float = LEASE, collection: str = ""
    ) -> None:
        self._connection = Connection(parse_address(address), key)
        try:
            if collection:
                self._root = qdrant_schema.make(self._connection, collection)
            else:
                self._root = qdrant_schema.prepare(self._connection, create)
            self._reading = Reading(self._connection)
            self._search = Search(self._connection)
            self._writer = Writer(self._root, lease)
            self._binding = Binding()
            self._identity = ""
            self._indexed: dict[str, set[str]] = {}
            self._is_writable = self._may_write()
            if self._is_writable:
                self._writer.tidy(thoroughly=True)
        except BaseException:
            self._connection.close()
            raise

    @property
    def is_writable(self) -> bool:
        """Whether anything can be changed."""
        return self._is_writable

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder that made the vectors, None until there are any."""
        state = self._root.read()
        return self._binding_of(state).tell(state.fingerprint)

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Binds the library to an embedder unless it is bound already."""
        state = self._root.read()
        if state.fingerprint is None:
            state = self._root.change(
                lambda now: None if now.fingerprint else replace(now, fingerprint=fingerprint), state
            )
        if self._is_writable:
            self._ready_for_chunks(state)

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Makes a document visible, in one step with removing those it replaces and with writing a record."""
        keys = [rows.key("id", document_id) for document_id in {document.id, *replaces}]
        records = [record] if record else []

        def send(state: State, note: Writing, renew: Callable[[], None]) -> None:
            self._send_chunks(state, note, chunks, renew)
            points = rows.document_points(document, len(chunks), note.first)
            points += [rows.record_point(record, note.last) for record in records]
            self._send(state.collection, points, renew)

        def replaced(state: State) -> Dropped:
            documents = self._reading.dropping(state, "document", keys)
            of_records = self._reading.dropping(state, "record", _record_keys(records))
            return replace(documents, generations=documents.generations + of_records.generations)

        self._writer.write(Upload(send, 1 + len(records), len(chunks), documents=1), replaced)

    def remove(self, *document_ids: str) -> bool:
        """Removes every trace of documents, of all in one step; False when there is none of them."""
        keys = [rows.key("id", document_id) for document_id in document_ids]
        return self._writer.drop(lambda state: self._reading.dropping(state, "document", keys))

    def records(self, origin: str = "") -> list[SyncRecord]:
        """What is remembered of an origin, or of all, by origin and source."""
        keys = [rows.key("origin", origin)] if origin else []
        return self._root.consistent(lambda state: self._reading.sync_records(state, keys))

    def remember(self, records: Sequence[SyncRecord]) -> None:
        """Writes records, all or none; one of the same origin and source is replaced."""
        latest = list({(record.origin, record.source): record for record in records}.values())

        def send(state: State, note: Writing, renew: Callable[[], None]) -> None:
            points = (rows.record_point(record, generation) for generation, record in enumerate(latest, note.first))
            self._send(state.collection, points, renew)

        if latest:
            keys = _record_keys(latest)
            self._writer.write(Upload(send, len(latest)), lambda state: self._reading.dropping(state, "record", keys))

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Removes records; documents stay."""
        keys = [rows.record_key(origin, source) for source in sources]
        self._writer.drop(lambda state: self._reading.dropping(state, "record", keys))

    def next_vectors(self) -> QdrantNextVectors:
        """Where vectors of another embedder are gathered."""
        send = lambda collection, points: self._send(collection, points, lambda: None)  # noqa: E731
        return QdrantNextVectors(self._root, self._binding_of(self._root.read()), send)

    def refresh(self) -> None:
        """Erases what writers that were interrupted have left; the server keeps its indexes up to date by itself."""
        if self._is_writable:
            self._writer.tidy(thoroughly=True)

    def document(self, document_id: str) -> Document | None:
        """The whole document with its parts."""
        return self._root.consistent(lambda state: self._reading.document(state, document_id))

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Every document, or every one of a type, by source and id."""
        keys = [rows.key("type", type)] if type else []
        return iter(self._root.consistent(lambda state: self._reading.documents(state, keys)))

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """The documents that have this id or, where it isn't empty, this source."""
        keys = [rows.key("id", document_id), *([rows.key("source", source)] if source else [])]
        return self._root.consistent(lambda state: self._reading.documents(state, keys))

    def chunks(self, document_id: str) -> list[Chunk]:
        """A document's chunks in order."""
        return self._root.consistent(lambda state: self._reading.chunks(state, document_id))

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """A document's chunks in order, with everything that is kept of them."""
        return self._bound(lambda state: self._reading.indexed_chunks(state, document_id))

    def languages(self) -> list[str]:
        """The languages of the documents, each once."""
        return self._root.consistent(self._reading.languages)

    def count(self) -> tuple[int, int]:
        """How many documents and chunks there are."""
        state = self._root.read()
        return state.documents, state.chunks

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """The k highest cosines, best first."""
        return self._bound(lambda state: self._search.vectors(state, vector, k, where))

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """The cosines of these chunks, best first."""
        return self._bound(lambda state: self._search.cosines(state, vector, numbers))

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> Scored:
        """The k highest BM25 scores, best first."""
        return self._root.consistent(lambda state: self._search.terms(state, terms, k, where))

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Chunks with their documents (without parts); unknown numbers are left out."""
        return self._bound(lambda state: self._reading.fetch(state, numbers))

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term stands."""
        wanted = list(dict.fromkeys(terms))
        return self._root.consistent(lambda state: self._search.frequencies(state, wanted))

    def audit(self) -> list[Issue]:
        """What is wrong in the collections (see `qdrant_audit`), in one state of the library."""
        return self._root.consistent(lambda state: qdrant_audit.issues(self._connection, state))

    def repair(self) -> None:
        """Puts right what `audit` finds."""
        qdrant_audit.repair(self._connection, self._root)

    def close(self) -> None:
        """Frees the connections. Closing twice is fine."""
        self._connection.close()

    def _binding_of(self, state: State) -> Binding:
        """What this store is bound to: to nothing yet, where another library was put in the place of the one before."""
        if self._identity != state.identity:
            self._binding, self._identity = Binding(), state.identity
        return self._binding

    def _bound(self, work: Callable[[State], Result]) -> Result:
        """What `work` finds, if it is of the embedder that this store is bound to."""

        def bound(state: State) -> Result:
            self._binding_of(state).check(state.fingerprint)
            return work(state)

        return self._root.consistent(bound)

    def _may_write(self) -> bool:
        try:
            self._root.may_write()
        except LibraryReadOnly:
            return False
        return True

    def _ready_for_chunks(self, state: State) -> set[str]:
        """The keys of filters that have an index in the collection of the chunks, which is made where it is missing."""
        if state.chunk_collection not in self._indexed:
            qdrant_schema.make_chunks(self._connection, state)
            self._indexed[state.chunk_collection] = set()
        return self._indexed[state.chunk_collection]

    def _send_chunks(
        self, state: State, note: Writing, chunks: Sequence[IndexedChunk], renew: Callable[[], None]
    ) -> None:
        if not chunks:
            return
        if state.fingerprint is None:
            raise LibraryError("The library isn't bound to an embedder yet. Claim one before adding documents.")
        self._binding_of(state).check(state.fingerprint)
        for chunk in chunks:
            check_dimension(state, chunk.vector)
        known = self._ready_for_chunks(state)
        keys = {key for chunk in chunks for key in field_numbers(chunk.fields)}
        qdrant_schema.index_fields(self._connection, state.chunk_collection, keys, known)
        points = (
            rows.chunk_point(chunk, number, note.first) for number, chunk in enumerate(chunks, note.after_number + 1)
        )
        self._send(state.chunk_collection, points, renew)

    def _send(self, collection: str, points: Iterable[models.PointStruct], renew: Callable[[], None]) -> None:
        batch: list[models.PointStruct] = []
        characters = 0
        for point in points:
            size = len(point.model_dump_json())
            if batch and characters + size > _CHARACTERS_AT_ONCE:
                self._connection.upsert(collection, batch)
                renew()
                batch, characters = [], 0
            batch.append(point)
            characters += size
        self._connection.upsert(collection, batch)
        renew()


def _record_keys(records: Iterable[SyncRecord]) -> list[str]:
    return [rows.record_key(record.origin, record.source) for record in records]
