"""Test jumps of the clock by years, in both directions, between visits of a folder and during a conversation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
from faults.conftest import compiled
from faults.sound_library import assert_sound, library_on, write_files

from answerable.datatypes import Exchange
from answerable.interfaces.http.session_store import Owner, Sessions
from answerable.stores.embedded.store import EmbeddedStore

YEAR = 365 * 86_400
YEARS = (10, -20)
OWNER = Owner("default", "ana")


@pytest.fixture(scope="session")
def jumped_clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library to preload into processes whose clock is wrong."""
    return compiled("jumped_clock.c", tmp_path_factory)


def visit(folder: Path, documents: Path, shim: Path, years: int) -> dict[str, int]:
    """Adds the folder, or visits it again, in a process whose clock is wrong by so many years."""
    done = subprocess.run(
        [sys.executable, __file__, str(folder), str(documents)],
        env={**os.environ, "LD_PRELOAD": str(shim), "CLOCK_JUMP": str(years * YEAR)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    said: dict[str, int] = json.loads(done.stdout)
    assert abs(said.pop("time") - time.time() - years * YEAR) < 1_000, "the clock hasn't jumped"
    return said


@pytest.mark.skipif(sys.platform != "linux", reason="preloading works otherwise elsewhere")
def test_visits_notice_what_changes_whatever_the_clock_says(tmp_path: Path, jumped_clock: Path) -> None:
    folder, documents = tmp_path / "library", tmp_path / "documents"
    files = write_files(documents, 0, 1, 2, 3)
    assert visit(folder, documents, jumped_clock, YEARS[0])["added"] == 4
    for number, years in enumerate(YEARS[1:]):
        # Of the same size, and so told apart by its time alone.
        files[2].write_text(f"Otra cosa, la {number}.\n", "utf-8")
        files += write_files(documents, 10 + number)
        if number == 0:
            files.pop(0).unlink()
        said = visit(folder, documents, jumped_clock, years)
        assert (said["added"], said["changed"], said["removed"]) == (1, 1, int(number == 0))
    with library_on(EmbeddedStore(folder)) as library:
        assert library.verify(checksum=True).is_clean
    assert assert_sound(EmbeddedStore(folder)) == {str(file) for file in files}


def test_a_conversation_outlives_a_clock_that_goes_back_and_ends_by_one_that_goes_ahead(tmp_path: Path) -> None:
    now = 1_000_000_000.0
    with closing(Sessions(tmp_path / "sessions.db", days=2, now=lambda: now)) as sessions:
        session = sessions.start(OWNER)
        for jump in (-10 * YEAR, 3_600):
            now += jump
            assert sessions.add(session, OWNER, Exchange("q", "q", "a"), {})
        assert len(sessions.history(session, OWNER)) == 2
        now += 3 * 86_400
        assert sessions.history(session, OWNER) is None


def _visit(folder: Path, documents: Path) -> None:
    with library_on(EmbeddedStore(folder)) as library:
        report = library.sync().total if library.origins() else library.add(documents)
    counted = {name: getattr(report, name) for name in ("added", "changed", "unchanged", "removed")}
    print(json.dumps({"time": time.time(), **counted}))


if __name__ == "__main__":
    _visit(Path(sys.argv[1]), Path(sys.argv[2]))
