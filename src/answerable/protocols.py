"""The seams of the engine. What stands behind one can be replaced without touching anything else."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from answerable.datatypes import AnswerEvent, Chunk, Document, Exchange, FloatArray, RetrievalResult, Usage
from answerable.errors import SourceError
from answerable.filters import Filter
from answerable.reading import FileContents, SourceFile, SourceListing

Span: TypeAlias = "tuple[int, int]"


@dataclass(frozen=True, slots=True)
class SyncRecord:
    """What a library remembers of one thing that it follows, such as a file in a folder or a page of a site.

    `origin` is what was added, `source` names the thing in it, `documents` are the ids of what was made of it (none
    where it was passed over). `hash` is of the bytes that were read, empty when they are to be read again;
    `validators` tell later whether they have changed: a file's size and time, what a server gave. `seen` is when the
    thing was last read or asked for, with a time zone.

    A record without an origin is of an origin itself: `source` is what it is called, `validators` are the options to
    visit it with, `seen` is the last visit.
    """

    origin: str
    source: str
    seen: datetime
    hash: str = ""
    validators: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Visited:
    """One thing that was met on a visit: changed, with its documents (none: passed over), unchanged, or an error.

    `record` is what to remember of it, None after an error and where nothing is remembered. One with nothing but its
    source is about to be read.
    """

    source: str
    documents: tuple[Document, ...] = ()
    record: SyncRecord | None = None
    is_unchanged: bool = False
    error: SourceError | None = None


class Visit(Protocol):
    """One visit to a place that changes and is followed: a folder, a file, a site. Used once, and closed."""

    @property
    def origin(self) -> str:
        """What the place is called in records, empty where it isn't to be remembered."""
        ...

    @property
    def total(self) -> int:
        """How many things are known to be there by now; grows while they are met."""
        ...

    @property
    def skipped(self) -> Mapping[str, int]:
        """How many things were passed over by now, by reason."""
        ...

    @property
    def errors(self) -> Sequence[SourceError]:
        """What kept the place from being known whole, other than the errors of the things in it."""
        ...

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        """Everything there, in a steady order; `known` are the records of earlier visits by source.

        Raises SourceError when there is nothing to read at all.
        """
        ...

    def gone(self) -> list[str]:
        """Which sources that were known are there no more. After `items` has ended; none unless all was seen."""
        ...

    def close(self) -> None:
        """Ends what is still under way. Closing twice is fine."""
        ...


class Reader(Protocol):
    """Knows what is to be read at a source: a file, a folder, a site."""

    def listing(self, source: str) -> SourceListing:
        """The items in a steady order; SourceError when there is nothing to read at all."""
        ...

    def read(self, file: SourceFile) -> FileContents:
        """What is in one file. Raises SourceError."""
        ...

    def options(self, source: str) -> Mapping[str, str]:
        """What to remember of a source beside its origin, so as to visit it later in the same way."""
        ...

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        """A visit to a source, with the options remembered or else those that hold now.

        `checksum` reads every file, whatever its size and time say. Raises SourceError and SettingsError.
        """
        ...

    def close(self) -> None:
        """Frees what reading needed."""
        ...


