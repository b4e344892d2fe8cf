"""A store in memory, whose contents are lost when the process ends."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.filters import Filter
from answerable.protocols import Fingerprint, IndexedChunk, Issue, PassageVectors, StoredDocument, SyncRecord
from answerable.stores.memory.exact import ExactIndex
from answerable.stores.memory.keywords import Scored
from answerable.stores.memory.next_vectors import MemoryNextVectors


class MemoryStore:
    """Holds everything in dictionaries and searches exactly. Safe to share between threads."""

    is_writable = True

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._documents: dict[str, tuple[Document, list[int]]] = {}
        self._by_source: dict[str, set[str]] = {}
        self._by_type: dict[str, set[str]] = {}
        self._languages: Counter[str] = Counter()
        self._chunks: dict[int, IndexedChunk] = {}
        self._records: dict[tuple[str, str], SyncRecord] = {}
        self._index = ExactIndex()
        self._fingerprint: Fingerprint | None = None
        self._next = MemoryNextVectors(lambda: list(self._chunks), self._switch)

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder of the vectors; None until the library is bound to one."""
        return self._fingerprint

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Bind the library to an embedder unless it already has one."""
        self._fingerprint = self._fingerprint or fingerprint

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Store a document and remove the documents it replaces, in one step."""
        with self._lock:
            self.remove(document.id, *replaces)
            numbers = [next(self._numbers) for _ in chunks]
            for number, chunk in zip(numbers, chunks, strict=True):
                self._chunks[number] = chunk
                self._index.add(number, chunk.vector, chunk.terms, chunk.fields)
            self._documents[document.id] = document, numbers
            self._by_source.setdefault(document.source, set()).add(document.id)
            self._by_type.setdefault(str(document.type), set()).add(document.id)
            self._languages[document.language] += 1
            self.remember([record] if record else [])

    def remove(self, *document_ids: str) -> bool:
        """Remove every trace of these documents in one step; return False if none of them exists."""
        with self._lock:
            removed = [self._remove(document_id) for document_id in document_ids]
            return any(removed)

    def records(self, origin: str = "") -> list[SyncRecord]:
        """Return the sync records of an origin, or of all, sorted by origin and source."""
        with self._lock:
            return [self._records[key] for key in sorted(self._records) if origin in ("", key[0])]

    def remember(self, records: Sequence[SyncRecord]) -> None:
        """Write sync records; each replaces the record with its origin and source."""
        with self._lock:
            self._records.update(((record.origin, record.source), record) for record in records)

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Remove the sync records of these sources; the documents stay."""
        with self._lock:
            for source in sources:
                self._records.pop((origin, source), None)

    def next_vectors(self) -> MemoryNextVectors:
        """Return the object that collects vectors of another embedder."""
        return self._next

    def refresh(self) -> None:
        """Do nothing: there are no indexes to update."""

    def document(self, document_id: str) -> Document | None:
        """Return the whole document with its parts."""
        found = self._documents.get(document_id)
        return found[0] if found else None

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Return all documents, or those of one type, without text, sorted by source and id."""
        with self._lock:
            ids = self._by_type.get(type, ()) if type else self._documents
            found = [_describe(*self._documents[document_id]) for document_id in ids]
        return iter(sorted(found, key=lambda document: (document.source, document.id)))

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """Return the documents that have this id or, unless `source` is empty, this source."""
        with self._lock:
            ids = {document_id, *(self._by_source.get(source, ()) if source else ())}
            found = [self._documents[one] for one in ids if one in self._documents]
            described = [_describe(*one) for one in found]
            return sorted(described, key=lambda document: (document.source, document.id))

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in order."""
        with self._lock:
            found = self._documents.get(document_id)
            return [self._chunks[number].chunk for number in found[1]] if found else []

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """Return a document's chunks in order, with their vectors, terms and fields."""
        with self._lock:
            found = self._documents.get(document_id)
            return [self._chunks[number] for number in found[1]] if found else []

    def languages(self) -> list[str]:
        """Return the languages of the documents, each once."""
        with self._lock:
            return sorted(language for language, count in self._languages.items() if count)

    def count(self) -> tuple[int, int]:
        """Return the number of documents and of chunks."""
        return len(self._documents), len(self._chunks)

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """Return number and cosine of the k chunks with the highest cosine, best first."""
        with self._lock:
            return self._index.search_vectors(vector, k, where)

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """Return number and cosine of each of these chunks, best first."""
        with self._lock:
            return self._index.cosines(vector, numbers)

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        """Return number and score of the k chunks with the highest BM25 score, best first."""
        with self._lock:
            return self._index.search_terms(terms, k, where, rarities)

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        """Return how many chunks that pass `where` have each of these texts, by its hash (see `text.places`)."""
        with self._lock:
            return self._index.count_places(hashes, where)

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Return chunks with their documents (without parts)."""
        with self._lock:
            known = {number: self._chunks[number] for number in numbers if number in self._chunks}
            ids = {chunk.chunk.document_id for chunk in known.values()}
            documents = {document_id: replace(self._documents[document_id][0], parts=()) for document_id in ids}
            return {number: (chunk, documents[chunk.chunk.document_id]) for number, chunk in known.items()}

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term."""
        with self._lock:
            return self._index.document_frequency(terms)

    def audit(self) -> list[Issue]:
        """Return []: only this process can change the data."""
        return []

    def repair(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def _switch(self, fingerprint: Fingerprint, vectors: Mapping[int, PassageVectors]) -> bool:
        with self._lock:
            if not self._chunks.keys() <= vectors.keys():
                return False
            index = ExactIndex()
            for number, chunk in self._chunks.items():
                made = vectors[number]
                self._chunks[number] = replace(chunk, vector=made.whole, sentence_vectors=made.spans)
                index.add(number, made.whole, chunk.terms, chunk.fields)
            self._index, self._fingerprint = index, fingerprint
            return True

    def _remove(self, document_id: str) -> bool:
        found = self._documents.pop(document_id, None)
        if found is None:
            return False
        self._by_source[found[0].source].discard(document_id)
        self._by_type[str(found[0].type)].discard(document_id)
        self._languages[found[0].language] -= 1
        self._index.remove(found[1])
        for number in found[1]:
            del self._chunks[number]
        return True


def _describe(document: Document, numbers: Sequence[int]) -> StoredDocument:
    return StoredDocument(
        id=document.id,
        source=document.source,
        title=document.title,
        type=str(document.type),
        language=document.language,
        content_hash=document.content_hash,
        chunks=len(numbers),
        characters=len(document.content),
        metadata=document.metadata,
    )
