"""The workers of an ingestion: they read and split files ahead, and embed passages.

The main process decides which files are unchanged and does all writing, so the library is the same as without
workers.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from answerable.datatypes import Document
from answerable.errors import DamagedSource, WorkerLost
from answerable.indexing.prepare import Pipeline, Prepared, prepare
from answerable.indexing.workers.jobs import JobQueue, submit_ahead
from answerable.protocols import Passage, PassageVectors
from answerable.protocols.reading import FileContents, SourceFile

# Files per worker: one being read and one waiting.
FILES_AHEAD = 2
# Limits the files read ahead, and a file sent to a worker on another machine.
MAX_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that a worker read and split."""

    prepared: tuple[Prepared, ...]
    contents: FileContents


def read_and_split(pipeline: Pipeline, file: SourceFile) -> ReadFile:
    """Read a file and split its documents. Raise SourceError."""
    contents = pipeline.reader.read(file)
    prepared = tuple(prepare(document, pipeline.splitter) for document in contents.documents)
    # The same document objects in both, so that they are pickled once.
    return ReadFile(prepared, replace(contents, documents=tuple(each.document for each in prepared)))


def embed_passages(pipeline: Pipeline, passages: Sequence[Passage]) -> list[PassageVectors]:
    """Return the vectors of the passages, in the order given."""
    return pipeline.embedder.embed_passages(passages)


class WorkerPool:
    """Workers that `start` creates when they are first needed.

    Reads ahead for one ingestion; a second one at the same time reads its files itself.
    """

    def __init__(self, start: Callable[[], JobQueue]) -> None:
        self._start = start
        self._lock = threading.RLock()
        self._started: JobQueue | None = None
        self._places: dict[str, int] = {}
        self._versions: dict[str, tuple[int, ...]] = {}
        self._outcomes: Iterator[tuple[SourceFile, Future[ReadFile]]] = iter(())
        self._next: tuple[SourceFile, Future[ReadFile]] | None = None
        self._prepared: dict[str, Prepared] = {}

    @property
    def count(self) -> int:
        """Number of workers."""
        return self._queue.count

    def expect(self, files: Sequence[SourceFile]) -> None:
        """Announce the files that `read` will be called for, in this order, so that they are read ahead."""
        with self._lock:
            self._places = {file.path: place for place, file in enumerate(files)}
            self._versions = {}
            self._next = None
            self._outcomes = iter(())
            if files:
                jobs = self._jobs(files)
                self._outcomes = submit_ahead(self._queue, read_and_split, jobs, FILES_AHEAD * self.count, MAX_BYTES)

    def read(self, path: str) -> FileContents | None:
        """Return the contents that a worker read. Raise SourceError.

        Return None if the caller must read the file: it wasn't announced, is too large to send, or changed meanwhile.
        """
        with self._lock:
            self._prepared = {}
            future = self._outcome_of(path)
            version = self._versions.pop(path, None)
        if future is None:
            return None
        try:
            found = future.result()
        except WorkerLost as error:
            raise DamagedSource(f"{path} can't be read: {error}") from error
        if _version(path) != version:
            return None
        self._prepared = {each.document.id: each for each in found.prepared}
        return found.contents

    def prepared(self, document: Document) -> Prepared | None:
        """Return the chunks prepared for this document, once; None if it isn't from the file read last."""
        return self._prepared.pop(document.id, None)

    def embed(self, passages: list[Passage]) -> Future[list[PassageVectors]]:
        """Submit passages for embedding."""
        return self._queue.submit(embed_passages, passages)

    def stop(self) -> None:
        """End running jobs: their futures raise WorkerLost. New workers start with the next job."""
        with self._lock:
            queue, self._started = self._started, None
            self._next, self._outcomes = None, iter(())
        if queue is not None:
            queue.close()

    def close(self) -> None:
        """End the workers. Idempotent."""
        if self._started is not None:
            self._started.close()

    @property
    def _queue(self) -> JobQueue:
        with self._lock:
            if self._started is None:
                self._started = self._start()
            return self._started

    def _jobs(self, files: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, int]]:
        for file in files:
            version = _version(file.path)
            if version is None:
                continue
            size = version[0]
            if not self._queue.share_files:
                if size > MAX_BYTES:
                    continue
                try:
                    file = replace(file, data=Path(file.path).read_bytes())
                except OSError:
                    continue
            self._versions[file.path] = version
            yield file, size

    def _outcome_of(self, path: str) -> Future[ReadFile] | None:
        """Return the future of an announced file, and skip the files announced before it."""
        place = self._places.get(path, -1)
        while self._next is None or self._places[self._next[0].path] < place:
            self._next = next(self._outcomes, None)
            if self._next is None:
                return None
        return self._next[1] if self._next[0].path == path else None


def _version(path: str) -> tuple[int, ...] | None:
    """Size, time and inode of a file; None if it can't be read."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino
