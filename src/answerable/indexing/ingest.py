"""Adds documents to the store: skips stored ones, splits and writes them, then makes their vectors.

A document's chunks and sync record are written in one transaction, so it becomes visible whole or not at all. From then
on its words are searched; its vectors follow in batches, those of all documents that wait for theirs, so that an
interrupted run is continued by the next one. Vectors of passages that were embedded before are reused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from answerable.datatypes import Document
from answerable.errors import EmptySource, WorkerLost
from answerable.formats.locate import shown_source
from answerable.indexing.prepare import BATCH, made_vectors, passage, prepare, seconds_per_token
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
from answerable.stores.completed import takes_words_first
from answerable.stores.records import check_embedder

if TYPE_CHECKING:
    from answerable.indexing.worker_pool import WorkerPool

__all__ = ["AddReport", "Failure", "Ingestion", "OnProgress", "Progress"]

MAX_UNWRITTEN_CHUNKS = 256  # a few hundred kB of text, and what a killed process loses; a round number, not measured
FILLED_EVERY = 2.0  # seconds of embedding that a killed process loses; a round number, not measured
MAX_KEPT_CHUNKS = 2048  # of those without vectors, not to read them again: 20 MB; a round number, not measured
SAMPLE = 4  # passages from which to extrapolate the time; a guess, not measured

Outcome = Literal["added", "changed", "unchanged", "empty"]


class Ingestion:
    """One run of adding documents: `take` stores their words, `fill` makes their vectors. Keeps the report."""

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
        self._takes_words_first = takes_words_first(store)
        self._unwritten: list[Addition] = []
        self._unwritten_names: set[str] = set()
        self._kept: dict[int, tuple[IndexedChunk, Document]] = {}
        self._unwritten_chunks = self._sources_done = self._chunks_done = self._chunks_total = 0
        self._seconds_per_token = 0.0
        self._started = time.monotonic()

    def run(self, documents: Iterable[tuple[int, Document]]) -> AddReport:
        """Add documents, each given with the number of its source. If an error ends the run, stored documents stay."""
        with self.running():
            for number, document in documents:
                self._sources_done = number
                self.take(document)
        self.fill()
        return self.report

    @contextmanager
    def running(self) -> Iterator[None]:
        """Wrap calls of `take`; at the end of the block, even after an error, store what was taken."""
        try:
            yield
            self._sources_done = self.sources_total
        finally:
            self._write()
            self.report.seconds = time.monotonic() - self._started

    def fill(self) -> None:
        """Make the vectors of all chunks in the library that wait for theirs. Raise EmbedderMismatch."""
        try:
            if not self._dry_run and (waiting := self._store.waiting()):
                check_embedder(self._store.fingerprint, self._embedder.fingerprint)
                self._chunks_total = self._chunks_done + len(waiting)
                self._fill(waiting)
        finally:
            if self._chunks_done:
                self._store.refresh()
            self.report.seconds = time.monotonic() - self._started

    def _fill(self, waiting: list[int]) -> None:
        ahead = 2 * self._worker_pool.count if self._worker_pool else 0
        unwritten: dict[int, PassageVectors] = {}
        sizes: dict[str, int] = {}
        written = time.monotonic()
        for _, document in self._store.fetch(waiting[:1]).values() if self._on_progress else ():
            self._report_progress(_shown(document), 0, 0)
        try:
            for batch in made_vectors(self._read, waiting, self._submit, ahead):
                unwritten |= {number: made for number, _, _, made in batch if isinstance(made, PassageVectors)}
                if time.monotonic() - written > FILLED_EVERY:
                    self._store.fill(unwritten)
                    unwritten, written = {}, time.monotonic()
                for _, indexed, document, made in batch:
                    if isinstance(made, WorkerLost):
                        self.report.failures.append(Failure(_name(document), made))
                    if self._on_progress and document.id not in sizes:
                        sizes[document.id] = sum(each.chunks for each in self._store.lookup(document.id, ""))
                    self._chunks_done += 1
                    self._report_progress(_shown(document), indexed.chunk.sequence + 1, sizes.get(document.id, 0))
        finally:
            if unwritten:
                self._store.fill(unwritten)

    def _read(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Return chunks with their documents, like `Store.fetch`; those kept aren't read."""
        read = self._store.fetch([each for each in numbers if each not in self._kept])
        return {each: pair for each in numbers if (pair := self._kept.pop(each, None) or read.get(each))}

    def _submit(self, batch: list[Passage]) -> Callable[[], list[PassageVectors]]:
        if self._worker_pool is None:
            return partial(self._embedder.embed_passages, batch)
        return self._worker_pool.embed(batch).result

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
        setattr(self.report, outcome, getattr(self.report, outcome) + 1)
        self.report.chunks += len(prepared.chunks)
        if document.left_out:
            self.report.partly[name] = document.left_out
        passages = prepared.passages()
        stored = self._stored_vectors({*previous_copies, *(document_id for document_id, _ in earlier)})
        missing = [each for each in passages if each not in stored]
        if self._dry_run:
            self._estimate(missing)
            return outcome
        for start in range(0, 0 if self._takes_words_first else len(missing), BATCH):
            batch = missing[start : start + BATCH]
            stored |= zip(batch, self._embedder.embed_passages(batch), strict=True)
        dimension = self._embedder.fingerprint.dimension
        waits = PassageVectors(np.zeros(dimension, np.float32), np.zeros((0, dimension), np.float32))
        chunks = [prepared.indexed(number, stored.get(each, waits)) for number, each in enumerate(passages)]
        self._chunks_done += sum(each in stored for each in passages)
        self._report_progress(shown, 0, 0)
        self._unwritten.append(Addition(replace(prepared.document, added=document.added or added), chunks, record))
        self._unwritten_names |= {document.id, _name(document)}
        self._unwritten_chunks += len(chunks)
        if self._batches is None or self._unwritten_chunks >= MAX_UNWRITTEN_CHUNKS:
            self._write()
        return outcome

    def _earlier(self, document: Document) -> tuple[list[tuple[str, str]], float]:
        """Return id and hash of each earlier document with this one's id or source, and when it was added."""
        found = self._store.lookup(document.id, document.source)
        earlier = [(stored.id, stored.content_hash) for stored in found]
        added = min((stored.added for stored in found), default=time.time())
        is_unwritten = not self._unwritten_names.isdisjoint((document.id, _name(document)))
        for other in (each.document for each in self._unwritten if is_unwritten):
            # The unwritten document will have replaced the stored one before this document is stored.
            if other.id == document.id or (other.source == document.source != ""):
                earlier, added = [(other.id, other.content_hash)], other.added
        return earlier, added

    def _stored_vectors(self, document_ids: Collection[str]) -> dict[Passage, PassageVectors]:
        chunks = (chunk for document_id in document_ids for chunk in self._store.indexed_chunks(document_id))
        return {
            passage(each.chunk, each.sentences): PassageVectors(each.vector, each.sentence_vectors)
            for each in chunks
            if not each.waits
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

    def _write(self) -> None:
        """Write the documents that were taken, in one step if the store can do that."""
        unwritten, self._unwritten, self._unwritten_names, self._unwritten_chunks = self._unwritten, [], set(), 0
        if not unwritten:
            return
        self._store.bind_embedder(self._embedder.fingerprint)
        # Another process may have bound the library to another embedder since this process opened it.
        check_embedder(self._store.fingerprint, self._embedder.fingerprint)
        if self._batches is not None:
            written = ((chunk, each.document) for each in unwritten for chunk in each.chunks)
            room = MAX_KEPT_CHUNKS - len(self._kept)
            self._kept.update(zip(self._batches.put_all(unwritten)[:room], written, strict=False))
        for each in unwritten if self._batches is None else ():
            replaced = [stored.id for stored in self._store.lookup(each.document.id, each.document.source)]
            self._store.put(each.document, each.chunks, replaced, each.record)

    def _report_progress(self, source: str, done: int, total: int) -> None:
        if self._on_progress:
            chunks = self._chunks_done, max(self._chunks_total, self.report.chunks)
            sources = self._sources_done, self.sources_total
            self._on_progress(Progress(source, done, total, *chunks, *sources))


def _name(document: Document) -> str:
    return document.source or document.id


def _shown(document: Document) -> str:
    return shown_source(document) or document.id
