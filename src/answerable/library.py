"""`Library`: add documents, search, ask. Every interface calls it; it knows protocols, not adapters."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from copy import copy
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np

from answerable.answering.extractive import refuse
from answerable.answering.follow_up_rewriting import keeps_what_was_named
from answerable.answering.quote_places import quote_places, with_places
from answerable.answering.step_clock import StepClock
from answerable.computing.computing import Computing, is_of_rows
from answerable.computing.summaries import summarize
from answerable.datatypes import (
    Answer,
    AnswerEvent,
    Chunk,
    Citation,
    Document,
    Exchange,
    Narrowing,
    Reason,
    SearchResults,
)
from answerable.filters import both, parse_filter
from answerable.indexing.followed_sources import FollowedSources, Origin, SyncReport
from answerable.indexing.ingest import AddReport, Ingestion, OnProgress
from answerable.indexing.prepare import Pipeline
from answerable.indexing.workers.worker_pool import WorkerPool
from answerable.maintenance.erasing import erase_if_due, erased_if_due, forget_origin, forget_vectors, unerased
from answerable.maintenance.filter_choices import FilterChoices, filter_choices
from answerable.maintenance.statistics import LibraryStats, library_stats
from answerable.maintenance.verification import VerifyOptions, VerifyReport, verify
from answerable.protocols import (
    Answerer,
    CoreStore,
    Embedder,
    Evidence,
    JoinedStore,
    Quoting,
    Reader,
    Store,
    StoredDocument,
    TextSplitter,
)
from answerable.retrieval.document_names import no_document, resolve
from answerable.retrieval.narrowing import Narrowed, narrow_among
from answerable.retrieval.question import analyze_question, likely_language, required
from answerable.retrieval.retriever import ALL_STEPS, SearchRequest, Steps, retrieve, word_weights
from answerable.stopping import Work
from answerable.stores.binding import check_embedder
from answerable.stores.completed import Capability, completed, require

PASSAGES_PER_ANSWER, EXTRACTS = 6, 16
# If a narrowed search ends like this, search everything.
_NOT_FOUND = (Reason.NOTHING_FOUND, Reason.WEAK_EVIDENCE)

Where: TypeAlias = "Mapping[str, Any] | None"


class Library:
    """Documents to search and ask. A context manager; thread-safe.

    A question about chats that names a person or a time ("what did Ana say last week?") searches only matching
    messages, unless `narrows` is false; `now` is the local time that "last week" refers to. An answer is sought in
    `passages` passages. Raise EmbedderMismatch if another embedder made the vectors of the store.
    """

    def __init__(
        self,
        store: Store | CoreStore,
        embedder: Embedder,
        splitter: TextSplitter,
        reader: Reader,
        answerer: Answerer,
        narrows: bool = True,
        steps: Steps = ALL_STEPS,
        worker_pool: WorkerPool | None = None,
        passages: int = PASSAGES_PER_ANSWER,
    ) -> None:
        self._store = completed(store)
        self._embedder = embedder
        self._splitter = splitter
        self._reader = reader
        self._answerer = answerer
        self._narrows = narrows
        self.now: Callable[[], datetime] = datetime.now
        self._steps = steps
        self._worker_pool = worker_pool
        self._passages = passages
        self._computing = Computing(self._store, lambda: self.now())
        self._is_bound = False
        self._check_embedder()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def store(self) -> Store:
        """The library's store, for a library of several that has this one as a part."""
        return self._store

    @property
    def unavailable(self) -> Mapping[str, str]:
        """Where the library is several, those that can't be asked at present, and why."""
        return self._store.unavailable if isinstance(self._store, JoinedStore) else {}

    @property
    def embedder(self) -> Embedder:
        """The embedder of the library's vectors."""
        return self._embedder

    def close(self) -> None:
        """Release all resources. Idempotent."""
        if self._worker_pool is not None:
            self._worker_pool.close()
        self._answerer.close()
        self._reader.close()
        self._store.close()

    def reading_with(self, reader: Reader) -> Library:
        """Return this library with another reader of sources, such as one that knows a password; close the reader."""
        other = copy(self)
        other._reader = reader
        return other

    def use_answerer(self, answerer: Answerer) -> Answerer:
        """Answer the next questions with another answerer; return the one it replaces, which may still be answering."""
        replaced, self._answerer = self._answerer, answerer
        return replaced

    def add(
        self, source: str | os.PathLike[str], on_progress: OnProgress | None = None, dry_run: bool = False
    ) -> AddReport:
        """Add a file, folder or site, and follow it: `sync` reads it again.

        Unreadable files in a folder are reported; an unreadable single file raises SourceError. Adding a source again
        updates it: unchanged files aren't opened, documents of deleted files are removed, moved files keep their
        vectors. `dry_run` reads and counts without changing anything.
        """
        return erased_if_due(self._store, self._followed(on_progress, dry_run).add(os.fspath(source)))

    def sync(
        self,
        origins: Sequence[str] = (),
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
        checksum: bool = False,
    ) -> SyncReport:
        """Update the documents of these origins, or of all. An origin that fails is reported; the others are synced.

        A file counts as unchanged if its size and time are; `checksum` reads every file. Raise NotFollowed, and
        LibraryError if the store keeps no sync records.
        """
        require(self._store, Capability.SYNC)
        return erased_if_due(self._store, self._followed(on_progress, dry_run).sync(origins, checksum))

    def origins(self) -> list[Origin]:
        """Return the followed folders, files and sites, by name."""
        return self._followed().origins()

    def unfollow(self, origin: str, forget: bool = False) -> AddReport:
        """Stop following an origin and `remove` its documents that no other origin has. Raise NotFollowed."""
        if forget:
            forget_origin(self._store, self._embedder, [each.name for each in self.origins() if each.is_called(origin)])
        return erased_if_due(self._store, self._followed().unfollow(origin), asked=True)

    def add_documents(
        self, documents: Iterable[Document], on_progress: OnProgress | None = None, dry_run: bool = False
    ) -> AddReport:
        """Add documents. Each replaces the documents with its id or source."""
        listed = documents if isinstance(documents, Sequence) else list(documents)
        return erased_if_due(self._store, self._ingestion(len(listed), on_progress, dry_run).run(enumerate(listed)))

    def verify(
        self, repair: bool = False, checksum: bool = False, online: bool = False, embed: int | None = None
    ) -> VerifyReport:
        """Compare the library with its sources and its index, and with `repair` fix the differences.

        `checksum` reads every file even if its size and time are unchanged; `online` visits sites. `embed` passages are
        embedded again and compared: by default a few, if embedding is free.
        """
        pipeline = Pipeline(self._reader, self._splitter, self._embedder)
        options = VerifyOptions(repair, checksum, online, embed)
        return verify(self._store, pipeline, lambda: self._ingestion(0, None, False), options)

    def search(self, question: str, k: int = 10, where: Where = None, narrows: bool = True) -> SearchResults:
        """Return the k most relevant passages, best first. Raise FilterError and ValueError.

        If the question names a person or a time, search only matching messages, unless `narrows` is false. The
        attribute `narrowing` of the result is the filter that was derived from the question.
        """
        if k < 1:
            raise ValueError(f"k is {k}: it must be at least 1")
        question, chunks = required(question), self._store.count()[1]
        if not chunks:
            return SearchResults(unavailable=self.unavailable)
        narrowed = self._narrowed(question, where) if narrows else None
        applied = narrowed if narrowed and narrowed.narrowing.applied else None
        results = self._evidence(question, where, applied, StepClock(), chunks, k).results
        return SearchResults(results, narrowed.narrowing if narrowed else None, self.unavailable)

    def narrowing(self, question: str, where: Where = None) -> Narrowing | None:
        """Return the filter that `search` derives from a question that names a person or a time, or None."""
        narrowed = self._narrowed(required(question), where)
        return narrowed.narrowing if narrowed else None

    def ask(self, question: str, where: Where = None, history: Sequence[Exchange] = ()) -> Answer:
        """Answer with citations verified verbatim, or refuse. The question may refer to the exchanges of `history`."""
        (*_, last) = self.ask_stream(question, where, history)
        assert last.answer is not None
        return last.answer

    def ask_stream(
        self,
        question: str,
        where: Where = None,
        history: Sequence[Exchange] = (),
        narrows: bool = True,
        work: Work | None = None,
    ) -> Generator[AnswerEvent, None, None]:
        """Yield the events of `ask`; the last one has the answer. Closing the generator stops the chat model.

        Without `narrows` a person or a time in the question is no filter. Another thread may stop the `work`.
        """
        return self._answer_stream(self._answerer, question, where, history, narrows, work or Work())

    def quote(self, question: str, where: Where = None) -> Answer:
        """Answer as `ask` does, but with quotes only: without the chat model, its time and its cost."""
        quoting = self._answerer.quoting if isinstance(self._answerer, Quoting) else self._answerer
        (*_, last) = self._answer_stream(quoting, question, where, (), True, Work())
        assert last.answer is not None
        return last.answer

    def _answer_stream(
        self, answerer: Answerer, question: str, where: Where, history: Sequence[Exchange], narrows: bool, work: Work
    ) -> Generator[AnswerEvent, None, None]:
        clock = StepClock()
        searched, spent = answerer.standalone(required(question), history)
        if history:
            clock.lap("rewriting")
        yield AnswerEvent(searched=searched)
        if not (chunks := self._store.count()[1]):
            refusal = refuse(self._evidence(searched, where, None, clock, chunks), Reason.EMPTY_LIBRARY)
            yield AnswerEvent(answer=replace(refusal, timings=clock.timings(), unavailable=self.unavailable))
            return
        narrowed = self._narrowed(searched, where) if narrows else None
        if narrowed and not keeps_what_was_named(question, searched) and not self._narrowed(question, where):
            narrowed = None
        computed: Answer | None = None
        attempts = (*(narrowed.attempts() if narrowed else ()), None)
        for attempt in attempts:
            about = narrowed.topic if narrowed and not (attempt and attempt.is_open) else ""
            found = self._evidence(searched, where, attempt, clock, chunks)
            evidence = replace(found, message=question.strip(), about=about)
            if attempt is attempts[0]:
                computed = self._computing.answer(
                    *(searched, evidence.message, evidence.language, evidence.results, parse_filter(where), work)
                )
            work.check()
            if computed:
                clock.lap("computing")
                evidence = replace(evidence, computed=replace(computed, results=evidence.results))
            with closing(answerer.stream(evidence, history)) as events:
                for event in events:
                    if event.answer is None:
                        yield event
                        continue
                    clock.lap("answering")
                    if attempt and event.answer.reason in _NOT_FOUND:
                        break
                    shown = None if is_of_rows(event.answer, computed) else narrowed
                    usage = [used for used in (spent, event.answer.usage) if used is not None]
                    answer = replace(
                        with_places(self._store, event.answer, evidence),
                        usage=sum(usage[1:], usage[0]) if usage else None,
                        narrowing=replace(shown.narrowing, applied=attempt is not None) if shown else None,
                        timings=clock.timings(),
                        unavailable=self.unavailable,
                    )
                    yield AnswerEvent(answer=answer)
                    return

    def places(self, quote: str, where: Where = None) -> list[Citation]:
        """Return where exactly this text appears: 512 passages a language at most. Raise FilterError and ValueError."""
        return quote_places(self._store, quote, parse_filter(where))

    def evidence(self, question: str, where: Where = None) -> Evidence:
        """Return the evidence for a question. No filter is derived from the question: the search uses only `where`."""
        return self._evidence(question, where, None, StepClock(), self._store.count()[1])

    def choices(self) -> FilterChoices:
        """Return what a search of this library can be filtered by."""
        return filter_choices(self._store)

    def remove(self, document_id: str, forget: bool = False) -> None:
        """Remove a document, and `forget` its vectors in the cache, which other libraries may use too.

        In a library of up to 10,000 passages nothing of it is left in any file when the call returns; in a larger one,
        `unerased` counts what is left until the files are rewritten (see docs/security.md). Raise DocumentNotFound.
        """
        if forget:
            forget_vectors(self._store, self._embedder, [document_id])
        if not self._store.remove(document_id):
            raise no_document(document_id)
        erase_if_due(self._store, asked=True)

    def unerased(self) -> int:
        """Return how many removed passages may still have data in the library's files: `verify(repair=True)` erases."""
        return unerased(self._store).passages

    def resolve(self, name: str) -> str:
        """Return the id of the document with this id, unique id prefix, path, title, file name, or a part of these two.

        Raise DocumentNotFound if no document matches, or several do; its `candidates` list them.
        """
        return resolve(self._store, name)

    def document(self, document_id: str) -> Document:
        """Return the whole document. Raise DocumentNotFound."""
        document = self._store.document(document_id)
        if document is None:
            raise no_document(document_id)
        return document

    def file_hashes(self, document_id: str) -> set[str]:
        """Return the SHA-256 of each followed file in which this document was read, as of its last visit."""
        return {each.hash for each in self._store.records() if each.hash and document_id in each.documents}

    def documents(self) -> list[StoredDocument]:
        """Return all documents, ordered by source and id, without their text."""
        return list(self._store.documents())

    def summary(self, document_id: str, most: int = EXTRACTS) -> list[Citation]:
        """Return a document's most central sentences, at most so many, in their order. Raise DocumentNotFound."""
        return summarize(self._store, self.document(document_id), most)

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in order. Raise DocumentNotFound."""
        self.document(document_id)
        return self._store.chunks(document_id)

    def neighbours(self, chunk: Chunk, before: int = 1, after: int = 1) -> list[Chunk]:
        """Return a chunk with `before` chunks before it and `after` chunks after it in its document, in order."""
        first, last = chunk.sequence - before, chunk.sequence + after
        return [each for each in self._store.chunks(chunk.document_id) if first <= each.sequence <= last]

    def count(self) -> tuple[int, int]:
        """Return the number of documents and of chunks."""
        return self._store.count()

    def stats(self) -> LibraryStats:
        """Count documents by language and type, chunks and characters."""
        return library_stats(self._store, self._store.fingerprint)

    def _followed(self, on_progress: OnProgress | None = None, dry_run: bool = False) -> FollowedSources:
        return FollowedSources(self._store, self._reader, lambda: self._ingestion(0, on_progress, dry_run), dry_run)

    def _ingestion(self, sources: int, on_progress: OnProgress | None, dry_run: bool) -> Ingestion:
        return Ingestion(self._store, self._embedder, self._splitter, sources, on_progress, dry_run, self._worker_pool)

    def _narrowed(self, question: str, where: Where) -> Narrowed | None:
        return narrow_among(self._store, question, where, self.now()) if self._narrows else None

    def _check_embedder(self) -> None:
        """Raise EmbedderMismatch if the vectors come from another embedder; skip the check once it has passed."""
        if not self._is_bound:
            made_by = self._store.fingerprint
            check_embedder(made_by, self._embedder.fingerprint)
            self._is_bound = made_by is not None

    def _evidence(
        self, question: str, where: Where, narrowed: Narrowed | None, clock: StepClock, chunks: int, k: int = 0
    ) -> Evidence:
        topic = narrowed.topic if narrowed and not narrowed.is_open else None
        asked = analyze_question(required(question), self._store.languages(), topic)
        language = asked.language or likely_language(asked.text, self._store.languages())
        condition = parse_filter(both(where, narrowed.where) if narrowed else where)
        if not chunks:
            nothing = np.zeros(self._embedder.fingerprint.dimension, np.float32)
            return Evidence(asked.text, language, nothing, {}, (), (), condition)
        self._check_embedder()
        vector = self._embedder.embed_query(asked.text)
        clock.lap("embedding")
        weights = word_weights(self._store, asked, chunks)
        request = SearchRequest(asked, vector, weights, chunks, condition)
        found = retrieve(self._store, request, k or self._passages, self._steps)
        clock.lap("retrieval")
        results, indexed = zip(*found, strict=True) if found else ((), ())
        return Evidence(asked.text, language, vector, weights, results, indexed, condition, topic)


def over(library: Library, store: Store | CoreStore) -> Library:
    """Return a library with another's embedder and answerer over a store; close that store. Raise EmbedderMismatch."""
    other = copy(library)
    other._store = completed(store)
    other._computing = Computing(other._store, lambda: other.now())
    other._is_bound = False
    other._check_embedder()
    return other
