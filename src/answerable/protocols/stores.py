"""Interfaces of stores, separate ones for searching, adding, syncing and maintaining a library.

A store with the members of `CoreStore` is enough to add, search, answer and remove (see `stores.completed`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from answerable.datatypes import Chunk, Document, FloatArray, Name
from answerable.filters import Filter
from answerable.left_out import LeftOut
from answerable.protocols.passages import Fingerprint, PassageVectors
from answerable.protocols.sources import SyncRecord


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with everything a store needs to find it and to answer from it.

    `terms` are counts for keyword search, `fields` the values that filters compare, `sentences` spans of
    `chunk.content` with one row of `sentence_vectors` each (no rows if the embedder makes none). Vectors that aren't
    made yet are zeros.
    """

    chunk: Chunk
    vector: FloatArray
    terms: Mapping[str, int]
    fields: Mapping[str, Any]
    sentences: tuple[tuple[int, int], ...]
    sentence_vectors: FloatArray

    @property
    def waits(self) -> bool:
        """Whether the chunk waits for its vectors: until then it is only found by its words."""
        return not self.vector.any()


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document's description, without its text. `library` names its library if several are searched as one."""

    id: str
    source: str
    title: str
    type: str
    language: str
    content_hash: str
    chunks: int
    characters: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    library: str = ""
    left_out: tuple[LeftOut, ...] = ()
    added: float = field(default=0.0, compare=False)

    @classmethod
    def of(cls, document: Document, chunks: int, content_hash: str = "") -> StoredDocument:
        """Return the description of a document with this number of chunks.

        `content_hash` is the stored hash. Without it the hash is computed, which gives another one if the metadata was
        read back from JSON: there a date is a string and a tuple is a list.
        """
        same = ("id", "source", "title", "language", "metadata", "left_out", "added")
        return cls(
            **{name: getattr(document, name) for name in same},
            type=str(document.type),
            content_hash=content_hash or document.content_hash,
            chunks=chunks,
            characters=len(document.content),
        )


@dataclass(frozen=True, slots=True)
class Addition:
    """A document to store, with its chunks and its sync record."""

    document: Document
    chunks: Sequence[IndexedChunk]
    record: SyncRecord | None = None


class Difference(Name):
    """Kinds of differences that `verify` finds in a library."""

    DAMAGED = "damaged"
    MISSING = "missing"
    ORPHANED = "orphaned"
    STALE = "stale"
    OFFSETS = "wrong offsets"
    VECTORS = "wrong vectors"
    COUNTS = "wrong counts"
    LINK = "broken link"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Issue:
    """A fault of a store and its place; `RepairableStore.repair` removes it."""

    kind: Difference
    where: str
    detail: str


class Finds(Protocol):
    """The searches that every store has. Chunks are identified by numbers that the store assigns and never reuses."""

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> list[tuple[int, float]]:
        """Return number and cosine of the k chunks with the highest cosine, best first, then by number."""
        ...

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> list[tuple[int, float]]:
        """Return number and score of the k chunks with the highest BM25 score (see `text.terms`), best first."""
        ...

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Return chunks with their documents (without parts), in this order; skip unknown numbers."""
        ...


class Keeps(Protocol):
    """Access to the documents of a store. A document's chunks become visible together or not at all."""

    def remove(self, *document_ids: str) -> bool:
        """Remove these documents in one step; return False if none of them exists.

        From then on no method finds or returns them. `ErasingStore.erase` deletes the data that stays in files.
        """
        ...

    def document(self, document_id: str) -> Document | None:
        """Return the whole document with its parts."""
        ...

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Return all documents, or those of one type, without text, sorted by source and id."""
        ...


class CoreStore(Finds, Keeps, Protocol):
    """The minimum that a store must implement: seven methods and an attribute.

    `fingerprint` identifies the embedder of the vectors. It is None in a new store and set once, before the first
    `put`; a store that outlives its process saves it.
    """

    fingerprint: Fingerprint | None

    def put(self, document: Document, chunks: Sequence[IndexedChunk], replaces: Collection[str] = ()) -> None:
        """Store a document with its chunks and remove the documents it replaces, in one step.

        A document with the same id is always replaced.
        """
        ...


class SearchStore(Finds, Protocol):
    """The part of a store that searches use."""

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> list[tuple[int, float]]:
        """Return number and score of the k chunks with the highest BM25 score (see `text.terms`), best first.

        `rarities` (inverse document frequencies) replace the store's own if it is searched as a part of several stores.
        """
        ...

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> list[tuple[int, float]]:
        """Return number and cosine of these chunks, best first; skip unknown numbers."""
        ...

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term."""
        ...

    def count(self) -> tuple[int, int]:
        """Return the number of documents and of chunks."""
        ...

    def languages(self) -> list[str]:
        """Return the languages of the documents, each once, sorted."""
        ...


@runtime_checkable
class CountingStore(Protocol):
    """An optional method of stores, which counts the chunks with a text without listing them."""

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        """Return, by hash of a text, how many chunks that pass `where` have this text (see `text.indexed_text`)."""
        ...


