"""Documents → the store: skip what is there, split, embed in batches, make each visible as soon as it is whole."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from answerable.datatypes import Document
from answerable.errors import EmbedderMismatch, EmptySource, WorkerLost
from answerable.indexing.prepare import Prepared, passage, prepare
from answerable.indexing.reports import AddReport, Failure, OnProgress, Progress
from answerable.indexing.workers.steps import Later, Pending
from answerable.indexing.workers.worker_pool import WorkerPool
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

__all__ = ["AddReport", "Failure", "Ingestion", "OnProgress", "Progress", "check_embedder"]

WAITING = 64
# A few seconds of work: as much as may go by without news, and large enough to sort passages by length.
BATCH = 16
SAMPLE = 4

Outcome = Literal["added", "changed", "unchanged", "empty"]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A document that is still to be stored; `known` are the vectors of those passages that were embedded before."""

    prepared: Prepared
    record: SyncRecord | None
    outcome: Outcome
    known: list[PassageVectors | None]


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
        worker_pool: WorkerPool | None = None,
    ) -> None:
        self.report = AddReport()
        self.sources_total = sources_total
        self._store = store
        self._embedder = embedder
        self._splitter = splitter
        self._on_progress = on_progress
        self._dry_run = dry_run
        self._crew = worker_pool
        self._waiting: deque[_Waiting] = deque()
        self._unsent: list[Passage] = []
        self._sent: deque[tuple[list[Passage], Pending[list[PassageVectors]]]] = deque()
        self._arrived: deque[PassageVectors | WorkerLost] = deque()
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

    def take(
        self, document: Document, record: SyncRecord | None = None, previous_copies: Collection[str] = ()
    ) -> Outcome:
        """Adds a document, unless it is there or holds no text. The record becomes visible with it.

        Passages of its earlier version, or of one of the documents `previous_copies`, keep their vectors.
        """
        earlier = self._earlier(document)
        if (document.id, document.content_hash) in earlier:
            self.report.unchanged += 1
            return "unchanged"
        ahead = self._crew.prepared(document) if self._crew else None
        prepared = ahead or prepare(document, self._splitter, lambda: self._tell(_name(document), 0, 0))
        if not prepared.chunks:
            nothing = EmptySource(f"{_name(document)} holds no text: there is nothing to add.")
            self.report.failures.append(Failure(_name(document), nothing))
            return "empty"
        outcome: Outcome = "changed" if earlier else "added"
        self._count(outcome, 1, len(prepared.chunks))
        passages = prepared.passages()
        embedded = self._embedded({*previous_copies, *(document_id for document_id, _ in earlier)})
        known = [embedded.get(each) for each in passages]
        missing = [each for each, vectors in zip(passages, known, strict=True) if vectors is None]
        if self._dry_run:
            self._estimate(missing)
            return outcome
        self._waiting.append(_Waiting(prepared, record, outcome, known))
        self._tell(_name(document), 0, len(prepared.chunks))
        self._send(missing)
        most = WAITING * (self._crew.count if self._crew else 1)
        if self._held() >= most:
            # While these are stored, workers go on with the others.
            self._flush(most // 2 if self._crew else 0)
        return outcome

    def _earlier(self, document: Document) -> list[tuple[str, str]]:
        """Id and hash of what a document takes the place of, or of itself."""
        earlier = [(stored.id, stored.content_hash) for stored in self._store.lookup(document.id, document.source)]
        for other in (waiting.prepared.document for waiting in self._waiting):
            # What waits will have taken the place of what is stored.
            if other.id == document.id or (other.source == document.source != ""):
                earlier = [(other.id, other.content_hash)]
        return earlier

    def _embedded(self, document_ids: Collection[str]) -> dict[Passage, PassageVectors]:
        """The passages of documents in the store, with their vectors."""
        chunks = (chunk for document_id in document_ids for chunk in self._store.indexed_chunks(document_id))
        return {
            passage(each.chunk, each.sentences): PassageVectors(each.vector, each.sentence_vectors) for each in chunks
        }

    def _estimate(self, passages: list[Passage]) -> None:
        """Counts tokens, and on this machine takes the time of a few passages of the first document for the rest."""
        tokens = sum(self._embedder.count_tokens([passage.text for passage in passages]))
        # What may cost something isn't asked for an estimate.
        if passages and not self.report.tokens and self._embedder.cost(tokens) == 0:
            first, *others = passages[:SAMPLE]
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

    def _held(self) -> int:
        return sum(len(waiting.prepared.chunks) for waiting in self._waiting)

    def _send(self, passages: list[Passage], least: int = BATCH) -> None:
        """Hands passages in to be embedded, in batches that span documents; fewer than `least` wait for more."""
        self._unsent += passages
        while len(self._unsent) >= least:
            batch, self._unsent = self._unsent[:BATCH], self._unsent[BATCH:]
            self._sent.append((batch, self._submit(batch)))

    def _submit(self, batch: list[Passage]) -> Pending[list[PassageVectors]]:
        if self._crew is None:
            return Later(lambda: self._embedder.embed_passages(batch))
        return self._crew.embed(batch)

    def _next_vectors(self) -> PassageVectors | WorkerLost:
        """Of the next passage in the order in which they were sent."""
        while not self._arrived:
            if not self._sent:
                self._send([], least=1)
            batch, pending = self._sent.popleft()
            try:
                self._arrived += pending.result()
            except WorkerLost as error:
                if len(batch) == 1:
                    self._arrived.append(error)
                else:
                    # One by one, so that no other document fails than the one that it lies with.
                    self._sent.extendleft(reversed([([each], self._submit([each])) for each in batch]))
        return self._arrived.popleft()

    def _flush(self, keep: int = 0) -> None:
        """Stores what waits, the first document first, until no more than `keep` chunks wait."""
        if not self._waiting:
            return
        self._store.bind_embedder(self._embedder.fingerprint)
        # Somebody else may have been first since this library was opened.
        check_embedder(self._store.fingerprint, self._embedder.fingerprint)
        while self._held() > keep:
            self._store_one(self._waiting.popleft())

    def _store_one(self, waiting: _Waiting) -> None:
        prepared, document = waiting.prepared, waiting.prepared.document
        chunks: list[IndexedChunk] = []
        lost: WorkerLost | None = None
        for number, known in enumerate(waiting.known):
            vectors = self._next_vectors() if known is None else known
            if isinstance(vectors, WorkerLost):
                lost = vectors
                continue
            chunks.append(prepared.indexed(number, vectors))
            self._chunks_done += 1
            self._tell(_name(document), len(chunks), len(prepared.chunks))
        if lost is not None:
            self._count(waiting.outcome, -1, -len(prepared.chunks))
            self.report.failures.append(Failure(_name(document), lost))
            return
        replaced = [stored.id for stored in self._store.lookup(document.id, document.source)]
        self._store.put(document, chunks, replaced, waiting.record)

    def _count(self, outcome: Outcome, documents: int, chunks: int) -> None:
        setattr(self.report, outcome, getattr(self.report, outcome) + documents)
        self.report.chunks += chunks

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


def check_embedder(made_by: Fingerprint | None, used: Fingerprint) -> None:
    """Raises EmbedderMismatch when a library's vectors come from another embedder: the two can't be compared."""
    if made_by is not None and made_by != used:
        raise EmbedderMismatch(
            f"This library was made with the embedder {made_by}, you are using {used}. "
            f"Use the one that made it (the setting embedder is {made_by.provider}:{made_by.model}), "
            "change the library's with `answerable reindex`, or add your documents to a new library with --library."
        )
