"""A library that another Answerable server serves, as a store to search and read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from answerable.codec import made
from answerable.datatypes import Chunk, Document, FloatArray
from answerable.filters import Filter
from answerable.protocols import Fingerprint, IndexedChunk, StoredDocument, SyncRecord
from answerable.stores.read_only import ReadOnlyStore
from answerable.stores.remote import wire
from answerable.stores.remote.address import parse_address
from answerable.stores.remote.connection import Connection

PATIENCE = 30.0
"""Seconds for each wait."""
_CHARACTERS_KEPT = 20_000_000

Result = TypeVar("Result")
Scored = list[tuple[int, float]]


class RemoteStore(ReadOnlyStore):
    """Reads a library over HTTP; changes nothing. Thread-safe. Raises LibraryError where the server fails.

    `key` is one of the server's keys, empty for a server without keys.
    """

    why = "This library is another server's, to be asked only. Change it there."

    def __init__(self, address: str, key: str = "", patience: float = PATIENCE) -> None:
        self._connection = Connection(parse_address(address), key, patience)
        # Texts of documents whose chunks were fetched last, by id and hash, since they are mostly needed again.
        self._documents: OrderedDict[tuple[str, str], Document] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder of the vectors; None until the library is bound to one."""
        return self._ask("fingerprint", lambda found: None if found is None else made(Fingerprint, found))

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """Return number and cosine of the k chunks with the highest cosine, best first."""
        asked = {"vector": wire.vector_to_text(vector), "k": k, "where": wire.filter_to_plain(where)}
        return self._ask("search_vectors", wire.scored_from_plain, asked)

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        """Return number and score of the k chunks with the highest BM25 score, best first."""
        rare = None if rarities is None else dict(rarities)
        asked = {"terms": list(terms), "k": k, "where": wire.filter_to_plain(where), "rarities": rare}
        return self._ask("search_terms", wire.scored_from_plain, asked)

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """Return number and cosine of these chunks, best first; skip unknown numbers."""
        asked = {"vector": wire.vector_to_text(vector), "numbers": list(numbers)}
        return self._ask("cosines", wire.scored_from_plain, asked)

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Return chunks with their documents (without parts), in this order; skip unknown numbers."""

        def chunks(found: Any) -> tuple[dict[int, IndexedChunk], dict[str, str]]:
            indexed = {number: wire.indexed_from_plain(each) for number, each in found["chunks"]}
            return indexed, dict(found["documents"])

        indexed, hashes = self._ask("fetch", chunks, {"numbers": list(numbers)})
        documents = {document_id: self._known(document_id, hash) for document_id, hash in hashes.items()}
        return {
            number: (each, document)
            for number, each in indexed.items()
            if (document := documents.get(each.chunk.document_id)) is not None
            # A document that was replaced since is fetched by the next search.
            and document.content[each.chunk.start : each.chunk.end] == each.chunk.content
        }

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term."""
        found = self._ask("document_frequency", dict, {"terms": list(terms)})
        return {term: int(found.get(term, 0)) for term in terms}

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        """Return how many chunks that pass `where` have each of these texts, by its hash (see `text.places`)."""
        found = self._ask("count_places", dict, {"hashes": list(hashes), "where": wire.filter_to_plain(where)})
        return {each: int(found.get(each, 0)) for each in hashes}

    def count(self) -> tuple[int, int]:
        """Return the number of documents and of chunks."""
        return self._ask("count", lambda found: (int(found[0]), int(found[1])))

    def languages(self) -> list[str]:
        """Return the languages of the documents, each once, sorted."""
        return self._ask("languages", lambda found: sorted(map(str, found)))

    def document(self, document_id: str) -> Document | None:
        """Return the whole document with its parts."""
        asked = {"document_id": document_id}
        return self._ask("document", lambda found: None if found is None else made(Document, found), asked)

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Return all documents, or those of one type, without text, sorted by source and id."""
        return iter(self._ask("documents", _stored, {"type": str(type)}))

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """Return the documents that have this id or, unless `source` is empty, this source."""
        return self._ask("lookup", _stored, {"document_id": document_id, "source": source})

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in order."""
        return self._ask("chunks", wire.chunks_from_plain, {"document_id": document_id})

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """Return a document's chunks in order, with their vectors, terms and fields."""
        asked = {"document_id": document_id}
        return self._ask("indexed_chunks", lambda found: [wire.indexed_from_plain(each) for each in found], asked)

    def records(self, origin: str = "") -> list[SyncRecord]:
        """Return []: what the server follows, and where, is not for those who ask."""
        return []

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._connection.close()

    def _ask(self, method: str, read: Callable[[Any], Result], arguments: Mapping[str, Any] | None = None) -> Result:
        found = self._connection.call(method, arguments or {})
        try:
            return read(found)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            raise self._connection.unreadable(error) from error

    def _known(self, document_id: str, hash: str) -> Document | None:
        """Return a document without its parts, from the last ones if its text is the same."""
        key = document_id, hash
        with self._lock:
            known = self._documents.get(key)
        if known is None:
            found = self.document(document_id)
            if found is None:
                return None
            known = replace(found, parts=())
        with self._lock:
            self._documents[key] = known
            self._documents.move_to_end(key)
            while len(self._documents) > 1 and sum(map(_length, self._documents.values())) > _CHARACTERS_KEPT:
                self._documents.popitem(last=False)
        return known


def _stored(found: Any) -> list[StoredDocument]:
    return [made(StoredDocument, each) for each in found]


def _length(document: Document) -> int:
    return len(document.content)
