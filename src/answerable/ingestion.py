"""Documents → the store: skip what is there, split, embed in batches, make each visible as soon as it is whole."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from answerable.analysis.indexed_text import indexed_spans, indexed_text
from answerable.analysis.languages import document_language
from answerable.analysis.terms import terms
from answerable.datatypes import Chunk, Document
from answerable.errors import AnswerableError, EmbedderMismatch, EmptySource
from answerable.filters import normalize_fields
from answerable.protocols import (
    Embedder,
    Fingerprint,
    IndexedChunk,
    Passage,
    PassageVectors,
    Store,
    SyncRecord,
    TextSplitter,
)
from answerable.splitting.evidence import evidence_spans

WAITING = 64
# A few seconds of work: as much as may go by without news, and large enough to sort passages by length.
BATCH = 16
SAMPLE = 4


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that couldn't be added, and why."""

    source: str
    error: AnswerableError


@dataclass(slots=True)
class AddReport:
    """What adding did: documents by outcome, their chunks, what was passed over by reason, and what failed.

    Of a place that is followed, `removed` counts the documents that are gone from it, and `kept` the things that
    weren't met, and stay since not all of the place could be seen. `tokens`, `estimated_seconds` and `cost` (in US
    dollars, None where the price isn't known) are those of a dry run; `seconds` are of wall time.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    kept: int = 0
    chunks: int = 0
    tokens: int = 0
    estimated_seconds: float = 0.0
    cost: float | None = 0.0
    seconds: float = 0.0
    skipped: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def merge(self, other: AddReport) -> None:
        """Adds up two reports."""
        for name in ("added", "changed", "unchanged", "removed", "kept", "chunks"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("tokens", "estimated_seconds", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        self.skipped.update(other.skipped)
        self.failures += other.failures


@dataclass(frozen=True, slots=True)
class Progress:
    """How far adding has come, in chunks of the document at hand and of all, and in sources.

    `chunks_total` grows as sources are read, and so may `sources_total`, of a site. `document_total` is 0 while a
    source is being read.
    """

    source: str
    document_done: int
    document_total: int
    chunks_done: int
    chunks_total: int
    sources_done: int
    sources_total: int


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class _Prepared:
    document: Document
    chunks: list[Chunk]
    sentences: list[tuple[tuple[int, int], ...]]
    record: SyncRecord | None

    def passages(self) -> list[Passage]:
        return [_passage(chunk, spans) for chunk, spans in zip(self.chunks, self.sentences, strict=True)]


class Ingestion:
    """One run of adding: holds what has been split and waits to be embedded, and keeps the count."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        splitter: TextSplitter,
        sources_total: int,
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
    ) -> None:
        self.report = AddReport()
        self.sources_total = sources_total
        self._store = store
        self._embedder = embedder
        self._splitter = splitter
        self._on_progress = on_progress
        self._dry_run = dry_run
        self._waiting: list[_Prepared] = []
        self._sources_done = 0
        self._chunks_done = 0
        self._seconds_per_token = 0.0
        self._started = time.monotonic()

    def run(self, documents: Iterable[tuple[int, Document]]) -> AddReport:
        """Adds documents, each with the number of its source. Whatever ends it early, what was stored stays."""
        with self.running():
            for number, document in documents:
                self._sources_done = number
                self.take(document)
        return self.report

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around all that is taken: what waits at its end is stored, unless an error ends it."""
        try:
            yield
            self._sources_done = self.sources_total
            self._flush()
        finally:
            if self._chunks_done:
                self._store.refresh()
            self.report.seconds = time.monotonic() - self._started

    def reading(self, number: int, source: str) -> None:
        """Tells that the source of this number is about to be read, which may take a while."""
        self._sources_done = number
        self._tell(source, 0, 0)

    def take(self, document: Document, record: SyncRecord | None = None) -> bool:
        """Adds a document, unless it is there or holds no text; whether it did. The record becomes visible with it."""
        outcome = self._outcome(document)
        if outcome == "unchanged":
            self.report.unchanged += 1
            return False
        prepared = self._prepare(document, record)
        if not prepared.chunks:
            nothing = EmptySource(f"{_name(document)} holds no text: there is nothing to add.")
            self.report.failures.append(Failure(_name(document), nothing))
            return False
        setattr(self.report, outcome, getattr(self.report, outcome) + 1)
        self.report.chunks += len(prepared.chunks)
        if self._dry_run:
            self._estimate(prepared)
            return True
        self._waiting.append(prepared)
        self._tell(_name(document), 0, len(prepared.chunks))
        if sum(len(waiting.chunks) for waiting in self._waiting) >= WAITING:
            self._flush()
        return True

    def _outcome(self, document: Document) -> str:
        known = [(stored.id, stored.content_hash) for stored in self._store.lookup(document.id, document.source)]
        for other in (waiting.document for waiting in self._waiting):
            # What waits will have taken the place of what is stored.
            if other.id == document.id or (other.source == document.source != ""):
                known = [(other.id, other.content_hash)]
        if (document.id, document.content_hash) in known:
            return "unchanged"
        return "changed" if known else "added"

    def _prepare(self, document: Document, record: SyncRecord | None) -> _Prepared:
        language = document.language or document_language(document.content)
        document = replace(document, language=language)
        chunks = self._splitter.split(document)
        return _Prepared(document, chunks, [evidence_spans(chunk, language) for chunk in chunks], record)

    def _estimate(self, prepared: _Prepared) -> None:
        """Counts tokens, and on this machine takes the time of a few passages of the first document for the rest."""
        tokens = sum(self._embedder.count_tokens([indexed_text(chunk) for chunk in prepared.chunks]))
        # What may cost something isn't asked for an estimate.
        if not self.report.tokens and self._embedder.cost(tokens) == 0:
            first, *others = prepared.passages()[:SAMPLE]
            # The first one pays for loading the model, unless there is no other to take the time of.
            self._embedder.embed_passages([first] if others else [])
            sample = others or [first]
            started = time.monotonic()
            self._embedder.embed_passages(sample)
            sample_tokens = sum(self._embedder.count_tokens([passage.text for passage in sample]))
            self._seconds_per_token = (time.monotonic() - started) / max(sample_tokens, 1)
        self.report.tokens += tokens
        self.report.estimated_seconds = self.report.tokens * self._seconds_per_token
        self.report.cost = self._embedder.cost(self.report.tokens)

    def _flush(self) -> None:
        if not self._waiting:
            return
        self._store.claim(self._embedder.fingerprint)
        # Somebody else may have been first since this library was opened.
        check_embedder(self._store.fingerprint, self._embedder.fingerprint)
        waiting, self._waiting = self._waiting, []
        vectors = self._embed(waiting)
        for prepared in waiting:
            chunks = []
            for chunk, spans in zip(prepared.chunks, prepared.sentences, strict=True):
                chunks.append(_indexed(prepared.document, chunk, spans, next(vectors)))
                self._chunks_done += 1
                self._tell(_name(prepared.document), len(chunks), len(prepared.chunks))
            replaced = [stored.id for stored in self._store.lookup(prepared.document.id, prepared.document.source)]
            self._store.put(prepared.document, chunks, replaced, prepared.record)

    def _embed(self, waiting: Sequence[_Prepared]) -> Iterator[PassageVectors]:
        """Vectors of all passages in order, embedded in batches that span documents."""
        passages = [passage for prepared in waiting for passage in prepared.passages()]
        for start in range(0, len(passages), BATCH):
            yield from self._embedder.embed_passages(passages[start : start + BATCH])

    def _tell(self, source: str, done: int, total: int) -> None:
        if self._on_progress:
            progress = Progress(
                source=source,
                document_done=done,
                document_total=total,
                chunks_done=self._chunks_done,
                chunks_total=self.report.chunks,
                sources_done=self._sources_done,
                sources_total=self.sources_total,
            )
            self._on_progress(progress)


def _name(document: Document) -> str:
    return document.source or document.id


def _indexed(
    document: Document, chunk: Chunk, spans: tuple[tuple[int, int], ...], vectors: PassageVectors
) -> IndexedChunk:
    return IndexedChunk(
        chunk=chunk,
        vector=vectors.whole,
        terms=Counter(terms(indexed_text(chunk), document.language)),
        fields=normalize_fields(_fields(document, chunk)),
        sentences=spans,
        sentence_vectors=vectors.spans,
    )


def _passage(chunk: Chunk, spans: tuple[tuple[int, int], ...]) -> Passage:
    return Passage(indexed_text(chunk), indexed_spans(chunk, spans))


def _fields(document: Document, chunk: Chunk) -> dict[str, Any]:
    """What filters look at. A document's own metadata can't take the place of the engine's fields."""
    pages = chunk.location.pages
    return {
        **document.metadata,
        "source": document.source,
        "type": str(document.type),
        "language": document.language,
        "title": document.title,
        "document_id": document.id,
        "page": list(range(pages[0], pages[1] + 1)) if pages else None,
        "heading": chunk.location.headings,
        "sender": chunk.location.senders,
        "date": [part.time for part in chunk.parts if part.time] or document.metadata.get("date"),
    }


def check_embedder(made_by: Fingerprint | None, used: Fingerprint) -> None:
    """Raises EmbedderMismatch when a library's vectors come from another embedder: the two can't be compared."""
    if made_by is not None and made_by != used:
        raise EmbedderMismatch(
            f"This library was made with the embedder {made_by}, you are using {used}. "
            f"Use the one that made it (the setting embedder is {made_by.provider}:{made_by.model}), "
            "or add your documents to a new library with --library."
        )
