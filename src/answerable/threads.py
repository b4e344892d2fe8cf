"""Run blocking calls in a bounded number of threads, so that the event loop never waits for them."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future, wait
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from answerable.sharing import Lanes, Work, settle

P = ParamSpec("P")
T = TypeVar("T")

_END: Any = object()


class Busy(Exception):
    """Raised if all workers are busy and the queue is full. `retry_after` is in seconds."""

    retry_after = 2

    def __init__(self) -> None:
        super().__init__("The server is busy. Try again in a few seconds.")


class DaemonThreads:
    """Starts as many threads as there are calls at once, and reuses them. They don't keep the program from ending."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = self._started = 0

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Run the call in a thread."""
        future: Future[T] = Future()
        with self._lock:
            if self._idle:
                self._idle -= 1
            else:
                self._started += 1
                threading.Thread(target=self._work, name="answerable", daemon=True).start()
        self._calls.put(partial(settle, future, call))
        return future

    def close(self) -> None:
        """End each thread after its current call. Idempotent."""
        with self._lock:
            started, self._started, self._idle = self._started, 0, 0
        for _ in range(started):
            self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            # Drop the reference, since an idle thread would keep the result of its last call in memory.
            del call
            with self._lock:
                self._idle += 1


class Pool:
    """A pool of `workers` threads, with a queue of at most `waiting` calls (None: any number).

    A stream uses a worker only while its next item is computed, so slow clients occupy no worker; streams that have
    begun take precedence over later ones. Accepted calls always finish; only new calls are refused.
    """

    def __init__(self, workers: int = 8, waiting: int | None = 128) -> None:
        self._workers = Lanes(workers)
        self._numbers = itertools.count()
        self._limit = None if waiting is None else workers + waiting
        self._lock = threading.Lock()
        self._submitted: set[Future[Any]] = set()

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a worker. Raise Busy and the function's errors."""
        self._admit()
        return await asyncio.wrap_future(self._submit(lambda: function(*args, **kwargs), next(self._numbers)))

    async def stream(
        self, factory: Callable[[Work], Generator[T, None, None]], work: Work | None = None
    ) -> AsyncGenerator[T, None]:
        """Yield the items of a blocking generator. Raise Busy before the first item.

        Closing or cancelling the stream stops the work of its current step, then closes the generator.
        """
        self._admit()
        work = work or Work()
        generator, number = factory(work), next(self._numbers)
        step: Future[T] | None = None
        try:
            while True:
                step = self._submit(lambda: next(generator, _END), number)
                item = await asyncio.wrap_future(step)
                if item is _END:
                    return
                yield item
        finally:
            work.stop()
            # Don't await, since a cancelled task must not wait. A generator can't be closed while a step of it runs.
            if step is not None and not step.done():
                step.add_done_callback(lambda _: generator.close())
            elif inspect.getgeneratorstate(generator) != inspect.GEN_CLOSED:
                try:
                    self._submit(generator.close, number)
                except RuntimeError:
                    # The pool was closed before the consumer left the stream.
                    generator.close()

    def close(self, patience: float | None = 5.0) -> None:
        """Refuse new calls and wait at most `patience` seconds (None: forever) for accepted calls. Idempotent."""
        self._workers.close()
        with self._lock:
            running = set(self._submitted)
        wait(running, patience)

    def _admit(self) -> None:
        if self._limit is not None and len(self._submitted) >= self._limit:
            raise Busy

    def _submit(self, function: Callable[[], T], number: int) -> Future[T]:
        future = self._workers.submit(function, due=number)
        with self._lock:
            self._submitted.add(future)
        future.add_done_callback(self._forget)
        return future

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._submitted.discard(future)
