"""Jobs handed to workers: each worker does one at a time, and a job whose worker dies goes to another."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from answerable.errors import WorkerLost
from answerable.indexing.workers.steps import Tools

Job = TypeVar("Job")
Result = TypeVar("Result")


class Worker(Protocol):
    """Does one job at a time, somewhere else."""

    def start(self) -> None:
        """Waits until it can work, for the first time or after it was lost. Raises what keeps it from ever working."""
        ...

    def run(self, step: Callable[[Tools, Any], Any], job: Any) -> Any:
        """The result of a step. Raises what the step raised, and WorkerLost when the worker died over it."""
        ...

    def close(self) -> None:
        """Ends it, whatever it is doing; may be called by another thread."""
        ...


@dataclass(eq=False, slots=True)
class _Task:
    step: Callable[[Tools, Any], Any]
    job: Any
    future: Future[Any]
    losses: int = 0


class Pool:
    """Workers with one queue, from which each takes the next job when it has done the last.

    A job is tried `tries` times at most: what kills its worker every time would otherwise be tried for ever.
    """

    def __init__(
        self, workers: Sequence[Worker], share_files: bool, tries: int, on_close: Callable[[], None] | None = None
    ) -> None:
        self.count = len(workers)
        self.share_files = share_files
        self._workers = workers
        self._tries = tries
        self._on_close = on_close
        self._tasks: deque[_Task] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._broken: Exception | None = None
        self._threads = [threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in workers]
        for thread in self._threads:
            thread.start()

    def submit(self, step: Callable[[Tools, Job], Result], job: Job) -> Future[Result]:
        """Hands in a job; its future raises what the step raised, or WorkerLost."""
        task = _Task(step, job, Future())
        with self._changed:
            if self._broken is not None:
                task.future.set_exception(self._broken)
            else:
                self._tasks.append(task)
                self._changed.notify()
        return task.future

    def close(self) -> None:
        """Ends every worker, and cancels what they haven't done. Closing twice is fine."""
        with self._changed:
            self._closed = True
            left, self._tasks = self._tasks, deque()
            self._changed.notify_all()
        for task in left:
            task.future.cancel()
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
            while (task := self._next()) is not None:
                if not self._do(worker, task):
                    worker.start()
        except Exception as error:
            self._break(error)

    def _next(self) -> _Task | None:
        with self._changed:
            self._changed.wait_for(lambda: self._tasks or self._closed)
            return None if self._closed else self._tasks.popleft()

    def _do(self, worker: Worker, task: _Task) -> bool:
        """Whether the worker is still there."""
        try:
            result = worker.run(task.step, task.job)
        except WorkerLost as error:
            task.losses += 1
            with self._changed:
                again = task.losses < self._tries and not self._closed
                if again:
                    self._tasks.appendleft(task)
                    self._changed.notify()
            if not again:
                task.future.set_exception(error)
            return False
        except Exception as error:
            task.future.set_exception(error)
        else:
            task.future.set_result(result)
        return True

    def _break(self, error: Exception) -> None:
        """What keeps one worker from starting keeps all: every job, now and later, fails with it."""
        with self._changed:
            left, self._tasks = self._tasks, deque()
            self._broken = error
        for task in left:
            task.future.set_exception(error)
