"""The workers of an ingestion, which read and split files ahead, and embed passages.

The main process decides which files are unchanged and does all writing, so the library is the same as without
workers. For each worker a thread of this process gives it one job after another; the workers themselves are processes
of this machine (processes.py) or actors on a Ray cluster (ray_cluster.py).
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from answerable.datatypes import Document
from answerable.errors import DamagedSource, WorkerLost
from answerable.indexing.prepare import Pipeline, Prepared, prepare
from answerable.protocols import Passage, PassageVectors
from answerable.protocols.sources import FileContents, SourceFile

# Files per worker to submit ahead: one that it reads and one that waits.
FILES_AHEAD = 2
# Bytes; the most to read ahead in all, and the largest file to send to a worker on another machine.
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
    # Use the same document objects in both, so that each is pickled only once.
    return ReadFile(prepared, replace(contents, documents=tuple(each.document for each in prepared)))


def embed_passages(pipeline: Pipeline, passages: Sequence[Passage]) -> list[PassageVectors]:
    """Return the vectors of the passages, in the order given."""
    return pipeline.embedder.embed_passages(passages)


class WorkerPool:
    """Workers that `start` creates when they are first needed.

    The pool reads ahead for one ingestion; a second ingestion at the same time reads its files itself.
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
        error = future.exception()
        if _version(path) != version:
            return None
        if isinstance(error, WorkerLost):
            raise DamagedSource(f"{path} can't be read: {error}") from error
        found = future.result()
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


Argument = TypeVar("Argument")
Result = TypeVar("Result")


class StepRunner:
    """Runs steps in a worker, with a pipeline that is built before the first step."""

    def __init__(self, make_pipeline: Callable[[], Pipeline]) -> None:
        self._make_pipeline = make_pipeline
        self._pipeline: Pipeline | None = None

    def run(self, step: Callable[[Pipeline, Any], Any], argument: Any) -> tuple[bool, Any]:
        """Return True and the step's result, or False and the exception."""
        try:
            self._pipeline = self._pipeline or self._make_pipeline()
            return True, step(self._pipeline, argument)
        except Exception as error:
            return False, error


class Worker(Protocol):
    """A process, here or on another machine, that does one job at a time."""

    def start(self) -> None:
        """Wait until the worker is ready: before its first job and after each WorkerLost. Raise if it can't start."""

    def run(self, step: Callable[[Pipeline, Any], Any], argument: Any) -> tuple[bool, Any]:
        """Run a step as `StepRunner.run` does. Raise WorkerLost if the worker dies."""

    def close(self) -> None:
        """End the worker, even in the middle of a job. Any thread may call this."""


@dataclass(eq=False, slots=True)
class _Job:
    step: Callable[[Pipeline, Any], Any]
    argument: Any
    future: Future[Any]
    losses: int = 0


class JobQueue:
    """Workers that share one queue.

    A job is tried at most `tries` times, in case the job itself kills its workers. `share_files` says whether the
    workers can read this machine's files.
    """

    def __init__(
        self, workers: Sequence[Worker], share_files: bool, tries: int, on_close: Callable[[], None] | None = None
    ) -> None:
        self.count = len(workers)
        self.share_files = share_files
        self._workers = workers
        self._tries = tries
        self._on_close = on_close
        self._jobs: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._broken: Exception | None = None
        self._threads = [threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in workers]
        for thread in self._threads:
            thread.start()

    def submit(self, step: Callable[[Pipeline, Argument], Result], argument: Argument) -> Future[Result]:
        """Queue a job and return its future, which raises the step's errors and WorkerLost. Jobs start in order."""
        job = _Job(step, argument, Future())
        with self._changed:
            if self._broken is not None:
                job.future.set_exception(self._broken)
            else:
                self._jobs.append(job)
                self._changed.notify()
        return job.future

    def close(self) -> None:
        """End every worker and cancel the queued jobs. Idempotent."""
        with self._changed:
            self._closed = True
            left, self._jobs = self._jobs, deque()
            self._changed.notify_all()
        for job in left:
            job.future.cancel()
        for worker in self._workers:
            worker.close()
        for thread in self._threads:
            thread.join()
        if self._on_close is not None:
            self._on_close()
            self._on_close = None

    def _serve(self, worker: Worker) -> None:
        try:
            worker.start()
            while (job := self._next()) is not None:
                if not self._do(worker, job):
                    worker.start()
        except Exception as error:
            # An error that prevents one worker from starting prevents all: every job fails with this error.
            with self._changed:
                left, self._jobs = self._jobs, deque()
                self._broken = error
            for job in left:
                job.future.set_exception(error)

    def _next(self) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closed)
            return None if self._closed else self._jobs.popleft()

    def _do(self, worker: Worker, job: _Job) -> bool:
        """Do a job. Return whether the worker is still alive."""
        try:
            is_result, outcome = worker.run(job.step, job.argument)
        except WorkerLost as error:
            job.losses += 1
            with self._changed:
                again = job.losses < self._tries and not self._closed
                if again:
                    self._jobs.appendleft(job)
                    self._changed.notify()
            if not again:
                job.future.set_exception(error)
            return False
        except Exception as error:
            is_result, outcome = False, error
        if is_result:
            job.future.set_result(outcome)
        else:
            job.future.set_exception(outcome)
        return True


def submit_ahead(
    queue: JobQueue,
    step: Callable[[Pipeline, Argument], Result],
    arguments: Iterable[tuple[Argument, int]],
    max_jobs: int,
    max_bytes: int,
) -> Iterator[tuple[Argument, Future[Result]]]:
    """Yield each argument with its future, in the order given, after submitting following arguments ahead.

    `arguments` are pairs of an argument and its size in bytes. At most `max_jobs` jobs of `max_bytes` in total are
    submitted ahead; a larger job is submitted alone.
    """
    ahead: deque[tuple[Argument, Future[Result], int]] = deque()
    total = 0
    for argument, size in arguments:
        while ahead and (len(ahead) >= max_jobs or total + size > max_bytes):
            done, future, freed = ahead.popleft()
            total -= freed
            yield done, future
        ahead.append((argument, queue.submit(step, argument), size))
        total += size
    for done, future, _ in ahead:
        yield done, future
