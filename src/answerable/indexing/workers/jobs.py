"""A queue of jobs for workers: each worker does one job at a time, and a job whose worker dies goes to another.

A step is a module-level function of a `Pipeline` and an argument; a job is a step with its argument. Arguments and
results must be picklable, and repeating a step must give the same result.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from answerable.errors import WorkerLost
from answerable.indexing.prepare import Pipeline

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

    A job is tried at most `tries` times, in case the job itself kills its workers. `share_files` says
    whether the workers see this machine's files.
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
            # An error that keeps one worker from starting keeps all of them: every job fails with it.
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
    """Yield each argument with its future, in the order given, after submitting the arguments that follow.

    `arguments` come with their sizes in bytes. At most `max_jobs` jobs of `max_bytes` in total are submitted ahead; a
    larger job is submitted alone.
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
