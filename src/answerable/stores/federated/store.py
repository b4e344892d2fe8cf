"""Several libraries as one store to search and read: `Library` asks it like any other.

Scores mean the same in all of them. The rarity of a word is that among the chunks of all libraries, and a chunk's
weights do not depend on others (see `text.bm25`); cosines are of one embedder. So the best of all are the best of each,
merged, and a question is embedded, read and answered once. A chunk's number is its number in its library times the
count of libraries, plus the library's place among them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge
from itertools import chain, islice
from typing import Any, TypeVar

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.filters import Filter
from answerable.protocols import Fingerprint, IndexedChunk, Store, StoredDocument, SyncRecord
from answerable.stores.federated.members import Members
from answerable.stores.read_only import ReadOnlyStore
from answerable.text.bm25 import rarity
from answerable.text.places import count_places

Scored = list[tuple[int, float]]
Each = TypeVar("Each")

KEPT = 2.0
"""Seconds for which counts are kept: the searches of one question need the same ones several times."""


class FederatedStore(ReadOnlyStore):
    """Reads several libraries; changes none. Thread-safe."""

    why = "Several libraries are open, to be asked only. Open the one that you want to change."

    def __init__(self, members: Members) -> None:
        self._members = members
        self._kept: dict[str, tuple[float, Any, Any]] = {}

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder of the libraries' vectors."""
        return self._members.fingerprint

    @property
    def unavailable(self) -> dict[str, str]:
        """The libraries that can't be asked at present, and why."""
        return self._members.unavailable

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """Return number and cosine of the k chunks with the highest cosine, best first, ties by number."""
        return self._best(k, self._members.all(lambda store: store.search_vectors(vector, k, where)))

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        """Return number and score of the k chunks with the highest BM25 score, best first, ties by number."""
        if rarities is None:
            chunks, counts = self.count()[1], self.document_frequency(terms)
            rarities = {term: rarity(chunks, count) for term, count in counts.items() if count}
        known = list(rarities)
        return self._best(k, self._members.all(lambda store: store.search_terms(known, k, where, rarities)))

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """Return number and cosine of these chunks, best first, ties by number; skip unknown numbers."""

        def cosines(own: Sequence[int]) -> Callable[[Store], Scored]:
            return lambda store: store.cosines(vector, own)

        return self._best(len(numbers), {member: cosines(own) for member, own in self._by_member(numbers).items()})

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Return chunks with their documents (without parts), in this order; skip unknown numbers."""

        def fetch(own: Sequence[int]) -> Callable[[Store], dict[int, tuple[IndexedChunk, Document]]]:
            return lambda store: store.fetch(own)

        found = self._members.ask({member: fetch(own) for member, own in self._by_member(numbers).items()})
        named = {
            self._number(member, own): (indexed, replace(document, library=self._members.name(member)))
            for member, chunks in found.items()
            for own, (indexed, document) in chunks.items()
        }
        return {number: named[number] for number in dict.fromkeys(numbers) if number in named}

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term, in all libraries."""
        wanted = frozenset(terms)

        def counted() -> dict[str, int]:
            found = self._each(lambda store: store.document_frequency(wanted))
            return {term: sum(each[term] for each in found) for term in wanted}

        return dict(self._once("terms", wanted, counted))

    def count(self) -> tuple[int, int]:
        """Return the number of documents and of chunks, of all libraries."""

        def counted() -> tuple[int, int]:
            counts = self._each(lambda store: store.count())
            return sum(documents for documents, _ in counts), sum(chunks for _, chunks in counts)

        return self._once("count", None, counted)

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        """Return how many chunks that pass `where` have each of these texts, by its hash (see `text.places`)."""
        found = self._each(lambda store: count_places(store, hashes, where))
        return {text: sum(each[text] for each in found) for text in hashes}

    def languages(self) -> list[str]:
        """Return the languages of the documents, each once, sorted."""

        def found() -> list[str]:
            return sorted(set(chain.from_iterable(self._each(lambda store: store.languages()))))

        return list(self._once("languages", None, found))

    def document(self, document_id: str) -> Document | None:
        """Return the whole document with its parts, from the first library that has it."""
        found = self._members.ask(self._members.all(lambda store: store.document(document_id)))
        named = (replace(each, library=self._members.name(member)) for member, each in found.items() if each)
        return next(named, None)

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Return all documents, or those of one type, without text, sorted by source and id."""
        found = self._stored(lambda store: list(store.documents(type)))
        return merge(*found, key=lambda document: (document.source, document.id))

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """Return the documents that have this id or, unless `source` is empty, this source."""
        return list(chain.from_iterable(self._stored(lambda store: store.lookup(document_id, source))))

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in order, from the first library that has it."""
        return next(filter(None, self._each(lambda store: store.chunks(document_id))), [])

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """Return a document's chunks in order, with their vectors, terms and fields, from the first that has it."""
        return next(filter(None, self._each(lambda store: store.indexed_chunks(document_id))), [])

    def records(self, origin: str = "") -> list[SyncRecord]:
        """Return the sync records of an origin, or of all, sorted by origin and source."""
        found = chain.from_iterable(self._each(lambda store: store.records(origin)))
        return sorted(found, key=lambda record: (record.origin, record.source))

    def close(self) -> None:
        """Close the libraries. Idempotent."""
        self._members.close()

    def _once(self, name: str, about: Any, count: Callable[[], Each]) -> Each:
        """Return what was counted a moment ago, if it was about the same; otherwise count."""
        counted_at, was_about, found = self._kept.get(name, (0.0, None, None))
        if not counted_at or was_about != about or time.monotonic() - counted_at > KEPT:
            found = count()
            self._kept[name] = time.monotonic(), about, found
        known: Each = found
        return known

    def _each(self, call: Callable[[Store], Each]) -> list[Each]:
        return list(self._members.ask(self._members.all(call)).values())

    def _stored(self, call: Callable[[Store], list[StoredDocument]]) -> list[list[StoredDocument]]:
        found = self._members.ask(self._members.all(call))
        return [
            [replace(document, library=self._members.name(member)) for document in documents]
            for member, documents in found.items()
        ]

    def _best(self, k: int, calls: Mapping[int, Callable[[Store], Scored]]) -> Scored:
        ranked = (
            [(self._number(member, number), score) for number, score in scored]
            for member, scored in self._members.ask(calls).items()
        )
        return list(islice(merge(*ranked, key=lambda pair: (-pair[1], pair[0])), k))

    def _number(self, member: int, own: int) -> int:
        return own * len(self._members) + member

    def _by_member(self, numbers: Sequence[int]) -> dict[int, list[int]]:
        sorted_out: dict[int, list[int]] = {}
        for number in dict.fromkeys(numbers):
            own, member = divmod(number, len(self._members))
            sorted_out.setdefault(member, []).append(own)
        return sorted_out