class DocumentStore(Keeps, Protocol):
    """The part of a store that adding and removing use.

    From the first read of `fingerprint` on, a store handles only vectors of that embedder: once another embedder's
    vectors have replaced them, every method that reads or writes vectors raises EmbedderMismatch.
    """

    @property
    def is_writable(self) -> bool:
        """Whether this process may change the library."""
        ...

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder of the vectors; None until the library is bound to one."""
        ...

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Bind the library to an embedder unless it already has one."""
        ...

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Store a document with its chunks and its record, and remove the documents it replaces, in one step.

        A document with the same id is always replaced. Raise LibraryReadOnly and LibraryError.
        """
        ...

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """Return the documents that have this id or, unless `source` is empty, this source."""
        ...

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in order."""
        ...

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """Return a document's chunks in order, with their vectors, terms and fields."""
        ...

    def waiting(self) -> list[int]:
        """Return the numbers of the chunks that wait for their vectors, in order."""
        ...

    def fill(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Write vectors by chunk number, in one step; ignore chunks that have been removed."""
        ...

    def refresh(self) -> None:
        """Update the indexes that the writing methods don't update."""
        ...


@runtime_checkable
class BatchStore(Protocol):
    """An optional method of stores for which one step with several documents is faster than a step for each."""

    def put_all(self, additions: Sequence[Addition]) -> Sequence[int]:
        """Store documents with their chunks and records, in this order, all or none; return the chunks' numbers.

        Each document replaces those with the same id or, unless it is empty, the same source. Raise LibraryReadOnly
        and LibraryError.
        """
        ...


@runtime_checkable
class SyncStore(Protocol):
    """The part of a store that `sync` uses."""

    def records(self, origin: str = "") -> list[SyncRecord]:
        """Return the sync records of an origin, or of all, sorted by origin and source."""
        ...

    def remember(self, records: Sequence[SyncRecord]) -> None:
        """Write sync records, all or none; each replaces the record with its origin and source."""
        ...

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Remove the sync records of these sources; the documents stay."""
        ...


@runtime_checkable
class RepairableStore(Protocol):
    """The part of a store that `verify` uses."""

    def audit(self) -> list[Issue]:
        """Return the faults that other methods don't show: damaged files, rows that can't be read.

        Don't check what `stores.audit` compares for every store, such as counts and the results of searches.
        """
        ...

    def repair(self, rebuild: bool = True) -> None:
        """Remove unreadable rows and rows that belong to no document; with `rebuild`, make all derived data again.

        Afterwards a document may lack chunks that couldn't be read. Raise LibraryReadOnly.
        """
        ...


@dataclass(frozen=True, slots=True)
class Unerased:
    """The number of removed passages whose data may still be in a store's files, and when the files were rewritten.

    `erased` is a Unix time, 0 for never.
    """

    passages: int
    erased: float


@runtime_checkable
class ErasingStore(Protocol):
    """The part of a store that `maintenance.erasing` uses: removing hides a document at once, erasing rewrites files.

    A store without these methods must leave nothing behind when it removes a document.
    """

    def unerased(self) -> Unerased:
        """Return how many removed passages aren't erased yet."""
        ...

    def erase(self) -> None:
        """Rewrite files that may still have data of removed passages. Takes time in proportion to the library.

        Files that other processes hold open may be left: then `unerased` still counts them. Raise LibraryError.
        """
        ...


class NextVectors(Protocol):
    """Vectors of another embedder, collected next to a library's own vectors until they replace these in one step.

    The collected vectors stay when the process ends, unless the store is in memory. Raises LibraryReadOnly and
    LibraryError.
    """

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder whose vectors are being collected; None if none are."""
        ...

    def begin(self, fingerprint: Fingerprint) -> None:
        """Begin or resume collecting. Raise EmbedderMismatch if vectors of another embedder are being collected."""
        ...

    def missing(self) -> list[int]:
        """Return the numbers of the chunks without a collected vector, in order."""
        ...

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Write vectors by chunk number; ignore chunks that have been removed."""
        ...

    def switch(self) -> bool:
        """Replace the library's vectors and fingerprint by the collected ones, in one step.

        Return False and change nothing if chunks were added whose vectors are missing.
        """
        ...

    def drop(self) -> None:
        """Delete all collected vectors, also those of earlier processes."""
        ...


@runtime_checkable
class ReindexableStore(Protocol):
    """The part of a store that `reindex` uses."""

    def next_vectors(self) -> NextVectors:
        """Return the object that collects vectors of another embedder."""
        ...


@runtime_checkable
class JoinedStore(Protocol):
    """A store of several libraries, which goes on without libraries that fail."""

    @property
    def unavailable(self) -> Mapping[str, str]:
        """The libraries that can't be searched at present, and why."""
        ...


class Store(SearchStore, DocumentStore, SyncStore, RepairableStore, ReindexableStore, Protocol):
    """A store with all methods, like the stores of this package."""

    def close(self) -> None:
        """Release all resources. Idempotent."""
        ...


class StoreFactory(Protocol):
    """Makes the store at a library's address SCHEME://…, where SCHEME is the entry point's name."""

    def __call__(self, address: str, create: bool) -> CoreStore:
        """Return the store at the whole address. Without `create`, raise LibraryNotFound if there is none."""
