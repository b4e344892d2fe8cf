"""Reading and searching a library on a Qdrant server: vectors exactly or by graph (HNSW), terms by BM25.

A chunk's sparse vector has the weights of its terms, a question's has their inverse document frequencies: the dot
product is the BM25 score of `text.terms`. Qdrant's modifier `idf` isn't used: it also counts hidden chunks.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.errors import LibraryError
from answerable.filters import Filter
from answerable.protocols import CountingStore, Fingerprint, IndexedChunk, Store, StoredDocument, SyncRecord
from answerable.stores import records
from answerable.stores.exact import Scored
from answerable.stores.hashed import Conditions, digest, first_of_equals, sparse_vector
from answerable.stores.qdrant import points
from answerable.stores.qdrant.connection import BATCH, Connection, models
from answerable.stores.qdrant.head import VERSION, Head, HeadPoint, matches
from answerable.stores.records import Binding
from answerable.text.indexed_text import having
from answerable.text.terms import rarity

# Most chunks to score exactly; with more, the server walks its graph, or scores all that pass a narrow filter.
EXACT_UP_TO = 10_000
# Most results from the graph: a walk for more would visit most of it.
_MOST_FROM_GRAPH = 1000
# Candidates while walking the graph: Qdrant's default, `ef_construct`, is the same; not measured on a server.
_SEARCH_WIDTH = 128
# Requests for counts in parallel: a question has about a dozen terms. A round number.
_THREADS = 8
# Most languages in a response: there are fewer.
_LANGUAGES = 1000
# Terms whose counts are cached, a few MB, since questions repeat terms: a round number.
_FREQUENCIES_KEPT = 50_000
# Characters of documents to cache, 20 to 80 MB, since questions need the same documents: a round number.
_CHARACTERS_KEPT = 20_000_000

_CONDITIONS = Conditions(
    one_of=lambda key, values: models.FieldCondition(key=key, match=models.MatchAny(any=values)),
    within=lambda key, bounds: models.FieldCondition(key=key, range=models.Range(**bounds)),
    lacks=lambda key: models.IsEmptyCondition(is_empty=models.PayloadField(key=key)),
    all_of=lambda conditions: models.Filter(must=conditions),
    any_of=lambda conditions: models.Filter(should=conditions),
    none_of=lambda conditions: models.Filter(must_not=conditions),
)

Result = TypeVar("Result")


class QdrantReader(Store, CountingStore):
    """The read-only part of a store. Each method reads from one consistent state of the library (see `head`)."""

    def __init__(self, point: HeadPoint) -> None:
        self._point = point
        self._connection: Connection = point.connection
        self._binding = Binding()
        self._identity = ""
        self._frequencies: tuple[tuple[str, int], dict[str, int]] = ("", 0), {}
        # The documents whose chunks were fetched last, which are likely to be needed again.
        self._documents: OrderedDict[tuple[str, int], Document] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> Fingerprint | None:
        head = self._point.read()
        return self._binding_of(head).pin(head.fingerprint)

    def records(self, origin: str = "") -> list[SyncRecord]:
        keys = [points.key("origin", origin)] if origin else []
        rows = self._point.consistent(lambda head: self._found(head, "record", keys, records.RECORD))
        return sorted(map(records.sync_record_from_row, rows), key=lambda record: (record.origin, record.source))

    def document(self, document_id: str) -> Document | None:
        return self._point.consistent(lambda head: self._document(head, document_id, with_parts=True)[1])

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        return iter(self._stored([points.key("type", type)] if type else []))

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        return self._stored([points.key("id", document_id), *([points.key("source", source)] if source else [])])

    def chunks(self, document_id: str) -> list[Chunk]:
        return self._point.consistent(
            lambda head: [
                records.chunk_from_row(point.payload, owner)
                for point, owner in self._chunks(head, document_id, points.CHUNK)
            ]
        )

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        return self._bound(
            lambda head: [
                points.indexed_chunk(point.payload, point.vector, owner)
                for point, owner in self._chunks(head, document_id, points.INDEXED, [points.DENSE])
            ]
        )

    def languages(self) -> list[str]:
        def languages(head: Head) -> list[str]:
            where = head.counting(matches("kind", "document"))
            request = head.collection, "language", where, _LANGUAGES
            found = self._connection.call(self._connection.client.facet, *request, exact=True)
            return sorted(str(hit.value) for hit in found.hits)

        return self._point.consistent(languages)

    def count(self) -> tuple[int, int]:
        head = self._point.read()
        return head.documents, head.chunks

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        def search(head: Head, limit: int) -> Scored:
            exact = head.chunks <= EXACT_UP_TO or limit > _MOST_FROM_GRAPH
            # If there are also 8-bit vectors, score the results with the full vectors.
            rescored = models.QuantizationSearchParams(rescore=True)
            params = models.SearchParams(exact=exact, hnsw_ef=max(_SEARCH_WIDTH, limit), quantization=rescored)
            return self._query(head, vector.tolist(), points.DENSE, limit, _conditions(where), params)

        def best(head: Head) -> Scored:
            check_dimension(head, vector)
            return first_of_equals(k, lambda limit: search(head, limit)) if head.chunks else []

        return self._bound(best)

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        these, params = models.HasIdCondition(has_id=list(numbers)), models.SearchParams(exact=True)

        def cosines(head: Head) -> Scored:
            check_dimension(head, vector)
            if not numbers:
                return []
            return self._query(head, vector.tolist(), points.DENSE, len(numbers), [these], params)

        return sorted(self._bound(cosines), key=lambda pair: (-pair[1], pair[0]))

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        def best(head: Head) -> Scored:
            weights = sparse_vector(self._rarities(head, set(terms)) if rarities is None else rarities)
            question = models.SparseVector(indices=list(weights), values=list(weights.values()))
            search = lambda limit: self._query(head, question, points.SPARSE, limit, _conditions(where))  # noqa: E731
            return first_of_equals(k, search) if weights and head.chunks else []

        return self._point.consistent(best)

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        def fetch(head: Head) -> dict[int, tuple[IndexedChunk, Document]]:
            wanted = [number for number in dict.fromkeys(numbers) if 0 < number <= head.number] if head.chunks else []
            found = self._connection.retrieve(head.chunk_collection, wanted, points.INDEXED, [points.DENSE])
            counting = {int(point.id): point for point in found if head.counts(point.payload[VERSION])}
            owners = self._owners(head, {point.payload[VERSION] for point in counting.values()})
            return {
                number: (points.indexed_chunk(point.payload, point.vector, owner), owner)
                for number in wanted
                if (point := counting.get(number)) and (owner := owners.get(point.payload[VERSION]))
            }

        return self._bound(fetch)

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        wanted = list(dict.fromkeys(terms))
        return self._point.consistent(lambda head: self._count_terms(head, wanted))

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        wanted = list(hashes)

        def count(head: Head) -> dict[str, int]:
            if not head.chunks:
                return dict.fromkeys(wanted, 0)
            conditions = [head.counting(*_conditions(having([each], where))) for each in wanted]
            return dict(zip(wanted, self._counts(head, conditions), strict=True))

        return self._point.consistent(count)

    def _binding_of(self, head: Head) -> Binding:
        """Return the store's binding to an embedder; a new binding if another library has replaced the former one."""
        if self._identity != head.identity:
            self._binding, self._identity = Binding(), head.identity
        return self._binding

    def _bound(self, work: Callable[[Head], Result]) -> Result:
        """Call `work` with a head. Raise EmbedderMismatch if another embedder's vectors have replaced the old ones."""

        def bound(head: Head) -> Result:
            self._binding_of(head).check(head.fingerprint)
            return work(head)

        return self._point.consistent(bound)

    def _stored(self, keys: Sequence[str]) -> list[StoredDocument]:
        found = self._point.consistent(lambda head: self._found(head, "document", keys, records.STORED))
        return sorted(map(records.stored_document, found), key=lambda document: (document.source, document.id))

    def _document(self, head: Head, document_id: str, with_parts: bool = False) -> tuple[int, Document | None]:
        """Return a document's version and the document; 0 and None if there is none."""
        found = self._found(head, "document", [points.key("id", document_id)], points.DOCUMENT)
        return (found[0][VERSION], self._parsed(head, found[0], with_parts)) if found else (0, None)

    def _parsed(self, head: Head, payload: dict[str, Any], with_parts: bool = False) -> Document:
        """Read a document from its payload, joining the pieces of its text."""
        # Retrieve the pieces one by one: a piece may be as long as a request can be.
        further = [[points.point_id(payload[VERSION], piece)] for piece in range(1, payload["pieces"])]
        found = (point for one in further for point in self._connection.retrieve(head.collection, one, ["text"]))
        text = "".join([payload["text"], *(point.payload["text"] for point in found)])
        return points.document(payload, text, with_parts)

    def _chunks(
        self, head: Head, document_id: str, payload: Sequence[str], vectors: Sequence[str] = ()
    ) -> list[tuple[Any, Document]]:
        """Return the points of a document's chunks in order, each paired with the document."""
        version, owner = self._document(head, document_id)
        if owner is None or not head.chunks:
            return []
        where = head.counting(matches(VERSION, version))
        chunks = self._connection.scroll(head.chunk_collection, where, payload, BATCH, vectors)
        return [(point, owner) for point in sorted(chunks, key=lambda point: int(point.payload["sequence"]))]

    def _owners(self, head: Head, versions: set[int]) -> dict[int, Document]:
        """Return documents (without parts) by version; cached, since the document of a version never changes."""
        with self._lock:
            kept = {version: self._documents.get((head.identity, version)) for version in versions}
        owners = {version: document for version, document in kept.items() if document}
        missing = [points.point_id(version) for version in versions - set(owners)]
        for point in self._connection.retrieve(head.collection, missing, points.DOCUMENT):
            owners[point.payload[VERSION]] = self._parsed(head, point.payload)
        with self._lock:
            for version, owner in owners.items():
                self._documents[head.identity, version] = owner
                self._documents.move_to_end((head.identity, version))
            while len(self._documents) > 1 and sum(map(_length, self._documents.values())) > _CHARACTERS_KEPT:
                self._documents.popitem(last=False)
        return owners

    def _found(self, head: Head, kind: str, keys: Sequence[str], payload: Sequence[str]) -> list[dict[str, Any]]:
        """Return the payloads of a kind's visible points; if `keys` isn't empty, only of points with these keys."""
        found: list[dict[str, Any]] = []
        # Read whole documents one at a time, since they may be long.
        page = 1 if "text" in payload else 1000
        for start in range(0, len(keys) or 1, BATCH):
            among = [matches("keys", *keys[start : start + BATCH])] if keys else []
            where = head.counting(matches("kind", kind), *among)
            found += [point.payload for point in self._connection.scroll(head.collection, where, payload, page)]
        return found

    def _rarities(self, head: Head, terms: Collection[str]) -> dict[str, float]:
        counts = self._count_terms(head, terms)
        return {term: rarity(head.chunks, count) for term, count in counts.items() if count}

    def _count_terms(self, head: Head, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term; cached until the library changes."""
        if not head.chunks:
            return dict.fromkeys(terms, 0)
        moment = head.identity, head.revision
        counted_at, known = self._frequencies
        if counted_at != moment or len(known) > _FREQUENCIES_KEPT:
            known = {}
        missing = [term for term in terms if term not in known]
        conditions = [head.counting(matches("terms", digest(term))) for term in missing]
        known = {**known, **dict(zip(missing, self._counts(head, conditions), strict=True))}
        self._frequencies = moment, known
        return {term: known[term] for term in terms}

    def _counts(self, head: Head, conditions: Sequence[models.Filter]) -> list[int]:
        """Return how many chunks pass each of these conditions."""
        with ThreadPoolExecutor(_THREADS) as threads:
            return list(threads.map(lambda where: self._connection.count(head.chunk_collection, where), conditions))

    def _query(
        self,
        head: Head,
        query: list[float] | models.SparseVector,
        using: str,
        limit: int,
        conditions: Iterable[models.Condition],
        params: models.SearchParams | None = None,
    ) -> Scored:
        found = self._connection.call(
            self._connection.client.query_points,
            head.chunk_collection,
            query=query,
            using=using,
            query_filter=head.counting(*conditions),
            search_params=params,
            limit=limit,
            with_payload=False,
        )
        return [(int(point.id), float(point.score)) for point in found.points]


def check_dimension(head: Head, vector: FloatArray) -> None:
    """Raise LibraryError unless a vector has the library's dimension."""
    expected = head.fingerprint.dimension if head.fingerprint else None
    if expected is not None and len(vector) != expected:
        raise LibraryError(
            f"The library's vectors have {expected} numbers, this one has {len(vector)}. Use the embedder that the "
            f"library was made with, {head.fingerprint}, or another library with --library."
        )


def _conditions(where: Filter | None) -> list[models.Condition]:
    return [_CONDITIONS.translate(where)] if where is not None else []


def _length(document: Document) -> int:
    return len(document.content)
