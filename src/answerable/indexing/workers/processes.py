"""Workers that are processes of this machine, each with tools of its own."""

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
from answerable.indexing.workers.jobs import Pool
from answerable.indexing.workers.steps import Tools

TRIES = 2

_SPAWN = multiprocessing.get_context("spawn")


def processes(count: int, make_tools: Callable[[], Tools]) -> Pool:
    """So many processes; each makes its tools when it gets its first job. A function of a module, or a partial of one.

    Processes are started afresh, not forked: what a fork would copy (threads, locks, open databases) isn't theirs.
    """
    return Pool([_ProcessWorker(make_tools) for _ in range(count)], share_files=True, tries=TRIES)


def serve(connection: Connection[Any, Any], make_tools: Callable[[], Tools]) -> None:
    """What the process does: jobs, until the connection ends."""
    # A terminal sends Ctrl-C to every process; the one that owns the store decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_owner, daemon=True).start()
    # The connection ends when the owner does.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        tools: Tools | None = None
        while True:
            step, job = connection.recv()
            outcome: tuple[bool, Any]
            try:
                tools = tools or make_tools()
                outcome = True, step(tools, job)
            except Exception as error:
                outcome = False, error
            connection.send(outcome)


def _end_with_owner() -> None:
    """Ends this process when its owner is killed while it works: nobody waits for the outcome."""
    owner = multiprocessing.parent_process()
    assert owner is not None
    owner.join()
    os._exit(1)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """A process that is started meanwhile has Ctrl-C blocked from its birth, before `serve` can ignore it."""
    if sys.platform == "win32":
        yield
        return
    # It starts with the first process, and would lift the block.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _ProcessWorker:
    def __init__(self, make_tools: Callable[[], Tools]) -> None:
        self._make_tools = make_tools
        self._lock = threading.Lock()
        self._closed = False
        self._process: SpawnProcess | None = None
        self._connection: Connection[Any, Any] | None = None

    def start(self) -> None:
        """Starts the process, in place of the one that died."""
        self._end()
        with self._lock:
            if self._closed:
                return
            self._connection, theirs = _SPAWN.Pipe()
            self._process = _SPAWN.Process(target=serve, args=(theirs, self._make_tools), daemon=True)
            with _deaf_to_interrupts():
                self._process.start()
            # The process has it now: when that dies, nobody does, and we read an end of file.
            theirs.close()

    def run(self, step: Callable[[Tools, Any], Any], job: Any) -> Any:
        """The result of a step in the process."""
        assert self._connection is not None
        try:
            self._connection.send((step, job))
            is_result, outcome = self._connection.recv()
        except (EOFError, OSError) as error:
            raise WorkerLost(
                "the process that worked on it was killed, or ran out of memory, and so was the next: "
                "add it alone, with fewer --workers, or leave it out"
            ) from error
        if not is_result:
            raise outcome
        return outcome

    def close(self) -> None:
        """Kills the process. Who waits for it reads an end of file."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()
                self._process.join()

    def _end(self) -> None:
        if self._process is not None and self._connection is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
