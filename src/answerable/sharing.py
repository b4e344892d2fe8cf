"""Many threads compute at once: in a fair order on a few lanes, or together in one batch."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from heapq import heappop, heappush
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Item = TypeVar("Item")
Result = TypeVar("Result")

SHARE = 8
"""Work is due after this multiple of the time that it takes alone, as if that many callers shared the processors."""


class Lanes:
    """A few threads that run calls in the order in which they are due; equal ones in the order in which they came."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="answerable")
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._waiting: list[tuple[float, int, Future[Any], Callable[[], Any]]] = []
        self._begun = 0

    def submit(self, call: Callable[[], T], due: float = 0) -> Future[T]:
        """Call in a thread. Raise RuntimeError after `close`."""
        future: Future[T] = Future()
        with self._lock:
            # One run of `_next` for each call; which call it takes is decided when a thread is free.
            self._threads.submit(self._next)
            heappush(self._waiting, (due, next(self._numbers), future, call))
        return future

    def run_all(self, work: Callable[[Item], Result], pieces: Sequence[tuple[Item, int]]) -> list[Result]:
        """Work on the pieces of one caller, each with its size in any unit, and return the results in order.

        Pieces are due in proportion to their size together: so the longest wait is short in relation to the work
        ("stretch", Bender et al. 1998), a small caller passes large ones, and no one is passed for ever. An error drops
        the pieces not begun.
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
        """Refuse new calls; those accepted still run. Idempotent."""
        self._threads.shutdown(wait=False)

    def _sized(self, work: Callable[[Item], Result], item: Item, size: int) -> Result:
        with self._lock:
            self._begun += size
        return work(item)

    def _next(self) -> None:
        with self._lock:
            *_, future, call = heappop(self._waiting)
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)


class Batching(Generic[Item, Result]):
    """Computes the items of many threads in batches: those that arrive while one is computed are the next one.

    Nobody waits for a batch to fill, and an item alone is computed in its caller's thread. `compute` returns results in
    order; it never runs twice at once. If it fails for several items, each is computed alone, so that an error reaches
    its own caller only. A batch has at most `most` items.
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
                # If this thread was interrupted, the others still want their results.
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
        """Forget the item of a thread that waits no longer."""
        with self._lock:
            if call in self._waiting:
                self._waiting.remove(call)
                if self._leader is call:
                    self._choose_leader()


class _Call(Generic[Item, Result]):
    """An item, and what became of it. `turn` is set when its thread shall lead, or when the result is there."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.turn = threading.Event()
        self.results: list[Result] = []
        self.error: Exception | None = None

    @property
    def is_done(self) -> bool:
        """Whether there is a result or an error."""
        return bool(self.results) or self.error is not None
