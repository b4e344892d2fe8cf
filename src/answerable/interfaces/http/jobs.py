"""Add, sync and verify in background jobs: one job at a time per library, with a bounded queue."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, Literal

from answerable.indexing.ingest import AddReport, OnProgress, Progress
from answerable.interfaces.http.metrics import Metrics
from answerable.interfaces.http.problems import Problem, problem_of
from answerable.interfaces.plain import added_json

# Seconds between two progress events of a job: often enough for a page that shows them.
_PACE = 0.1
_LATER = {"Retry-After": "30"}

Work = Callable[[AddReport, OnProgress], dict[str, Any] | None]
"""A function that does the job and records the outcome in the report; may raise. It ends when the callback raises.

Its return value is the job's `result`.
"""

Kind = Literal["add", "sync", "verify"]

State = Literal["waiting", "running", "done", "failed", "cancelled"]


class _Cancelled(Exception):
    """The error that ends a job, raised in its progress callback."""


class Job:
    """A job, from request to report. `clean_up` always runs at its end."""

    def __init__(
        self, library: str, sources: list[str], work: Work, clean_up: Callable[[], None], kind: Kind = "add"
    ) -> None:
        self.id = secrets.token_hex(16)
        self.library = library
        self.kind = kind
        self.sources = sources
        self.state: State = "waiting"
        self.changes = 0
        self.future: Future[None] | None = None
        self._work = work
        self._clean_up = clean_up
        self._is_cancelled = threading.Event()
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._report = AddReport()
        self._result: dict[str, Any] | None = None
        self._error: dict[str, Any] | None = None
        self._times = {"made": time.time()}

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state in ("done", "failed", "cancelled")

    def run(self) -> None:
        """Run the job and record its outcome."""
        self._become("running", "started")
        ended: State = "done"
        try:
            self._result = self._work(self._report, self._progressed)
        except _Cancelled:
            ended = "cancelled"
        except Exception as error:
            self._error = problem_of(error).json()
            ended = "failed"
        self.end(ended)

    def end(self, state: State) -> None:
        """Record that the job has ended."""
        self._clean_up()
        self._become(state, "ended")

    def cancel(self) -> None:
        """End the job at its next step; finished documents stay."""
        self._is_cancelled.set()

    def json(self) -> dict[str, Any]:
        """Return the job as JSON; times are seconds since 1970."""
        with self._lock:
            state, times = self.state, dict(self._times)
        return {
            "job_id": self.id,
            "library": self.library,
            "kind": self.kind,
            "sources": self.sources,
            "state": state,
            "progress": asdict(self._progress) if self._progress else None,
            "report": added_json(self._report, dry_run=False),
            "result": self._result,
            "error": self._error,
            **{name: times.get(name) for name in ("made", "started", "ended")},
        }

    def _progressed(self, progress: Progress) -> None:
        if self._is_cancelled.is_set():
            raise _Cancelled
        self._progress = progress
        self.changes += 1

    def _become(self, state: State, event: str) -> None:
        with self._lock:
            self._times[event] = time.time()
            self.state = state
            self.changes += 1


class Jobs:
    """The jobs of a server: all unfinished jobs, and the last `kept` finished jobs. Thread-safe."""

    def __init__(self, waiting: int = 16, kept: int = 100, metrics: Metrics | None = None) -> None:
        self._waiting = waiting
        self._kept = kept
        self._metrics = metrics or Metrics()
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._threads: dict[str, ThreadPoolExecutor] = {}

    def start(
        self,
        library: str,
        sources: list[str],
        work: Work,
        clean_up: Callable[[], None] = lambda: None,
        kind: Kind = "add",
    ) -> Job:
        """Queue a job behind the other jobs of its library. Raise Problem if too many jobs wait."""
        job = Job(library, sources, work, clean_up, kind)
        with self._lock:
            if sum(other.state == "waiting" for other in self._jobs.values()) >= self._waiting:
                raise Problem(429, "too_many_jobs", "Too many jobs are waiting. Try again when one has ended.", _LATER)
            if library not in self._threads:
                self._threads[library] = ThreadPoolExecutor(1, thread_name_prefix=f"adding-{library}")
            job.future = self._threads[library].submit(self._run, job)
            self._jobs[job.id] = job
            ended = [other.id for other in self._jobs.values() if other.is_over]
            for found in ended[: max(0, len(ended) - self._kept)]:
                del self._jobs[found]
        return job

    def get(self, job_id: str, library: str) -> Job | None:
        """Return the job of this id in this library, or None."""
        job = self._jobs.get(job_id)
        return job if job and job.library == library else None

    def list(self, library: str) -> list[Job]:
        """Return a library's jobs, latest first."""
        with self._lock:
            return [job for job in reversed(self._jobs.values()) if job.library == library]

    def cancel(self, job: Job) -> None:
        """Cancel a job: at once if it hasn't started, otherwise at its next step. A job that is over is unchanged."""
        if job.is_over:
            return
        job.cancel()
        if job.future and job.future.cancel():
            job.end("cancelled")
            self._count(job)

    def cancel_all(self) -> None:
        """Cancel every job without waiting for them to end."""
        for job in list(self._jobs.values()):
            self.cancel(job)

    def end(self, library: str) -> None:
        """Cancel a library's jobs and wait until they end."""
        for job in self.list(library):
            self.cancel(job)
        with self._lock:
            threads = self._threads.pop(library, None)
        if threads:
            threads.shutdown(wait=True)

    async def watch(self, job: Job) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the job as JSON, first at once and then after every change, until the job ends."""
        seen = -1
        while seen != job.changes:
            is_over, seen = job.is_over, job.changes
            yield job.json()
            while not is_over and seen == job.changes:
                await asyncio.sleep(_PACE)

    def close(self) -> None:
        """Cancel all jobs and wait until they end. Idempotent."""
        self.cancel_all()
        for threads in self._threads.values():
            threads.shutdown(wait=True)

    def _run(self, job: Job) -> None:
        with self._metrics.jobs_running.track_inprogress():
            job.run()
        self._count(job)

    def _count(self, job: Job) -> None:
        self._metrics.jobs.labels(job.state).inc()
