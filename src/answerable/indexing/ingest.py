"""Adds documents to the store: skips stored ones, splits, embeds in batches, writes.

A document's chunks, vectors and sync record are written in one transaction, so it becomes visible whole or not at all.
If the store can write several documents at once, documents whose passages were embedded together share a transaction.
Vectors of passages that were embedded before are reused.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from answerable.datatypes import Document
from answerable.errors import EmptySource, WorkerLost
from answerable.formats.locate import shown_source
from answerable.indexing.prepare import Prepared, passage, prepare, seconds_per_token
from answerable.indexing.reports import AddReport, Failure, OnProgress, Progress
from answerable.protocols import (
    Addition,
    BatchStore,
    Embedder,
    IndexedChunk,
    Passage,
    PassageVectors,
    Store,
    SyncRecord,
    TextSplitter,
)
from answerable.stores.records import check_embedder

if TYPE_CHECKING:
    from answerable.indexing.worker_pool import WorkerPool

__all__ = ["AddReport", "Failure", "Ingestion", "OnProgress", "Progress"]

MAX_WAITING_CHUNKS = 64  # four batches: limits the memory of waiting documents; a guess, not measured
# Passages per batch, a few seconds of work: short enough to show progress, large enough to sort passages by length.
BATCH = 16
SAMPLE = 4  # passages from which to extrapolate the time; a guess, not measured

Outcome = Literal["added", "changed", "unchanged", "empty"]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A document to be stored; `known` holds the reused vectors by chunk, None where a passage must be embedded."""

    prepared: Prepared
    record: SyncRecord | None
    outcome: Outcome
    known: list[PassageVectors | None]
    added: float


