"""A store as somebody else would write it: seven methods and the attribute of `answerable.protocols.CoreStore`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from answerable.datatypes import Document, FloatArray
from answerable.filters import Filter, matches
from answerable.protocols import Fingerprint, IndexedChunk, StoredDocument
from answerable.text.terms import rarity, term_weights


class SmallStore:
    """Documents and chunks in dictionaries, compared one by one. On disk, save `content_hash` too (for `of`)."""

    def __init__(self) -> None:
        self.fingerprint: Fingerprint | None = None
        self._documents: dict[str, Document] = {}
        self._chunks: Mapping[int, IndexedChunk] = {}
        self._last = 0

    def put(self, document: Document, chunks: Sequence[IndexedChunk], replaces: Collection[str] = ()) -> None:
        self.remove(document.id, *replaces)
        self._documents[document.id] = document
        self._chunks = {**self._chunks, **dict(enumerate(chunks, self._last + 1))}
        self._last += len(chunks)

    def remove(self, *document_ids: str) -> bool:
        self._chunks = {n: each for n, each in self._chunks.items() if each.chunk.document_id not in document_ids}
        return len([each for each in document_ids if self._documents.pop(each, None)]) > 0

    def document(self, document_id: str) -> Document | None:
        return self._documents.get(document_id)

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        for one in sorted(self._documents.values(), key=lambda one: (one.source, one.id)):
            size = sum(each.chunk.document_id == one.id for each in self._chunks.values())
            if type in ("", str(one.type)):
                yield StoredDocument.of(one, size)

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> list[tuple[int, float]]:
        return self._best({n: float(each.vector @ vector) for n, each in self._chunks.items()}, k, where)

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> list[tuple[int, float]]:
        held = {term: sum(term in each.terms for each in self._chunks.values()) for term in terms}
        rare = {term: rarity(len(self._chunks), count) for term, count in held.items() if count}
        weights = {n: term_weights(each.terms) for n, each in self._chunks.items()}
        scores = {n: sum(own.get(term, 0) * rare[term] for term in rare) for n, own in weights.items()}
        return self._best({n: score for n, score in scores.items() if score}, k, where)

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        found = {number: self._chunks[number] for number in numbers if number in self._chunks}
        return {n: (each, replace(self._documents[each.chunk.document_id], parts=())) for n, each in found.items()}

    def _best(self, scores: Mapping[int, float], k: int, where: Filter | None) -> list[tuple[int, float]]:
        passing = [pair for pair in scores.items() if matches(where, self._chunks[pair[0]].fields)]
        return sorted(passing, key=lambda pair: (-pair[1], pair[0]))[:k]
