"""Where documents are kept and found: a store, what it is given and what it says of itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.filters import Filter
from answerable.protocols.passages import Fingerprint, PassageVectors
from answerable.protocols.sources import SyncRecord


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with everything that a store needs to find it and to answer from it.

    `terms` are counts for keyword search, `fields` what filters look at, `sentences` spans of `chunk.content` with
    one row of `sentence_vectors` each (no rows where the embedder gives none).
    """

    chunk: Chunk
    vector: FloatArray
    terms: Mapping[str, int]
    fields: Mapping[str, Any]
    sentences: tuple[tuple[int, int], ...]
    sentence_vectors: FloatArray


class NextVectors(Protocol):
    """Vectors of another embedder, gathered beside a library's own until they take their place in one step.

    What was gathered is there for the next process too. Raises LibraryReadOnly and LibraryError.
    """

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder whose vectors are being gathered, None where none are."""
        ...

    def begin(self, fingerprint: Fingerprint) -> None:
        """Begins, or goes on with what is there. Raises EmbedderMismatch where that is another embedder's."""
        ...

    def missing(self) -> list[int]:
        """The numbers of the chunks whose vectors haven't been gathered yet, in order."""
        ...

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Writes vectors of chunks, by number; those of chunks that are gone count for nothing."""
        ...

    def switch(self) -> bool:
        """Puts what was gathered in the place of the library's vectors and fingerprint, in one step.

        False, and nothing has changed, where chunks have come whose vectors are missing.
        """
        ...

    def drop(self) -> None:
        """Forgets what was gathered, and whatever an earlier time has left behind."""
        ...


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What a store says of a document without handing out its text."""

    id: str
    source: str
    title: str
    type: str
    language: str
    content_hash: str
    chunks: int
    characters: int
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Difference(str, Enum):
    """In what way a library isn't what it should be."""

    DAMAGED = "damaged"
    MISSING = "missing"
    ORPHANED = "orphaned"
    STALE = "stale"
    OFFSETS = "wrong offsets"
    VECTORS = "wrong vectors"
    COUNTS = "wrong counts"
    LINK = "broken link"
    MOVED = "moved"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Issue:
    """What a store finds wrong in itself: what is wrong where, and whether `repair` puts it right."""

    kind: Difference
    where: str
    detail: str
    can_repair: bool = True


class Store(Protocol):
    """Keeps documents with their chunks, and finds chunks.

    A document's chunks become visible together or not at all. Chunks are named by numbers that the store gives and
    never gives again. Once it has been asked for its fingerprint, a store gives and takes vectors of that embedder
    only: when others have taken their place, whatever has to do with vectors raises EmbedderMismatch.
    """

    @property
    def is_writable(self) -> bool:
        """Whether anything can be changed."""
        ...

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder that made the vectors, None until there are any."""
        ...

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Binds the library to an embedder unless it is bound already."""
        ...

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Makes a document and its chunks visible, in one step with removing the documents it replaces.

        A document of the same id is always replaced. A record is written in the same step. Raises LibraryReadOnly and
        LibraryError.
        """
        ...

    def remove(self, *document_ids: str) -> bool:
        """Removes every trace of documents, of all in one step; False when there is none of them."""
        ...

    def records(self, origin: str = "") -> list[SyncRecord]:
        """What is remembered of an origin, or of all, by origin and source."""
        ...

    def remember(self, records: Sequence[SyncRecord]) -> None:
        """Writes records, all or none; one of the same origin and source is replaced."""
        ...

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Removes records; documents stay."""
        ...

    def next_vectors(self) -> NextVectors:
        """Where vectors of another embedder are gathered."""
        ...

    def refresh(self) -> None:
        """Brings what is derived from the documents up to date, where that is not done at once."""
        ...

    def document(self, document_id: str) -> Document | None:
        """The whole document with its parts."""
        ...

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Every document, or every one of a type, by source and id."""
        ...

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """The documents that have this id or, where it isn't empty, this source."""
        ...

    def chunks(self, document_id: str) -> list[Chunk]:
        """A document's chunks in order."""
        ...

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """A document's chunks in order, with everything that a store keeps of them."""
        ...

    def languages(self) -> list[str]:
        """The languages of the documents, each once."""
        ...

    def count(self) -> tuple[int, int]:
        """How many documents and chunks there are."""
        ...

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> list[tuple[int, float]]:
        """The k chunks with the highest cosine, best first: number and cosine."""
        ...

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> list[tuple[int, float]]:
        """The cosines of these chunks, best first: number and cosine. A number the store doesn't know is left out."""
        ...

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> list[tuple[int, float]]:
        """The k chunks with the highest BM25 score (see `analysis.bm25`), best first: number and score."""
        ...

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Chunks with their documents (without parts). A number the store doesn't know is left out."""
        ...

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term stands."""
        ...

    def audit(self) -> list[Issue]:
        """What is wrong below what the other methods show: damage, what belongs to nothing, what is derived wrongly.

        That a document lacks chunks, or that they aren't its own, shows in `indexed_chunks`.
        """
        ...

    def repair(self) -> None:
        """Removes what belongs to nothing or can't be read, and derives anew what is derived wrongly.

        A document may lack chunks afterwards that were there and couldn't be read. Raises LibraryReadOnly.
        """
        ...

    def close(self) -> None:
        """Frees everything. Closing twice is fine."""
        ...