class TextSplitter(Protocol):
    """Cuts a document into chunks."""

    def split(self, document: Document) -> list[Chunk]:
        """Chunks in order; `document.content[chunk.start:chunk.end] == chunk.content`, only white space is left out."""
        ...


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Which embedder made a vector. Vectors of two fingerprints are never compared."""

    provider: str
    model: str
    dimension: int
    revision: str = ""

    def __str__(self) -> str:
        return (
            f"{self.provider}:{self.model} ({self.dimension} dimensions{', ' + self.revision if self.revision else ''})"
        )


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to embed, and the spans in it (its sentences) that want a vector of their own."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """`whole` has shape (dimension,), `spans` (number of spans, dimension); float32, L2-normalised."""

    whole: FloatArray
    spans: FloatArray


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how alike they are."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What identifies the vectors."""
        ...

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Vectors of texts that are searched, in the order given."""
        ...

    def embed_query(self, text: str) -> FloatArray:
        """The vector of a question, shape (dimension,)."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text costs."""
        ...

    def cost(self, tokens: int) -> float | None:
        """What embedding so many tokens costs in US dollars: 0 on this machine, None where the price isn't known."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """Gives a vector for each token of a text, in its context. Rows have length 1; raises EmbeddingError."""

    def embed_passage_tokens(self, texts: Sequence[str]) -> list[FloatArray]:
        """Of each text that is searched its tokens' vectors, shape (tokens, dimension)."""
        ...

    def embed_query_tokens(self, text: str, spans: Sequence[Span]) -> list[FloatArray]:
        """Of each span of a question (in order, not overlapping) its tokens' vectors, shape (tokens, dimension)."""
        ...


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
class Flaw:
    """What a store finds wrong in itself: what is wrong where, and whether `mend` puts it right."""

    kind: Difference
    where: str
    detail: str
    can_mend: bool = True


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

    def claim(self, fingerprint: Fingerprint) -> None:
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

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> list[tuple[int, float]]:
        """The k chunks with the highest BM25 score (see `analysis.bm25`), best first: number and score."""
        ...

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Chunks with their documents (without parts). A number the store doesn't know is left out."""
        ...

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term stands."""
        ...

    def audit(self) -> list[Flaw]:
        """What is wrong below what the other methods show: damage, what belongs to nothing, what is derived wrongly.

        That a document lacks chunks, or that they aren't its own, shows in `indexed_chunks`.
        """
        ...

    def mend(self) -> None:
        """Removes what belongs to nothing or can't be read, and derives anew what is derived wrongly.

        A document may lack chunks afterwards that were there and couldn't be read. Raises LibraryReadOnly.
        """
        ...

    def close(self) -> None:
        """Frees everything. Closing twice is fine."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of what a chat model is given; `role` is system, user or assistant."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a model's answer. The last one has no text, but the usage, where the provider tells.

    `truncated` is said by the last one: the answer reached its limit of tokens and stops in mid-flight.
    """

    text: str
    usage: Usage | None = None
    truncated: bool = False


class ChatModel(Protocol):
    """Writes answers. Safe to share between threads."""

    @property
    def name(self) -> str:
        """`provider:model`."""
        ...

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        """The answer, piece by piece, as it comes. Closing the generator stops the model, on the server too.

        Raises a ProviderError, before the first piece or between two. What can be tried again was, unless a piece
        had come already.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text costs; an estimate where the model's own vocabulary isn't at hand."""
        ...

    def close(self) -> None:
        """Frees connections. Closing twice is fine."""
        ...


class Reranker(Protocol):
    """Judges what texts say on a question, by a second, dearer look. Safe to share between threads."""

    def judge(self, question: str, words: Mapping[Span, float], texts: Sequence[str]) -> list[float]:
        """A score of each text: 1 of the best, 0 of one that says nothing beside it.

        `words` are the question's words, by where they stand in it, with their rarity in the library.
        """
        ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question with all that retrieval found for it.

    `word_weights` are the question's words, each as the set of its stems, with their rarity in the library; `chunks`
    belong to `results` one by one. `where` is the filter that they passed; of a chat window that passed it, only the
    messages that do by themselves may be quoted. `topic` is the question without what the filter already sees to; it
    may have no words left.
    """

    question: str
    language: str
    vector: FloatArray
    word_weights: Mapping[frozenset[str], float]
    results: tuple[RetrievalResult, ...]
    chunks: tuple[IndexedChunk, ...]
    where: Filter | None = None
    topic: str | None = None


class Answerer(Protocol):
    """Turns evidence into an answer with citations, or a refusal."""

    def standalone(self, question: str, history: Sequence[Exchange]) -> tuple[str, Usage | None]:
        """The question with what it leaves to the exchanges before it, and what finding that out cost."""
        ...

    def stream(self, evidence: Evidence, history: Sequence[Exchange]) -> Generator[AnswerEvent, None, None]:
        """What happens, up to the answer, whose every citation stands verbatim in its document."""
        ...

    def close(self) -> None:
        """Frees everything. Closing twice is fine."""
        ...
