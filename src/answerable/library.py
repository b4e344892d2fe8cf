"""`Library`: add documents, search, ask. Every interface calls it; it depends on protocols, not on adapters."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from answerable.answering.ask import ask, last_of
from answerable.answering.citations import quote_places
from answerable.answering.decide import Answering, Parts
from answerable.answering.found import Found
from answerable.answering.search import SearchResults, named_filter, search, understand
from answerable.datatypes import Answer, AnswerEvent, Chunk, Citation, Document, Exchange, Narrowing
from answerable.filters import parse_filter
from answerable.indexing.followed_sources import FollowedSources, Origin, SyncReport
from answerable.indexing.ingest import AddReport, Ingestion, OnProgress
from answerable.indexing.prepare import Pipeline
from answerable.maintenance.erasing import erase_if_due, erased_if_due, forget_origin, forget_vectors, unerased
from answerable.maintenance.statistics import FilterChoices, LibraryStats, filter_choices, library_stats
from answerable.protocols import CoreStore, Embedder, JoinedStore, Reader, Store, StoredDocument, TextSplitter
from answerable.retrieval.document_names import no_document, resolve
from answerable.retrieval.retriever import ALL_STEPS, Steps, required
from answerable.sharing import Work
from answerable.stores.completed import Capability, completed, require
from answerable.stores.records import check_embedder
from answerable.text.languages import question_language

if TYPE_CHECKING:
    # Imported when they are used, so that other commands start faster.
    from answerable.computing.computing import Computing
    from answerable.computing.plans import TableAnswer
    from answerable.indexing.worker_pool import WorkerPool
    from answerable.maintenance.verification.findings import VerifyReport

PASSAGES_PER_ANSWER, EXTRACTS = 6, 16  # passages for an answer; sentences of a summary. Guesses, not measured.

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
        answerer: Answering,
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
        self._is_bound = False
        self._check_embedder()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def store(self) -> Store:
        """The library's store, for a joined library that has this library as a part."""
        return self._store

    @property
    def unavailable(self) -> Mapping[str, str]:
        """For several joined libraries: those that can't be queried at present, and why."""
        return self._store.unavailable if isinstance(self._store, JoinedStore) else {}

    @property
    def embedder(self) -> Embedder:
        """The embedder that makes the library's vectors."""
        return self._embedder

    def close(self) -> None:
        """Release all resources. Idempotent."""
        if self._worker_pool is not None:
            self._worker_pool.close()
        self._answerer.close()
        self._reader.close()
        self._store.close()

    def reading_with(self, reader: Reader) -> Library:
        """Return this library with another file reader, such as one with a password. The caller closes the reader."""
        other = copy(self)
        other._reader = reader
        return other

    def use_answerer(self, answerer: Answering) -> Answering:
        """Use another answerer for the next questions; return the previous answerer, which may still be answering."""
        replaced, self._answerer = self._answerer, answerer
        return replaced

    def add(
        self,
        source: str | os.PathLike[str],
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
        with_vectors: bool = True,
    ) -> AddReport:
        """Add a file, folder or site, and follow it: `sync` reads it again.

        Unreadable files in a folder are reported; an unreadable single file raises SourceError. Adding a source again
        updates it: unchanged files aren't opened, documents of deleted files are removed, moved files keep their
        vectors. `dry_run` reads and counts without changing anything. Words can be searched as soon as a document is
        stored; without `with_vectors`, call `make_vectors` later.
        """
        report = self._followed(on_progress, dry_run).add(os.fspath(source), with_vectors)
        return erased_if_due(self._store, report)

    def make_vectors(self, on_progress: OnProgress | None = None) -> AddReport:
        """Make the vectors of all passages that wait for theirs; until then they are found by their words only."""
        ingestion = self._ingestion(0, on_progress, False)
        ingestion.fill()
        return ingestion.report

    def waiting(self) -> int:
        """Return the number of passages that wait for their vectors."""
        return len(self._store.waiting())

    def sync(
        self,
        origins: Sequence[str] = (),
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
        checksum: bool = False,
    ) -> SyncReport:
        """Update the documents of these origins, or of all origins. Report an origin that fails, and sync the rest.

        A file counts as unchanged if its size and modification time are; with `checksum`, every file is read. Raise
        NotFollowed, and LibraryError if the store keeps no sync records.
        """
        require(self._store, Capability.SYNC)
        return erased_if_due(self._store, self._followed(on_progress, dry_run).sync(origins, checksum))

    def origins(self) -> list[Origin]:
        """Return the followed folders, files and sites, by name."""
        return self._followed().origins()

    def unfollow(self, origin: str, forget: bool = False) -> AddReport:
        """Stop following an origin, and `remove` its documents unless another origin has them. Raise NotFollowed."""
        if forget:
            forget_origin(self._store, self._embedder, [each.name for each in self.origins() if each.is_called(origin)])
        return erased_if_due(self._store, self._followed().unfollow(origin), asked=True)

    def add_documents(
        self, documents: Iterable[Document], on_progress: OnProgress | None = None, dry_run: bool = False
    ) -> AddReport:
        """Add documents. Each one replaces stored documents that have its id or source."""
        listed = documents if isinstance(documents, Sequence) else list(documents)
        return erased_if_due(self._store, self._ingestion(len(listed), on_progress, dry_run).run(enumerate(listed)))

    def verify(
        self, repair: bool = False, checksum: bool = False, online: bool = False, embed: int | None = None
    ) -> VerifyReport:
        """Compare the library with its sources and its index, and with `repair` fix the differences.

        `checksum` reads every file even if its size and time are unchanged; `online` visits sites. `embed` passages are
        embedded again and compared: by default a few, if embedding is free.
        """
        from answerable.maintenance.verification.verifying import VerifyOptions, verify

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
        parts = self._parts()
        asked = understand(question, where, parts, narrows)
        results = search(asked, asked.attempts[0], parts, k).results
        narrowing = asked.narrowed.narrowing if asked.narrowed else None
        return SearchResults(results, narrowing, self.unavailable, self.waiting())

    def narrowing(self, question: str, where: Where = None) -> Narrowing | None:
        """Return the filter that `search` derives from a question that names a person or a time, or None."""
        named = named_filter(required(question), where, self._parts())
        return named.narrowing if named else None

    def ask(self, question: str, where: Where = None, history: Sequence[Exchange] = ()) -> Answer:
        """Answer with citations verified verbatim, or refuse. The question may refer to the exchanges of `history`."""
        return last_of(self.ask_stream(question, where, history))

    def ask_stream(
        self,
        question: str,
        where: Where = None,
        history: Sequence[Exchange] = (),
        narrows: bool = True,
        work: Work | None = None,
    ) -> Generator[AnswerEvent, None, None]:
        """Yield the events of `ask`; the last one has the answer. Closing the generator stops the chat model.

        Without `narrows`, a person or a time in the question isn't used as a filter. Another thread may stop `work`.
        """
        return ask(question, history, where, self._parts(), narrows, work)

    def quote(self, question: str, where: Where = None) -> Answer:
        """Answer as `ask` does, but with quotes only: without the chat model, its time and its cost."""
        parts = self._parts()
        quoting = replace(parts, answering=replace(parts.answering, writer=None))
        return last_of(ask(question, (), where, quoting))

    def places(self, quote: str, where: Where = None) -> list[Citation]:
        """Return where this quote occurs, in at most 512 passages a language. Raise FilterError and ValueError."""
        return quote_places(self._store, quote, parse_filter(where))

    def evidence(self, question: str, where: Where = None) -> Found:
        """Return the passages for a question and the values that rank them. No filter is derived from the question."""
        parts = self._parts()
        return search(understand(question, where, parts, narrows=False), None, parts)

    def choices(self) -> FilterChoices:
        """Return the fields and values by which a search of this library can be filtered."""
        return filter_choices(self._store)

    def remove(self, document_id: str, forget: bool = False) -> None:
        """Remove a document and, with `forget`, its vectors in the cache, which other libraries may also use.

        In a library of up to 10,000 passages, no data of it is left in any file when the call returns. In a larger one,
        `unerased` counts what is left until the files are rewritten (docs/security.md). Raise DocumentNotFound.
        """
        if forget:
            forget_vectors(self._store, self._embedder, [document_id])
        if not self._store.remove(document_id):
            raise no_document(document_id)
        erase_if_due(self._store, asked=True)

    def unerased(self) -> int:
        """Return how many removed passages may still have data in the files; `verify(repair=True)` erases such data."""
        return unerased(self._store).passages

    def resolve(self, name: str) -> str:
        """Return the id of a document, given an id, unique id prefix, path, title, file name, or part of the last two.

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
        """Return the SHA-256 of each followed file that contains this document, as of the file's last visit."""
        return {each.hash for each in self._store.records() if each.hash and document_id in each.documents}

    def documents(self) -> list[StoredDocument]:
        """Return all documents, ordered by source and id, without their text."""
        return list(self._store.documents())

    def summary(self, document_id: str, most: int = EXTRACTS) -> list[Citation]:
        """Return a document's most central sentences, at most `most`, in document order. Raise DocumentNotFound."""
        from answerable.computing.summaries import summarize

        return summarize(self._store, self.document(document_id), most)

    def table(
        self,
        document_id: str,
        operation: str = "list",
        column: str = "",
        where: Sequence[str] = (),
        by: str = "",
        period: str = "day",
        sort: str = "",
        limit: int | None = None,
        number: int = 1,
    ) -> TableAnswer:
        """Compute from the rows of a document's table, or of a chat's messages, that meet all conditions in `where`.

        `operation` is count, distinct, sum, average, most, least or list, of a `column`; with `by`, one figure for each
        value of that column, dates by day, month or year (`period`). Conditions are texts such as "State=unpaid",
        "Amount>50", "Date>=2024-03", "Notes~lift" (contains), "State=" (empty) and "State!=" (filled). A list is sorted
        by the column `sort`, "-Amount" from the greatest. `number` is that of the table in the document. Raise
        DocumentNotFound, and PlanError, which says what to give.
        """
        from answerable.computing.conditions import conditions_of

        plan = {
            "operation": {"name": operation, "column": column},
            "filters": conditions_of(where),
            "group": by,
            "period": period,
            "sort": sort,
            "limit": limit,
        }
        document = self.document(document_id)
        # Figures are written as the document writes them.
        language = document.language or question_language(document.content)
        return self._computing.table(document, number).answer(plan, language)

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

    @cached_property
    def _computing(self) -> Computing:
        from answerable.computing.computing import Computing

        return Computing(self._store, lambda: self.now())

    def _followed(self, on_progress: OnProgress | None = None, dry_run: bool = False) -> FollowedSources:
        return FollowedSources(self._store, self._reader, lambda: self._ingestion(0, on_progress, dry_run), dry_run)

    def _ingestion(self, sources: int, on_progress: OnProgress | None, dry_run: bool) -> Ingestion:
        return Ingestion(self._store, self._embedder, self._splitter, sources, on_progress, dry_run, self._worker_pool)

    def _parts(self) -> Parts:
        """Return the parts of the library that one question uses. Raise EmbedderMismatch."""
        self._check_embedder()
        how = self._answerer, self.now, self._narrows, self._passages, self._steps
        return Parts(self._store, self._embedder, lambda: self._computing, *how)

    def _check_embedder(self) -> None:
        """Raise EmbedderMismatch if another embedder made the vectors; skip the check once it has passed."""
        if not self._is_bound:
            made_by = self._store.fingerprint
            check_embedder(made_by, self._embedder.fingerprint)
            self._is_bound = made_by is not None


def over(library: Library, store: Store | CoreStore) -> Library:
    """Return a library on `store` with `library`'s parts. The caller closes the store. Raise EmbedderMismatch."""
    other = copy(library)
    other._store = completed(store)
    vars(other).pop("_computing", None)
    other._is_bound = False
    other._check_embedder()
    return other
