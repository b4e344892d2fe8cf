"""Test that adding with several processes gives the same result as with one, whatever happens to them."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import steps
from libraries import assert_same, make_files, make_library
from test_processes import SECONDS, gone_within

import answerable
from answerable.errors import EmptySource, WorkerLost
from answerable.indexing.ingest import AddReport, Progress
from answerable.indexing.prepare import Pipeline
from answerable.indexing.processes import start_processes
from answerable.indexing.worker_pool import JobQueue, StepRunner, read_and_split
from answerable.library import Library

REPORTS = 60
# So many small ones that adding is far from done when the first are stored.
FILES = 1_000
start: Callable[[], JobQueue] = partial(start_processes, 2, steps.make_pipeline)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of some kinds of files."""
    return make_files(tmp_path_factory.mktemp("files") / "in", REPORTS)


@pytest.fixture(scope="module")
def alone(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Library, AddReport]]:
    """What one process makes of it."""
    with make_library(tmp_path_factory.mktemp("alone") / "library") as library:
        yield library, library.add(files)


def outcome(report: AddReport) -> tuple[object, ...]:
    """What was reported, but the time that it took."""
    failures = [(failure.source, str(failure.error)) for failure in report.failures]
    return report.added, report.unchanged, report.chunks, report.skipped, failures


def workers_now() -> list[int]:
    """The processes that this one has started."""
    return [child.pid for child in multiprocessing.active_children() if child.pid]


def test_two_workers_give_the_same_library(files: Path, alone: tuple[Library, AddReport], tmp_path: Path) -> None:
    seen: list[Progress] = []
    with make_library(tmp_path / "library", start) as library:
        report = library.add(files, on_progress=seen.append)
        assert outcome(report) == outcome(alone[1])
        assert_same(library, alone[0])
        assert library.add(files).unchanged == report.added
    assert [one.chunks_done for one in seen] == sorted(one.chunks_done for one in seen)
    assert seen[-1].chunks_done == report.chunks
    assert not workers_now()


@pytest.mark.long
def test_killed_workers_lose_nothing(files: Path, alone: tuple[Library, AddReport], tmp_path: Path) -> None:
    killed: set[int] = set()

    def kill(progress: Progress) -> None:
        for wanted in (100, 300):
            if progress.chunks_done >= wanted > len(killed) * 200:
                victim = next(each for each in workers_now() if each not in killed)
                os.kill(victim, signal.SIGKILL)
                killed.add(victim)

    with make_library(tmp_path / "library", start) as library:
        report = library.add(files, on_progress=kill)
        assert len(killed) == 2
        assert outcome(report) == outcome(alone[1])
        assert_same(library, alone[0])


@pytest.mark.long
def test_only_the_passage_that_kills_its_workers_has_no_vectors(files: Path, tmp_path: Path) -> None:
    folder = make_files(tmp_path / "in", 5)
    (folder / "report-002b.txt").write_text(f"One line.\n\nA line with {steps.FATAL}.\n\nAnother line.")
    with make_library(tmp_path / "library", start) as library:
        report = library.add(folder)
        (failure,) = [each for each in report.failures if isinstance(each.error, WorkerLost)]
        assert failure.source.endswith("report-002b.txt")
        assert "fewer --workers" in str(failure.error)
        names = {Path(stored.source).name for stored in library.documents()}
        assert {f"report-00{number}.txt" for number in (0, 1, 2, "2b", 3, 4)} <= names
        # It is found by its words, and the passage that kills workers goes on waiting for its vectors.
        assert library.waiting() == 1
        (folder / "report-002b.txt").write_text("Mended.")
        assert (library.add(folder).changed, library.waiting()) == (1, 0)


def test_a_file_that_changes_while_it_waits_is_read_again(tmp_path: Path) -> None:
    folder = make_files(tmp_path / "in", 8)
    late = folder / "report-007.txt"

    def change(progress: Progress) -> None:
        if progress.source.endswith("report-006.txt") and "new" not in late.read_text():
            late.write_text("This is new.")

    with make_library(tmp_path / "library", start) as library:
        library.add(folder, on_progress=change)
        (found,) = [stored for stored in library.documents() if stored.source.endswith("report-007.txt")]
        assert library.document(found.id).content == "This is new."


class Interrupted:
    """A worker that finds a file empty, because it is just being written."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.runner = StepRunner(steps.make_pipeline)

    def start(self) -> None: ...

    def run(self, step: Callable[[Pipeline, Any], Any], argument: Any) -> tuple[bool, Any]:
        if step is not read_and_split:
            return self.runner.run(step, argument)
        self.file.write_text("This is new.")
        return False, EmptySource(f"{self.file} is empty")

    def close(self) -> None: ...


def test_what_a_worker_says_of_a_file_that_is_being_written_isnt_believed(tmp_path: Path) -> None:
    file = tmp_path / "late.txt"
    file.write_text("This was first.")
    with make_library(tmp_path / "library", lambda: JobQueue([Interrupted(file)], True, 1)) as library:
        assert (library.add(tmp_path).added, library.add(tmp_path).unchanged) == (1, 1)


@pytest.mark.long
def test_ctrl_c_ends_all_processes_and_keeps_what_was_stored(tmp_path: Path) -> None:
    folder, library = tmp_path / "in", tmp_path / "library"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:04}.txt").write_text(f"Note {number}: buy {number} apples.")
    # A cache without vectors, and the engine that starts at once.
    environment = {**os.environ, "ANSWERABLE_CACHE_FOLDER": str(tmp_path), "ANSWERABLE_READER": "off"}
    command = [sys.executable, "-c", "from answerable.interfaces.cli.main import run; run()", "add", str(folder)]
    process = subprocess.Popen(
        [*command, "--library", str(library), "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    while process.poll() is None and _stored(library) < 10:
        time.sleep(0.05)
    started = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    # As a terminal does it: to all processes of the command.
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, ""), errors
    assert re.fullmatch(r"error: Interrupted\. .*\n", errors)
    assert gone_within(SECONDS, *started)
    with answerable.open(library, create=False) as opened:
        assert 10 <= len(opened.documents()) < FILES
        assert all(len(opened.chunks(stored.id)) == stored.chunks for stored in opened.documents())


def _stored(library: Path) -> int:
    try:
        with sqlite3.connect(f"file:{library / 'library.db'}?mode=ro", uri=True) as database:
            return int(database.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
