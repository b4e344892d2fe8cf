"""Test how threads share processors: the order on lanes, batches, and errors that reach only their own caller."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from answerable.sharing import Batching, Lanes, Stopped, Work
from answerable.threads import Pool

PATIENCE = 30


def eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


class Held:
    """Doubles numbers when it is let go; remembers the batches. Negative numbers are errors."""

    def __init__(self) -> None:
        self.begun, self.let_go = threading.Event(), threading.Event()
        self.batches: list[list[int]] = []

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        self.begun.set()
        assert self.let_go.wait(PATIENCE)
        if min(items) < 0:
            raise ValueError(min(items))
        return [2 * item for item in items]


@pytest.fixture
def callers() -> Iterator[ThreadPoolExecutor]:
    with many_threads() as threads:
        yield threads


def many_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(50)


def waiting_behind(
    held: Held, batching: Batching[int, int], callers: ThreadPoolExecutor, items: Sequence[int]
) -> list[Future[int]]:
    """Callers of which the first is computed while the others wait, in this order."""
    futures = []
    for number, item in enumerate(items):
        futures.append(callers.submit(batching.run, item))
        assert held.begun.wait(PATIENCE)
        eventually(lambda waiting=number: len(batching._waiting) == waiting)  # type: ignore[misc]
    return futures


def test_what_waits_is_the_next_batch(callers: ThreadPoolExecutor) -> None:
    held = Held()
    futures = waiting_behind(held, Batching(held, most=4), callers, range(8))
    held.let_go.set()
    assert [future.result(PATIENCE) for future in futures] == [0, 2, 4, 6, 8, 10, 12, 14]
    assert held.batches == [[0], [1, 2, 3, 4], [5, 6, 7]]


def test_an_error_of_a_batch_reaches_its_own_caller_only(callers: ThreadPoolExecutor) -> None:
    held = Held()
    futures = waiting_behind(held, Batching(held, most=8), callers, [0, 1, -2, 3, -4])
    held.let_go.set()
    assert [str(future.exception(PATIENCE) or future.result()) for future in futures] == ["0", "2", "-2", "6", "-4"]


def test_many_threads_get_their_own_results(callers: ThreadPoolExecutor) -> None:
    at_once = 0

    def compute(items: Sequence[int]) -> list[int]:
        nonlocal at_once
        at_once += 1
        time.sleep(0.0005)
        assert at_once == 1
        at_once -= 1
        assert len(items) <= 16
        return [item + 1 for item in items]

    batching = Batching(compute, most=16)
    assert list(callers.map(batching.run, range(2000))) == list(range(1, 2001))


def test_too_few_results_are_an_error() -> None:
    batching: Batching[int, int] = Batching(lambda items: [], most=2)
    with pytest.raises(ValueError, match="shorter"):
        batching.run(1)


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def interrupt_soon() -> None:
    """Interrupt the main thread within a moment."""
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)


def give_up_waiting() -> None:
    held = Held()
    batching = Batching(held, most=4)
    with many_threads() as callers:
        (first,) = waiting_behind(held, batching, callers, [0])
        interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            batching.run(1)
        second = callers.submit(batching.run, 2)
        held.let_go.set()
        assert (first.result(PATIENCE), second.result(PATIENCE)) == (0, 4)
    assert 1 not in [item for batch in held.batches for item in batch]


def interrupt_a_leader() -> None:
    held, others = Held(), list[Future[int]]()

    def compute(items: Sequence[int]) -> list[int]:
        if 1 in items:
            held.batches.append(list(items))
            interrupt_soon()
            time.sleep(PATIENCE)
        return held(items)

    batching = Batching(compute, most=4)

    def follow() -> None:
        eventually(lambda: len(batching._waiting) == 1)
        others.extend(callers.submit(batching.run, item) for item in (2, 3))
        eventually(lambda: len(batching._waiting) == 3)
        held.let_go.set()

    with many_threads() as callers:
        (first,) = waiting_behind(held, batching, callers, [0])
        following = callers.submit(follow)
        with pytest.raises(KeyboardInterrupt):
            batching.run(1)
        following.result(PATIENCE)
        assert [future.result(PATIENCE) for future in (first, *others)] == [0, 4, 6]
    assert held.batches[1][0] == 1
    assert sorted(held.batches[1]) == [1, 2, 3]


def in_a_process_of_its_own(work: Callable[[], None]) -> int | None:
    """Its exit status. On a virtual machine, signals ended processes (SIGSEGV) in which a model had been computed."""
    process = multiprocessing.get_context("spawn").Process(target=work)
    process.start()
    process.join(2 * PATIENCE)
    return process.exitcode


def test_who_gives_up_waiting_holds_up_no_one() -> None:
    assert in_a_process_of_its_own(give_up_waiting) == 0


def test_an_interrupted_leader_leaves_its_batch_to_the_others() -> None:
    assert in_a_process_of_its_own(interrupt_a_leader) == 0


def test_what_is_due_first_runs_first() -> None:
    lanes, let_go, order = Lanes(1), threading.Event(), list[str]()
    first = lanes.submit(lambda: let_go.wait(PATIENCE))
    futures = [
        lanes.submit(lambda name=name: order.append(name), due)  # type: ignore[misc]
        for name, due in (("late", 9), ("soon", 1), ("also late", 9), ("sooner", 0))
    ]
    let_go.set()
    for future in (first, *futures):
        future.result(PATIENCE)
    assert order == ["sooner", "soon", "late", "also late"]
    lanes.close()
    with pytest.raises(RuntimeError):
        lanes.submit(lambda: None)


def test_small_work_passes_large_work_but_not_for_ever(callers: ThreadPoolExecutor) -> None:
    lanes, let_go, order = Lanes(1), threading.Event(), list[int]()
    begun = lanes.submit(lambda: let_go.wait(PATIENCE))
    asked = []
    for size in (100, 100, *[1] * 4):
        asked.append(callers.submit(lanes.run_all, order.append, [(size, size)]))
        eventually(lambda: len(lanes._waiting) == len(asked))
    let_go.set()
    for future in (begun, *asked):
        future.result(PATIENCE)
    assert order == [1, 1, 1, 1, 100, 100]

    # Small work that goes on and on: the large one still gets its turn, after eight times its size.
    order.clear()
    lanes, let_go = Lanes(1), threading.Event()
    begun = lanes.submit(lambda: let_go.wait(PATIENCE))
    large = callers.submit(lanes.run_all, order.append, [(100, 100)])
    eventually(lambda: len(lanes._waiting) == 1)

    def work(item: int) -> None:
        order.append(item)
        # Others wait again before the lane is free.
        eventually(lambda: 100 in order or len(lanes._waiting) == 3)

    def small() -> None:
        while 100 not in order:
            lanes.run_all(work, [(10, 10)])

    smalls = [callers.submit(small) for _ in range(3)]
    eventually(lambda: len(lanes._waiting) == 4)
    let_go.set()
    for future in (large, *smalls):
        future.result(PATIENCE)
    assert 70 <= order.index(100) <= 90


def test_pieces_come_back_in_order_and_run_at_once() -> None:
    lanes, together = Lanes(3), threading.Barrier(3)

    def work(item: int) -> int:
        together.wait(PATIENCE)
        time.sleep((3 - item) * 0.005)
        return item * item

    assert lanes.run_all(work, [(1, 1), (2, 1), (3, 1)]) == [1, 4, 9]


def test_an_error_drops_the_pieces_not_begun() -> None:
    lanes, seen = Lanes(1), list[int]()

    def work(item: int) -> None:
        seen.append(item)
        if item == 1:
            raise ValueError("no")
        time.sleep(0.05)

    with pytest.raises(ValueError, match="no"):
        lanes.run_all(work, [(item, 1) for item in (0, 1, 2, 3, 4)])
    lanes.submit(lambda: None, due=1e9).result(PATIENCE)
    assert 4 not in seen


def test_lanes_that_nobody_holds_end_their_threads() -> None:
    lanes = Lanes(2)
    # Earlier tests may leave such threads too.
    (thread,) = lanes.run_all(lambda _: threading.current_thread(), [(0, 1)])
    assert thread.is_alive()
    del lanes
    gc.collect()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_stream_that_is_left_stops_its_work() -> None:
    begun, ended = threading.Event(), threading.Event()

    def steps(work: Work) -> Generator[str, None, None]:
        begun.set()
        try:
            while True:
                work.check()
        except Stopped:
            ended.set()
            raise
        yield ""

    async def run() -> None:
        pool = Pool(1)
        step = asyncio.ensure_future(anext(pool.stream(steps)))
        await asyncio.to_thread(begun.wait, PATIENCE)
        step.cancel()
        # The only worker is free again.
        assert await asyncio.wait_for(pool.run(ended.wait, PATIENCE), PATIENCE)
        pool.close()

    asyncio.run(run())


def test_a_stream_that_began_goes_before_later_calls() -> None:
    order: list[str] = []

    async def run() -> None:
        pool, let_go = Pool(1), threading.Event()

        def steps() -> Generator[str, None, None]:
            order.append("stream 1")
            yield ""
            order.append("stream 2")
            yield ""

        async def read() -> None:
            async for _ in pool.stream(lambda _: steps()):
                if order == ["stream 1"]:
                    later.extend(
                        asyncio.ensure_future(pool.run(each))
                        for each in (lambda: let_go.wait(PATIENCE), lambda: order.append("later"))
                    )
                    await asyncio.sleep(0.05)
                    asyncio.get_running_loop().call_later(0.05, let_go.set)

        later: list[asyncio.Future[object]] = []
        await read()
        await asyncio.gather(*later)
        pool.close()

    asyncio.run(run())
    assert order == ["stream 1", "stream 2", "later"]
