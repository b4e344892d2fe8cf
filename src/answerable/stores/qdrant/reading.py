"""Documents, chunks and records as they count in a state of a library on a Qdrant server."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from answerable.datatypes import Chunk, Document
from answerable.protocols import IndexedChunk, StoredDocument, SyncRecord
from answerable.stores import records
from answerable.stores.qdrant import rows
from answerable.stores.qdrant.connection import Connection, models
from answerable.stores.qdrant.state import State, matches
from answerable.stores.qdrant.writing import Dropped

_BATCH = 256
_LANGUAGES = 1000
# Documents whose chunks were fetched last, as they are asked for again and again.
_CHARACTERS_KEPT = 20_000_000


class Reading:
    """Reads of one library, each in a state that it is given. Safe to share between threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._kept: OrderedDict[tuple[str, int], Document] = OrderedDict()
        self._languages: tuple[tuple[str, int], list[str]] = ("", 0), []
        self._lock = threading.Lock()

    def document(self, state: State, document_id: str) -> Document | None:
        """The whole document with its parts."""
        found = self._found(state, "document", [rows.key("id", document_id)], rows.DOCUMENT)
        return rows.document(found[0], self._text(state, found[0]), with_parts=True) if found else None

    def documents(self, state: State, keys: Sequence[str] = ()) -> list[StoredDocument]:
        """All documents, or those with one of the keys, by source and id."""
        found = map(rows.stored_document, self._found(state, "document", keys, rows.STORED))
        return sorted(found, key=lambda document: (document.source, document.id))

    def sync_records(self, state: State, keys: Sequence[str] = ()) -> list[SyncRecord]:
        """All records, or those with one of the keys, by origin and source."""
        found = map(records.sync_record_from_row, self._found(state, "record", keys, rows.RECORD))
        return sorted(found, key=lambda record: (record.origin, record.source))

    def dropping(self, state: State, kind: str, keys: Sequence[str]) -> Dropped:
        """What dropping the documents or records with one of the keys would take away."""
        found = self._found(state, kind, keys, ("generation", "chunks")) if keys else []
        generations = tuple(payload["generation"] for payload in found)
        if kind == "record":
            return Dropped(generations)
        return Dropped(generations, len(found), sum(payload["chunks"] for payload in found))

    def languages(self, state: State) -> list[str]:
        """The languages of the documents, each once. They are asked for once for a version of the state."""
        version = state.identity, state.version
        of, known = self._languages
        if of != version:
            where = state.counting(matches("kind", "document"))
            found = self._connection.call(
                lambda client: client.facet(
                    state.collection, key="language", facet_filter=where, limit=_LANGUAGES, exact=True
                )
            )
            known = sorted(str(hit.value) for hit in found.hits)
            self._languages = version, known
        return list(known)

    def chunks(self, state: State, document_id: str) -> list[Chunk]:
        """A document's chunks in order."""
        found = self._chunks_of(state, document_id, rows.CHUNK, False)
        return [rows.chunk(point.payload, owner) for point, owner in found]

    def indexed_chunks(self, state: State, document_id: str) -> list[IndexedChunk]:
        """A document's chunks in order, with everything that is kept of them."""
        found = self._chunks_of(state, document_id, rows.INDEXED, True)
        return [rows.indexed_chunk(point.payload, point.vector, owner) for point, owner in found]

    def _chunks_of(
        self, state: State, document_id: str, payload: Sequence[str], with_vectors: bool
    ) -> list[tuple[Any, Document]]:
        """A document's chunks in order, each with the document."""
        found = self._found(state, "document", [rows.key("id", document_id)], rows.DOCUMENT)
        if not found or not state.chunks:
            return []
        owner = rows.document(found[0], self._text(state, found[0]))
        of_document = state.counting(matches("generation", found[0]["generation"]))
        vectors = [rows.DENSE] if with_vectors else None
        points: list[Any] = list(
            self._connection.records(state.chunk_collection, of_document, payload, _BATCH, vectors)
        )
        return [(point, owner) for point in sorted(points, key=lambda point: point.payload["sequence"])]

    def fetch(self, state: State, numbers: Iterable[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Chunks with their documents (without parts), in the order given; unknown numbers are left out."""
        wanted = [number for number in dict.fromkeys(numbers) if 0 < number <= state.number] if state.chunks else []
        found: dict[int, Any] = {}
        for start in range(0, len(wanted), _BATCH):
            for record in self._retrieve(state.chunk_collection, wanted[start : start + _BATCH], rows.INDEXED, True):
                if state.counts(record.payload["generation"]):
                    found[int(record.id)] = record
        owners = self._owners(state, {record.payload["generation"] for record in found.values()})
        return {
            number: (rows.indexed_chunk(record.payload, record.vector, owner), owner)
            for number in wanted
            if (record := found.get(number)) and (owner := owners.get(record.payload["generation"]))
        }

    def _owners(self, state: State, generations: set[int]) -> dict[int, Document]:
        """Documents without parts by generation, which never change."""
        with self._lock:
            kept = {one: self._kept.get((state.identity, one)) for one in generations}
        owners = {generation: document for generation, document in kept.items() if document}
        missing = [rows.document_point_id(generation) for generation in generations - set(owners)]
        for start in range(0, len(missing), _BATCH):
            for record in self._retrieve(state.collection, missing[start : start + _BATCH], rows.DOCUMENT, False):
                owner = rows.document(record.payload, self._text(state, record.payload))
                owners[record.payload["generation"]] = owner
        with self._lock:
            for generation, owner in owners.items():
                self._kept[state.identity, generation] = owner
                self._kept.move_to_end((state.identity, generation))
            while len(self._kept) > 1 and sum(len(owner.content) for owner in self._kept.values()) > _CHARACTERS_KEPT:
                self._kept.popitem(last=False)
        return owners

    def _text(self, state: State, payload: dict[str, Any]) -> str:
        """A document's content and parts, put together from their pieces."""
        ids = [rows.document_point_id(payload["generation"], piece) for piece in range(1, payload["pieces"])]
        further: dict[Any, str] = {}
        # One by one: each may be as long as a request can be.
        for one in ids:
            for record in self._retrieve(state.collection, [one], ("text",), False):
                further[record.id] = record.payload["text"]
        return "".join([payload["text"], *(further.get(one, "") for one in ids)])

    def _found(self, state: State, kind: str, keys: Sequence[str], payload: Sequence[str]) -> list[dict[str, Any]]:
        """Payloads of what is of a kind and, where keys are given, has one of them."""
        of_kind, found = matches("kind", kind), []
        # Whole documents may be long: one at a time.
        page = 1 if "text" in payload else 1000
        for start in range(0, len(keys) or 1, _BATCH):
            some = list(keys[start : start + _BATCH])
            among = [models.FieldCondition(key="keys", match=models.MatchAny(any=some))] if some else []
            found += self._connection.scroll(state.collection, state.counting(of_kind, *among), payload, page)
        return found

    def _retrieve(self, collection: str, ids: Sequence[Any], payload: Sequence[str], with_vectors: bool) -> list[Any]:
        return self._connection.call(
            lambda client: client.retrieve(
                collection, ids, with_payload=list(payload), with_vectors=[rows.DENSE] if with_vectors else False
            )
        )
