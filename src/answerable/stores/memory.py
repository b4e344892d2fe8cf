"""A store in memory, whose contents are lost when the process ends."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.filters import Filter
from answerable.protocols import (
    CountingStore,
    Fingerprint,
    IndexedChunk,
    Issue,
    NextVectors,
    PassageVectors,
    Store,
    StoredDocument,
    SyncRecord,
)
from answerable.stores.exact import ExactIndex, Scored
from answerable.stores.records import other_reindex, reindex_ended


class MemoryStore(Store, CountingStore):
    """Holds everything in dictionaries and searches exactly. Safe to share between threads."""

    is_writable = True

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._documents: dict[str, tuple[Document, list[int]]] = {}
        self._by_source: dict[str, set[str]] = {}
        self._chunks: dict[int, IndexedChunk] = {}
        self._records: dict[tuple[str, str], SyncRecord] = {}
        self._waiting: set[int] = set()
        self._index = ExactIndex()
        self._fingerprint: Fingerprint | None = None
        self._next = MemoryNextVectors(self)

    @property
    def fingerprint(self) -> Fingerprint | None:
        return self._fingerprint

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        self._fingerprint = self._fingerprint or fingerprint

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        with self._lock:
            self.remove(document.id, *replaces)
            numbers = [next(self._numbers) for _ in chunks]
            for number, chunk in zip(numbers, chunks, strict=True):
                self._chunks[number] = chunk
                self._index.add(number, chunk.vector, chunk.terms, chunk.fields)
            self._waiting.update(number for number in numbers if self._chunks[number].waits)
            self._documents[document.id] = document, numbers
            self._by_source.setdefault(document.source, set()).add(document.id)
            self.remember([record] if record else [])

    def waiting(self) -> list[int]:
        with self._lock:
            return sorted(self._waiting)

    def fill(self, vectors: Mapping[int, PassageVectors]) -> None:
        with self._lock:
            for number in self._chunks.keys() & vectors.keys():
                made = vectors[number]
                chunk = replace(self._chunks[number], vector=made.whole, sentence_vectors=made.spans)
                self._chunks[number] = chunk
                self._index.add(number, chunk.vector, chunk.terms, chunk.fields)
            self._waiting -= vectors.keys()

    def remove(self, *document_ids: str) -> bool:
        with self._lock:
            removed = [self._remove(document_id) for document_id in document_ids]
            return any(removed)

    def records(self, origin: str = "") -> list[SyncRecord]:
        with self._lock:
            return [self._records[key] for key in sorted(self._records) if origin in ("", key[0])]

    def remember(self, records: Sequence[SyncRecord]) -> None:
        with self._lock:
            self._records.update(((record.origin, record.source), record) for record in records)

    def forget(self, origin: str, sources: Collection[str]) -> None:
        with self._lock:
            for source in sources:
                self._records.pop((origin, source), None)

    def next_vectors(self) -> MemoryNextVectors:
        return self._next

    def refresh(self) -> None:
        """Do nothing: there are no indexes to update."""

    def document(self, document_id: str) -> Document | None:
        found = self._documents.get(document_id)
        return found[0] if found else None

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        with self._lock:
            return iter(self._described(id for id, (each, _) in self._documents.items() if type in ("", each.type)))

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        with self._lock:
            ids = {document_id, *(self._by_source.get(source, ()) if source else ())}
            return self._described(ids & self._documents.keys())

    def chunks(self, document_id: str) -> list[Chunk]:
        with self._lock:
            found = self._documents.get(document_id)
            return [self._chunks[number].chunk for number in found[1]] if found else []

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        with self._lock:
            found = self._documents.get(document_id)
            return [self._chunks[number] for number in found[1]] if found else []

    def languages(self) -> list[str]:
        with self._lock:
            return sorted({document.language for document, _ in self._documents.values()})

    def count(self) -> tuple[int, int]:
        return len(self._documents), len(self._chunks)

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        with self._lock:
            return self._index.search_vectors(vector, k, where)

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        with self._lock:
            return self._index.cosines(vector, numbers)

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        with self._lock:
            return self._index.search_terms(terms, k, where, rarities)

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        with self._lock:
            return self._index.count_places(hashes, where)

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        with self._lock:
            known = {number: self._chunks[number] for number in numbers if number in self._chunks}
            ids = {chunk.chunk.document_id for chunk in known.values()}
            documents = {document_id: replace(self._documents[document_id][0], parts=()) for document_id in ids}
            return {number: (chunk, documents[chunk.chunk.document_id]) for number, chunk in known.items()}

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        with self._lock:
            return self._index.document_frequency(terms)

    def audit(self) -> list[Issue]:
        """Return []: only this process can change the data."""
        return []

    def repair(self, rebuild: bool = True) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def _described(self, ids: Iterable[str]) -> list[StoredDocument]:
        found = [
            StoredDocument.of(document, len(numbers)) for document, numbers in map(self._documents.__getitem__, ids)
        ]
        return sorted(found, key=lambda document: (document.source, document.id))

    def _remove(self, document_id: str) -> bool:
        found = self._documents.pop(document_id, None)
        if found is None:
            return False
        self._by_source[found[0].source].discard(document_id)
        self._index.remove(found[1])
        self._waiting.difference_update(found[1])
        for number in found[1]:
            del self._chunks[number]
        return True


class MemoryNextVectors(NextVectors):
    """Collected vectors of a store in memory."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._fingerprint: Fingerprint | None = None
        self._vectors: dict[int, PassageVectors] = {}

    @property
    def fingerprint(self) -> Fingerprint | None:
        return self._fingerprint

    def begin(self, fingerprint: Fingerprint) -> None:
        if self._fingerprint not in (None, fingerprint):
            assert self._fingerprint is not None
            raise other_reindex(self._fingerprint, fingerprint)
        self._fingerprint = fingerprint

    def missing(self) -> list[int]:
        return [number for number in list(self._store._chunks) if number not in self._vectors]

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        self._collecting()
        self._vectors.update(vectors)

    def switch(self) -> bool:
        store, fingerprint = self._store, self._collecting()
        with store._lock:
            if not store._chunks.keys() <= self._vectors.keys():
                return False
            index = ExactIndex()
            for number, chunk in store._chunks.items():
                made = self._vectors[number]
                store._chunks[number] = replace(chunk, vector=made.whole, sentence_vectors=made.spans)
                index.add(number, made.whole, chunk.terms, chunk.fields)
            store._index, store._fingerprint = index, fingerprint
            store._waiting.clear()
        self.drop()
        return True

    def drop(self) -> None:
        self._fingerprint, self._vectors = None, {}

    def _collecting(self) -> Fingerprint:
        if self._fingerprint is None:
            raise reindex_ended()
        return self._fingerprint
