"""Workers as processes of this machine, each with its own pipeline."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from answerable.errors import WorkerLost
from answerable.indexing.prepare import Pipeline
from answerable.indexing.worker_pool import JobQueue, StepRunner

TRIES = 2  # if two workers die doing the same job, the job is the cause

_SPAWN = multiprocessing.get_context("spawn")


def start_processes(count: int, make_pipeline: Callable[[], Pipeline]) -> JobQueue:
    """Start `count` processes. Each calls `make_pipeline`, which must be picklable, for its first job.

    Processes are spawned, not forked: a fork would copy threads, locks and open databases.
    """
    return JobQueue([_ProcessWorker(make_pipeline) for _ in range(count)], share_files=True, tries=TRIES)


def serve(connection: Connection[Any, Any], make_pipeline: Callable[[], Pipeline]) -> None:
    """Run jobs in the worker process until the connection ends."""
    # A terminal sends Ctrl-C to every process: ignore it, since the main process decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_owner, daemon=True).start()
    # The connection ends when the main process ends.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        runner = StepRunner(make_pipeline)
        while True:
            connection.send(runner.run(*connection.recv()))


def _end_with_owner() -> None:
    """End this process when the main process is killed."""
    owner = multiprocessing.parent_process()
    assert owner is not None
    owner.join()
    os._exit(1)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C for processes started in this block, until `serve` ignores it."""
    if sys.platform == "win32":
        yield
        return
    # Start the resource tracker now: it starts with the first process otherwise, and then unblocks Ctrl-C.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _ProcessWorker:
    def __init__(self, make_pipeline: Callable[[], Pipeline]) -> None:
        self._make_pipeline = make_pipeline
        self._lock = threading.Lock()
        self._closed = False
        self._process: SpawnProcess | None = None
        self._connection: Connection[Any, Any] | None = None

    def start(self) -> None:
        """Start the process, or a new one if it died."""
        if self._process is not None and self._connection is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
        with self._lock:
            if self._closed:
                return
            self._connection, theirs = _SPAWN.Pipe()
            self._process = _SPAWN.Process(target=serve, args=(theirs, self._make_pipeline), daemon=True)
            with _interrupts_blocked():
                self._process.start()
            # Close this process's copy of the worker's end, so that `recv` raises EOFError when the worker dies.
            theirs.close()

    def run(self, step: Callable[[Pipeline, Any], Any], argument: Any) -> tuple[bool, Any]:
        """Run a step in the process."""
        assert self._connection is not None
        try:
            self._connection.send((step, argument))
            is_result, outcome = self._connection.recv()
            return is_result, outcome
        except (EOFError, OSError) as error:
            raise WorkerLost(
                "two worker processes were killed or ran out of memory on it: "
                "add it alone, with fewer --workers, or leave it out"
            ) from error

    def close(self) -> None:
        """Kill the process. A waiting `run` raises WorkerLost."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()
                self._process.join()
