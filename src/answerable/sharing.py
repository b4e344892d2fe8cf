"""Share processors among threads: in a fair order on a few lanes, or together in one batch; and stop work early.

Work is stopped if no caller waits for it any more, or if it exceeds its budget.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from heapq import heappop, heappush
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Item = TypeVar("Item")
Result = TypeVar("Result")

SHARE = 8
"""Work is due after this multiple of the time that it takes alone, as if this many callers shared the processors."""


class Lanes:
    """A few threads that run calls by due time; calls with the same due time run in the order in which they came."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="answerable")
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._waiting: list[tuple[float, int, Future[Any], Callable[[], Any]]] = []
        self._begun = 0

    def submit(self, call: Callable[[], T], due: float = 0) -> Future[T]:
        """Run the call in a thread. Raise RuntimeError after `close`."""
        future: Future[T] = Future()
        with self._lock:
            # One run of `_next` for each call; which call it takes is decided when a thread is free.
            self._threads.submit(self._next)
            heappush(self._waiting, (due, next(self._numbers), future, call))
        return future

    def run_all(self, work: Callable[[Item], Result], pieces: Sequence[tuple[Item, int]]) -> list[Result]:
        """Work on the pieces of one caller, each with its size in any unit, and return the results in order.

        The caller's due time is proportional to the total size of its pieces. So the longest wait relative to the work
        is short ("stretch", Bender et al. 1998), small callers overtake large ones, and no caller waits for ever. After
        an error, pieces that haven't begun are dropped.
        """
        with self._lock:
            due = self._begun + SHARE * sum(size for _, size in pieces)
        futures = [self.submit(lambda piece=piece: self._sized(work, *piece), due) for piece in pieces]  # type: ignore[misc]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()

    def close(self) -> None:
        """Refuse new calls; accepted calls still run. Idempotent."""
        self._threads.shutdown(wait=False)

    def _sized(self, work: Callable[[Item], Result], item: Item, size: int) -> Result:
        with self._lock:
            self._begun += size
        return work(item)

    def _next(self) -> None:
        with self._lock:
            *_, future, call = heappop(self._waiting)
        if future.set_running_or_notify_cancel():
            settle(future, call)


def settle(future: Future[T], call: Callable[[], T]) -> None:
    """Set the result or the error of a call."""
    try:
        future.set_result(call())
    except BaseException as error:
        future.set_exception(error)


class Batching(Generic[Item, Result]):
    """Computes the items of many threads in batches: items that arrive during one batch form the next batch.

    No thread waits for a batch to fill, and a single item is computed in its caller's thread. `compute` returns results
    in order; it never runs twice at once. If it fails for several items, each item is computed alone, so that an error
    reaches only its own caller. A batch has at most `most` items.
    """

    def __init__(self, compute: Callable[[Sequence[Item]], Sequence[Result]], most: int) -> None:
        self._compute = compute
        self._most = most
        self._lock = threading.Lock()
        self._waiting: deque[_Call[Item, Result]] = deque()
        self._leader: _Call[Item, Result] | None = None

    def run(self, item: Item) -> Result:
        """Return the result of an item. Raise the errors of `compute`."""
        call: _Call[Item, Result] = _Call(item)
        with self._lock:
            self._waiting.append(call)
            if self._leader is None:
                self._choose_leader()
        try:
            call.turn.wait()
            if self._leader is call:
                self._lead(call)
        except BaseException:
            self._withdraw(call)
            raise
        if call.error is not None:
            raise call.error
        (result,) = call.results
        return result

    def _lead(self, own: _Call[Item, Result]) -> None:
        """Compute a batch that begins with this thread's own item, then let the next thread lead."""
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        try:
            self._fill(batch)
        finally:
            with self._lock:
                # If this thread was interrupted, the other threads still need their results.
                self._waiting.extendleft(call for call in reversed(batch) if not (call is own or call.is_done))
                self._choose_leader()
            for call in batch:
                if call.is_done:
                    call.turn.set()

    def _fill(self, batch: Sequence[_Call[Item, Result]]) -> None:
        try:
            results = self._compute([call.item for call in batch])
            for call, result in zip(batch, results, strict=True):
                call.results = [result]
        except Exception as error:
            if len(batch) == 1:
                batch[0].error = error
            else:
                for call in batch:
                    self._fill([call])

    def _choose_leader(self) -> None:
        self._leader = self._waiting[0] if self._waiting else None
        if self._leader is not None:
            self._leader.turn.set()

    def _withdraw(self, call: _Call[Item, Result]) -> None:
        """Drop the item of a thread that no longer waits."""
        with self._lock:
            if call in self._waiting:
                self._waiting.remove(call)
                if self._leader is call:
                    self._choose_leader()


class _Call(Generic[Item, Result]):
    """An item with its result or error. `turn` is set when its thread must compute the next batch or has its result."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.turn = threading.Event()
        self.results: list[Result] = []
        self.error: Exception | None = None

    @property
    def is_done(self) -> bool:
        """Whether the item has a result or an error."""
        return bool(self.results) or self.error is not None


class Stopped(Exception):
    """Raised in a thread whose result no caller waits for any more."""


class OverBudget(Exception):
    """Raised in a thread whose work has used up its CPU time."""


class Work:
    """Work of one thread, which other threads may stop; the working thread calls `check` from time to time."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Have the next `check` raise Stopped. Idempotent."""
        self._stopped.set()

    def check(self) -> None:
        """Raise Stopped if the work was stopped."""
        if self._stopped.is_set():
            raise Stopped


class Budget:
    """The CPU time, in seconds, that the creating thread may use from now on."""

    def __init__(self, seconds: float, work: Work) -> None:
        self._work = work
        self._end = time.thread_time() + seconds

    def check(self) -> None:
        """Raise OverBudget if the CPU time is used up, Stopped if the work was stopped."""
        self._work.check()
        if time.thread_time() > self._end:
            raise OverBudget
