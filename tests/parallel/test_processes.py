"""Test worker processes: order of results, errors, deaths, shutdown."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import steps

from answerable.errors import DamagedSource, SettingsError, WorkerLost
from answerable.indexing.processes import start_processes
from answerable.indexing.worker_pool import JobQueue, submit_ahead

SECONDS = 20


@pytest.fixture(scope="module")
def pool() -> Iterator[JobQueue]:
    """Two processes."""
    with closing(start_processes(2, steps.make_pipeline)) as pool:
        yield pool


def is_running(process: int) -> bool:
    """Whether there is such a process that isn't only waiting to be reaped."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    # It may end between opening and reading.
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def gone_within(seconds: float, *processes: int) -> bool:
    """Whether all of them end in time."""
    until = time.monotonic() + seconds
    while any(map(is_running, processes)):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def test_results_come_in_order_from_both(pool: JobQueue) -> None:
    found = list(submit_ahead(pool, steps.square, [(number, 1) for number in range(8)], max_jobs=3, max_bytes=100))
    assert [(job, pending.result()) for job, pending in found] == [(number, number**2) for number in range(8)]
    workers = {pool.submit(steps.process_id, number).result() for number in range(8)}
    assert len(workers) <= 2
    assert os.getpid() not in workers


def test_an_error_of_a_step_is_raised_as_it_is(pool: JobQueue) -> None:
    with pytest.raises(DamagedSource, match=r"^a\.pdf is broken$"):
        pool.submit(steps.refuse, "a.pdf").result()
    assert pool.submit(steps.square, 3).result() == 9


def test_a_killed_worker_is_replaced_and_its_job_done_again(pool: JobQueue, tmp_path: Path) -> None:
    others = [pool.submit(steps.square, number) for number in range(4)]
    assert pool.submit(steps.die_once, tmp_path / "marker").result() > 0
    assert [other.result() for other in others] == [0, 1, 4, 9]


def test_a_job_that_kills_every_worker_fails_alone(pool: JobQueue) -> None:
    fatal = pool.submit(steps.die, 0)
    others = [pool.submit(steps.square, number) for number in range(4)]
    with pytest.raises(WorkerLost, match="killed or ran out of memory"):
        fatal.result()
    assert [other.result() for other in others] == [0, 1, 4, 9]


def test_an_error_at_start_fails_every_job() -> None:
    with closing(start_processes(2, steps.refuse_to_start)) as pool:
        jobs = [pool.submit(steps.square, number) for number in range(3)]
        for job in jobs:
            with pytest.raises(SettingsError, match="no pipeline today"):
                job.result()


def test_closing_ends_workers_in_the_middle_of_a_job() -> None:
    pool = start_processes(2, steps.make_pipeline)
    workers = {pool.submit(steps.process_id, number).result() for number in range(6)}
    jobs = [pool.submit(steps.sleep, 600) for _ in range(5)]
    started = time.monotonic()
    pool.close()
    pool.close()
    assert time.monotonic() - started < SECONDS
    assert all(job.done() for job in jobs)
    assert gone_within(SECONDS, *workers)


def test_a_starting_worker_ignores_ctrl_c() -> None:
    before = {child.pid for child in multiprocessing.active_children()}
    with closing(start_processes(1, steps.make_pipeline)) as pool:
        while not (started := {child.pid for child in multiprocessing.active_children()} - before):
            time.sleep(0.001)
        (worker,) = started
        assert worker is not None
        os.kill(worker, signal.SIGINT)
        assert pool.submit(steps.process_id, 0).result() == worker


def test_jobs_submitted_ahead_are_limited(pool: JobQueue) -> None:
    handed_in = []

    def jobs() -> Iterator[tuple[int, int]]:
        for number, size in enumerate([4, 4, 4, 20, 1, 1, 1, 1]):
            handed_in.append(number)
            yield number, size

    ahead = []
    for job, _ in submit_ahead(pool, steps.square, jobs(), max_jobs=3, max_bytes=10):
        # One more has been looked at, and not handed in.
        ahead.append(len(handed_in) - 1 - job)
    assert ahead == [2, 2, 1, 1, 3, 2, 1, 0]


def test_workers_end_when_their_owner_is_killed() -> None:
    program = """
from contextlib import closing
import steps
from answerable.indexing.processes import start_processes
if __name__ == "__main__":
    pool = start_processes(2, steps.make_pipeline)
    print(*{pool.submit(steps.process_id, number).result() for number in range(6)}, flush=True)
    pool.submit(steps.sleep, 3).result()
"""
    folders = [*sys.path, str(Path(__file__).parent), str(Path(__file__).parents[1])]
    owner = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        text=True,
    )
    assert owner.stdout is not None
    workers = [int(number) for number in owner.stdout.readline().split()]
    owner.kill()
    owner.wait()
    owner.stdout.close()
    # The one that is busy ends with its job.
    assert workers
    assert gone_within(SECONDS, *workers)
