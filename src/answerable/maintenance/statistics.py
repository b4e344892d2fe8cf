"""Counts of a library's contents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from answerable.protocols import DocumentStore, Fingerprint


@dataclass(frozen=True, slots=True)
class LibraryStats:
    """The numbers of chunks, of characters, and of documents by language and type; the embedder of the vectors."""

    documents: int
    chunks: int
    characters: int
    languages: Mapping[str, int]
    types: Mapping[str, int]
    fingerprint: Fingerprint | None


def library_stats(store: DocumentStore, fingerprint: Fingerprint | None) -> LibraryStats:
    """Count a store's documents, chunks and characters."""
    documents = list(store.documents())
    return LibraryStats(
        documents=len(documents),
        chunks=sum(document.chunks for document in documents),
        characters=sum(document.characters for document in documents),
        languages=Counter(document.language for document in documents),
        types=Counter(document.type for document in documents),
        fingerprint=fingerprint,
    )
