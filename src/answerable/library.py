"""The one core that every interface calls: documents in, answers with citations out. It knows protocols only."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, datetime
from types import TracebackType
from typing import Any

import numpy as np

from answerable.answering.extractive import refuse
from answerable.datatypes import (
    Answer,
    AnswerEvent,
    Chunk,
    Document,
    DocumentType,
    Exchange,
    Narrowing,
    Reason,
    SearchResults,
)
from answerable.errors import DocumentNotFound
from answerable.filters import parse_filter
from answerable.indexing.ingest import AddReport, Ingestion, OnProgress, check_embedder
from answerable.indexing.sync import Origin, Subscriptions, SyncReport
from answerable.indexing.workers.steps import Tools
from answerable.indexing.workers.worker_pool import WorkerPool
from answerable.maintenance.verification import VerifyOptions, VerifyReport, verify
from answerable.protocols import (
    Answerer,
    Embedder,
    Evidence,
    Fingerprint,
    Reader,
    Store,
    StoredDocument,
    TextSplitter,
)
from answerable.retrieval.document_names import resolve
from answerable.retrieval.narrowing import Narrowed, narrow
from answerable.retrieval.question import analyze_question
from answerable.retrieval.retriever import ALL_STEPS, Query, Steps, retrieve, word_weights
from answerable.text.languages import question_language

EVIDENCE = 6

# Of a search that was narrowed: reasons to search everything.
_NOT_THERE = (Reason.NOTHING_FOUND, Reason.WEAK_EVIDENCE)


@dataclass(frozen=True, slots=True)
class LibraryStats:
    """What a library holds."""

    documents: int
    chunks: int
    characters: int
    languages: Mapping[str, int]
    types: Mapping[str, int]
    fingerprint: Fingerprint | None


class Library:
    """Documents that can be searched and asked. A context manager; safe to share between threads.

    A question about chats that names a person or a time ("what did Ana say last week?") narrows the search to their
    messages, unless `narrows` is false; `now` is what "last week" is counted from. Raises EmbedderMismatch when the
    store's vectors come from another embedder.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        splitter: TextSplitter,
        reader: Reader,
        answerer: Answerer,
        narrows: bool = True,
        now: Callable[[], datetime] = datetime.now,
        steps: Steps = ALL_STEPS,
        worker_pool: WorkerPool | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._splitter = splitter
        self._reader = reader
        self._answerer = answerer
        self._narrows = narrows
        self._now = now
        self._steps = steps
        self._crew = worker_pool
        self._is_bound = False
        self._check_embedder()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def embedder(self) -> Embedder:
        """What makes the vectors."""
        return self._embedder

    def close(self) -> None:
        """Frees everything. Closing twice is fine."""
        if self._crew is not None:
            self._crew.close()
        self._answerer.close()
        self._reader.close()
        self._store.close()

    def add(
        self, source: str | os.PathLike[str], on_progress: OnProgress | None = None, dry_run: bool = False
    ) -> AddReport:
        """Adds a file, all that can be read in a folder, or a site, and follows it from now on: see `sync`.

        In a folder, a file that can't be read is reported and the others are added. A single file that can't be read
        raises SourceError. What was added before is brought up to date: what hasn't changed isn't even opened, what is
        gone is removed, and what has moved keeps its vectors. `dry_run` reads and counts, and changes nothing.
        """
        return self._subscriptions(on_progress, dry_run).add(os.fspath(source))

    def sync(
        self,
        origins: Sequence[str] = (),
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
        checksum: bool = False,
    ) -> SyncReport:
        """Brings up to date what was added: these origins, or all. One that fails doesn't keep the others from it.

        A file is unchanged when its size and time are; `checksum` reads all files. Raises NotFollowed.
        """
        return self._subscriptions(on_progress, dry_run).sync(origins, checksum)

    def origins(self) -> list[Origin]:
        """What was added and is followed, by name."""
        return self._subscriptions().origins()

    def unfollow(self, origin: str) -> AddReport:
        """Removes the documents of an origin, but those that another one holds, and follows it no longer.

        Raises NotFollowed.
        """
        return self._subscriptions().unfollow(origin)

    def add_documents(
        self, documents: Iterable[Document], on_progress: OnProgress | None = None, dry_run: bool = False
    ) -> AddReport:
        """Adds documents. One with the id or the source of another takes its place."""
        listed = documents if isinstance(documents, Sequence) else list(documents)
        return self._ingestion(len(listed), on_progress, dry_run).run(enumerate(listed))

    def verify(
        self, repair: bool = False, checksum: bool = False, online: bool = False, embed: int | None = None
    ) -> VerifyReport:
        """What differs between the library, its sources and its index, put right where `repair` says so.

        `checksum` reads every file whatever its size and time say, `online` visits sites; `embed` passages are embedded
        again and compared, by default a few where that costs nothing.
        """
        tools = Tools(self._reader, self._splitter, self._embedder)
        options = VerifyOptions(repair, checksum, online, embed)
        return verify(self._store, tools, lambda: self._ingestion(0, None, False), options)

    def search(self, question: str, k: int = 10, where: Mapping[str, Any] | None = None) -> SearchResults:
        """Return the k most relevant passages, best first. Raises FilterError and ValueError.

        If the question names a person or a time, search only their messages; `narrowing` of the result is that filter.
        """
        if k < 1:
            raise ValueError(f"k is {k}: it must be at least 1")
        question, chunks = _required(question), self._store.count()[1]
        if not chunks:
            return SearchResults()
        narrowed = self._narrowed(question, where)
        if narrowed is None:
            return SearchResults(self._evidence(question, where, None, _Clock(), chunks, k).results)
        applied = narrowed if narrowed.narrowing.applied else None
        return SearchResults(self._evidence(question, where, applied, _Clock(), chunks, k).results, narrowed.narrowing)

    def narrowing(self, question: str, where: Mapping[str, Any] | None = None) -> Narrowing | None:
        """The filter that `search` takes from a question that names a person or a time; None for none."""
        narrowed = self._narrowed(_required(question), where)
        return narrowed.narrowing if narrowed else None

    def ask(self, question: str, where: Mapping[str, Any] | None = None, history: Sequence[Exchange] = ()) -> Answer:
        """What the documents say, with citations that are verified to stand verbatim, or that they don't say.

        `history` are the exchanges before, which a question may refer to.
        """
        (*_, last) = self.ask_stream(question, where, history)
        assert last.answer is not None
        return last.answer

    def ask_stream(
        self, question: str, where: Mapping[str, Any] | None = None, history: Sequence[Exchange] = ()
    ) -> Generator[AnswerEvent, None, None]:
        """As `ask`, event by event; the last one has the answer. Closing the iterator stops a model that writes."""
        clock = _Clock()
        searched, spent = self._answerer.standalone(_required(question), history)
        if history:
            clock.lap("rewriting")
        yield AnswerEvent(searched=searched)
        chunks = self._store.count()[1]
        if not chunks:
            evidence = self._evidence(searched, where, None, clock, chunks)
            yield AnswerEvent(answer=replace(refuse(evidence, Reason.EMPTY_LIBRARY), timings=clock.timings()))
            return
        narrowed = self._narrowed(searched, where)
        for attempt in (narrowed, None) if narrowed and narrowed.narrowing.applied else (None,):
            evidence = self._evidence(searched, where, attempt, clock, chunks)
            with closing(self._answerer.stream(evidence, history)) as events:
                for event in events:
                    if event.answer is None:
                        yield event
                        continue
                    clock.lap("answering")
                    if attempt and event.answer.reason in _NOT_THERE:
                        break
                    usage = [used for used in (spent, event.answer.usage) if used is not None]
                    answer = replace(
                        event.answer,
                        usage=sum(usage[1:], usage[0]) if usage else None,
                        narrowing=replace(narrowed.narrowing, applied=attempt is not None) if narrowed else None,
                        timings=clock.timings(),
                    )
                    yield AnswerEvent(answer=answer)
                    return

    def evidence(self, question: str, where: Mapping[str, Any] | None = None) -> Evidence:
        """What `ask` answers from: the question with all that retrieval found for it, not narrowed by what it names."""
        return self._evidence(question, where, None, _Clock(), self._store.count()[1])

    def remove(self, document_id: str) -> None:
        """Removes every trace of a document. Raises DocumentNotFound."""
        if not self._store.remove(document_id):
            raise DocumentNotFound(f"No document has the id {document_id!r}. `answerable list` shows them.")

    def resolve(self, name: str) -> str:
        """The id of the one document that has this id, path, title, file name, or the only one whose id begins so.

        Raises DocumentNotFound, which names those of several.
        """
        return resolve(self._store, name)

    def document(self, document_id: str) -> Document:
        """The whole document. Raises DocumentNotFound."""
        document = self._store.document(document_id)
        if document is None:
            raise DocumentNotFound(f"No document has the id {document_id!r}. `answerable list` shows them.")
        return document

    def documents(self) -> list[StoredDocument]:
        """Every document, by source and id, without its text."""
        return list(self._store.documents())

    def chunks(self, document_id: str) -> list[Chunk]:
        """A document's chunks in order. Raises DocumentNotFound."""
        self.document(document_id)
        return self._store.chunks(document_id)

    def neighbours(self, chunk: Chunk, before: int = 1, after: int = 1) -> list[Chunk]:
        """The chunk with those around it in its document, in order."""
        return [
            other
            for other in self._store.chunks(chunk.document_id)
            if chunk.sequence - before <= other.sequence <= chunk.sequence + after
        ]

    def count(self) -> tuple[int, int]:
        """How many documents and chunks there are."""
        return self._store.count()

    def stats(self) -> LibraryStats:
        """What the library holds."""
        documents = self.documents()
        return LibraryStats(
            documents=len(documents),
            chunks=sum(document.chunks for document in documents),
            characters=sum(document.characters for document in documents),
            languages=Counter(document.language for document in documents),
            types=Counter(document.type for document in documents),
            fingerprint=self._store.fingerprint,
        )

    def _subscriptions(self, on_progress: OnProgress | None = None, dry_run: bool = False) -> Subscriptions:
        return Subscriptions(self._store, self._reader, lambda: self._ingestion(0, on_progress, dry_run), dry_run)

    def _ingestion(self, sources: int, on_progress: OnProgress | None, dry_run: bool) -> Ingestion:
        return Ingestion(self._store, self._embedder, self._splitter, sources, on_progress, dry_run, self._crew)

    def _narrowed(self, question: str, where: Mapping[str, Any] | None) -> Narrowed | None:
        """What the question narrows the search to; not applied where nothing was said there at all."""
        chats = list(self._store.documents(str(DocumentType.CHAT))) if self._narrows else []
        if not chats:
            return None
        senders = {sender for chat in chats for sender in chat.metadata.get("participants", ())}
        days = [
            date.fromisoformat(chat.metadata[key])
            for chat in chats
            for key in ("first_day", "last_day")
            if key in chat.metadata
        ]
        now = self._now()
        span = (min(days), max(days)) if days else (now.date(), now.date())
        language = question_language(question, self._store.languages()) or self._main_language()
        narrowed = narrow(question, language, senders, span, now)
        if narrowed is None:
            return None
        anywhere = np.ones(self._embedder.fingerprint.dimension, np.float32)
        found = self._store.search_vectors(anywhere, 1, parse_filter(_both(where, narrowed.narrowing.where)))
        return replace(narrowed, narrowing=replace(narrowed.narrowing, applied=bool(found)))

    def _check_embedder(self) -> None:
        """Until there are vectors anybody may be the first to add some; from then on the store sees to it."""
        if not self._is_bound:
            made_by = self._store.fingerprint
            check_embedder(made_by, self._embedder.fingerprint)
            self._is_bound = made_by is not None

    def _evidence(
        self,
        question: str,
        where: Mapping[str, Any] | None,
        narrowed: Narrowed | None,
        clock: _Clock,
        chunks: int,
        k: int = EVIDENCE,
    ) -> Evidence:
        topic = narrowed.topic if narrowed else None
        asked = analyze_question(_required(question), self._store.languages(), topic)
        language = asked.language or self._main_language()
        condition = parse_filter(_both(where, narrowed.narrowing.where) if narrowed else where)
        if not chunks:
            nothing = np.zeros(self._embedder.fingerprint.dimension, np.float32)
            return Evidence(asked.text, language, nothing, {}, (), (), condition)
        self._check_embedder()
        vector = self._embedder.embed_query(asked.text)
        clock.lap("embedding")
        weights = word_weights(self._store, asked, chunks)
        found = retrieve(self._store, Query(asked, vector, weights, chunks, condition), k, self._steps)
        clock.lap("retrieval")
        results, indexed = zip(*found, strict=True) if found else ((), ())
        return Evidence(asked.text, language, vector, weights, results, indexed, condition, topic)

    def _main_language(self) -> str:
        languages = [language for language in self._store.languages() if language]
        return languages[0] if len(languages) == 1 else ""


def _both(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"and": [one, other]} if one else other


class _Clock:
    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self._laps[name] = now - self._last
        self._last = now

    def timings(self) -> dict[str, float]:
        return {**self._laps, "total": time.perf_counter() - self._started}


def _required(question: str) -> str:
    if not question.strip():
        raise ValueError("the question is empty: ask something")
    return question.strip()