class Ingestion:
    """One run of adding documents. Holds split documents until their passages are embedded, and keeps the report."""

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
        self._batches = store if isinstance(store, BatchStore) else None
        self._embedder = embedder
        self._splitter = splitter
        self._on_progress = on_progress
        self._dry_run = dry_run
        self._worker_pool = worker_pool
        self._waiting: deque[_Waiting] = deque()
        self._unsent: list[Passage] = []
        # Batches, each with a function that returns its vectors; without workers, the function also computes them.
        self._sent: deque[tuple[list[Passage], Callable[[], list[PassageVectors]]]] = deque()
        self._embedded: deque[PassageVectors | WorkerLost] = deque()
        self._waiting_chunks = 0
        self._ready: list[Addition] = []
        self._sources_done = 0
        self._chunks_done = 0
        self._seconds_per_token = 0.0
        self._started = time.monotonic()

    def run(self, documents: Iterable[tuple[int, Document]]) -> AddReport:
        """Add documents, each given with the number of its source. If an error ends the run, stored documents stay."""
        with self.running():
            for number, document in documents:
                self._sources_done = number
                self.take(document)
        return self.report

    @contextmanager
    def running(self) -> Iterator[None]:
        """Wrap calls of `take`; at the end of the block, store the waiting documents, unless there was an error."""
        try:
            yield
            self._sources_done = self.sources_total
            self._flush()
        finally:
            if self._chunks_done:
                self._store.refresh()
            self.report.seconds = time.monotonic() - self._started

    def reading(self, number: int, source: str) -> None:
        """Report that the source with this number is being read."""
        self._sources_done = number
        self._report_progress(source, 0, 0)

    def take(
        self, document: Document, record: SyncRecord | None = None, previous_copies: Collection[str] = ()
    ) -> Outcome:
        """Add a document unless it is stored already or has no text. The record is written with it.

        Passages of its earlier version, or of the documents with the ids `previous_copies`, keep their vectors.
        """
        earlier, added = self._earlier(document)
        if earlier and (document.id, document.content_hash) in earlier:
            self.report.unchanged += 1
            return "unchanged"
        name, shown = _name(document), _shown(document)
        prepared = self._worker_pool.prepared(document) if self._worker_pool else None
        prepared = prepared or prepare(document, self._splitter, lambda: self._report_progress(shown, 0, 0))
        if not prepared.chunks:
            self.report.failures.append(Failure(name, EmptySource(f"{name} holds no text: there is nothing to add.")))
            return "empty"
        outcome: Outcome = "changed" if earlier else "added"
        self._count(outcome, 1, len(prepared.chunks))
        if document.left_out:
            self.report.partly[name] = document.left_out
        passages = prepared.passages()
        stored = self._stored_vectors({*previous_copies, *(document_id for document_id, _ in earlier)})
        known = [stored.get(each) for each in passages]
        missing = [each for each, vectors in zip(passages, known, strict=True) if vectors is None]
        if self._dry_run:
            self._estimate(missing)
            return outcome
        self._waiting.append(_Waiting(prepared, record, outcome, known, added))
        self._waiting_chunks += len(known)
        self._report_progress(shown, 0, len(prepared.chunks))
        self._send(missing)
        limit = MAX_WAITING_CHUNKS * (self._worker_pool.count if self._worker_pool else 1)
        if self._waiting_chunks >= limit:
            # With workers, leave half of the chunks waiting, so that workers stay busy while this process writes.
            self._flush(limit // 2 if self._worker_pool else 0)
        return outcome

    def _earlier(self, document: Document) -> tuple[list[tuple[str, str]], float]:
        """Return id and hash of each stored or waiting document with this one's id or source, and when it was added."""
        found = self._store.lookup(document.id, document.source)
        earlier = [(stored.id, stored.content_hash) for stored in found]
        added = min((stored.added for stored in found), default=time.time())
        for waiting in self._waiting:
            other = waiting.prepared.document
            # The waiting document will have replaced the stored one before this document is stored.
            if other.id == document.id or (other.source == document.source != ""):
                earlier, added = [(other.id, other.content_hash)], waiting.added
        return earlier, added

    def _stored_vectors(self, document_ids: Collection[str]) -> dict[Passage, PassageVectors]:
        chunks = (chunk for document_id in document_ids for chunk in self._store.indexed_chunks(document_id))
        return {
            passage(each.chunk, each.sentences): PassageVectors(each.vector, each.sentence_vectors) for each in chunks
        }

    def _estimate(self, passages: list[Passage]) -> None:
        """Count tokens. With a local embedder, extrapolate the time from a few passages of the first document."""
        tokens = sum(self._embedder.count_tokens([passage.text for passage in passages]))
        # Don't call an embedder that costs money for an estimate.
        if passages and not self.report.tokens and self._embedder.cost(tokens) == 0:
            self._seconds_per_token = seconds_per_token(self._embedder, passages[:SAMPLE])
        self.report.tokens += tokens
        self.report.estimated_seconds = self.report.tokens * self._seconds_per_token
        self.report.cost = self._embedder.cost(self.report.tokens)

    def _send(self, passages: list[Passage], at_least: int = BATCH) -> None:
        """Queue passages for embedding in batches that span documents; fewer than `at_least` wait for more."""
        self._unsent += passages
        while len(self._unsent) >= at_least:
            batch, self._unsent = self._unsent[:BATCH], self._unsent[BATCH:]
            self._sent.append((batch, self._submit(batch)))

    def _submit(self, batch: list[Passage]) -> Callable[[], list[PassageVectors]]:
        if self._worker_pool is None:
            return partial(self._embedder.embed_passages, batch)
        return self._worker_pool.embed(batch).result

    def _next_vectors(self) -> PassageVectors | WorkerLost:
        """Return the vectors of the next passage; passages return in the order in which they were sent."""
        while not self._embedded:
            if not self._sent:
                self._send([], at_least=1)
            batch, vectors_of_batch = self._sent.popleft()
            try:
                self._embedded += vectors_of_batch()
            except WorkerLost as error:
                if len(batch) == 1:
                    self._embedded.append(error)
                else:
                    # Retry the passages one by one, so that only the document of the passage that kills workers fails.
                    self._sent.extendleft(reversed([([each], self._submit([each])) for each in batch]))
        return self._embedded.popleft()

    def _flush(self, keep: int = 0) -> None:
        """Store waiting documents, oldest first, until at most `keep` chunks wait."""
        if not self._waiting:
            return
        self._store.bind_embedder(self._embedder.fingerprint)
        # Another process may have bound the library to another embedder since this process opened it.
        check_embedder(self._store.fingerprint, self._embedder.fingerprint)
        try:
            while self._waiting_chunks > keep:
                waiting = self._waiting.popleft()
                self._waiting_chunks -= len(waiting.known)
                self._complete(waiting)
        finally:
            # Even after an error, write the documents that have all their vectors.
            self._write()

    def _complete(self, waiting: _Waiting) -> None:
        """Take a document's vectors; then it is ready to be written."""
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
            self._report_progress(_shown(document), len(chunks), len(prepared.chunks))
        if lost is not None:
            self._count(waiting.outcome, -1, -len(prepared.chunks))
            self.report.failures.append(Failure(_name(document), lost))
            return
        self._ready.append(Addition(replace(document, added=waiting.added), chunks, waiting.record))
        if self._batches is None:
            self._write()

    def _write(self) -> None:
        """Write the documents that are ready, in one step if the store can do that."""
        ready, self._ready = self._ready, []
        if self._batches is None:
            for each in ready:
                replaced = [stored.id for stored in self._store.lookup(each.document.id, each.document.source)]
                self._store.put(each.document, each.chunks, replaced, each.record)
        elif ready:
            self._batches.put_all(ready)

    def _count(self, outcome: Outcome, documents: int, chunks: int) -> None:
        setattr(self.report, outcome, getattr(self.report, outcome) + documents)
        self.report.chunks += chunks

    def _report_progress(self, source: str, done: int, total: int) -> None:
        if self._on_progress:
            chunks, sources = (self._chunks_done, self.report.chunks), (self._sources_done, self.sources_total)
            self._on_progress(Progress(source, done, total, *chunks, *sources))


def _name(document: Document) -> str:
    return document.source or document.id


def _shown(document: Document) -> str:
    return shown_source(document) or document.id
