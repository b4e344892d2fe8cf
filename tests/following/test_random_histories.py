"""Random histories of files: changed, moved, removed, synced, with syncs that crash or are killed in between.

At the end the library is what one built from scratch would be. A sample runs in `make test`, a thousand in
`make test-long`.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from followed_files import LONG_AGO, FollowedFiles, assert_same, built_from_scratch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from made_files import zipped
from sync_processes import command

from answerable.stores.embedded.store import EmbeddedStore

PLACES = ("one", "one/sub", "two")
NAMES = tuple(f"{place}/{name}" for place in PLACES for name in ("a.md", "b.md", "c.txt", "d.zip"))
SUBJECTS = ("apples", "bread", "chairs", "dates", "engines", "figs")
WRITES = ("put", "put_all", "fill", "remove", "remember", "forget", "refresh")

names = st.sampled_from(NAMES)
contents = st.lists(st.integers(0, len(SUBJECTS) - 1), min_size=1, max_size=4)


class Crashed(BaseException):
    """Ends a process."""


def crash(store: EmbeddedStore, writes: int, is_after: bool) -> EmbeddedStore:
    """Lets the store's process die around its write of this number: before it, or right after."""
    counted = itertools.count(1)

    def crashing(write: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            number = next(counted)
            if number > writes or (number == writes and not is_after):
                raise Crashed
            result = write(*arguments)
            if number == writes:
                raise Crashed
            return result

        return call

    for name in WRITES:
        setattr(store, name, crashing(getattr(store, name)))
    return store


def text(subjects: list[int]) -> str:
    """A document of a section for each subject."""
    sections = [
        f"## About {SUBJECTS[number]}\n\n" + f"The {SUBJECTS[number]} of number {number} are told of here. " * 3
        for number in subjects
    ]
    return "\n\n".join([f"# Title of {SUBJECTS[subjects[0]]}", *sections])


class Histories(RuleBasedStateMachine):
    """Two folders, one with a folder in it that may be followed by itself too, and a library that follows them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="answerable-histories-"))
        self.times = itertools.count(LONG_AGO)
        self.origins = {"one", "two"}

    @initialize()
    def begin(self) -> None:
        """A file in every folder stays: an empty folder is taken for one that is out of reach."""
        with self.opened() as files:
            for place in PLACES:
                files.write(f"{place}/anchor.md", f"# Anchor of {place}\n\nIt stays.")
            for origin in sorted(self.origins):
                files.library.add(files.folder / origin)

    @rule(name=names, subjects=contents, is_recent=st.booleans())
    def write(self, name: str, subjects: list[int], is_recent: bool) -> None:
        """Makes a file, or changes it altogether."""
        path = self.path(name)
        if name.endswith(".zip"):
            path.write_bytes(zipped({f"{SUBJECTS[number]}.md": text([number, 0]) for number in subjects}))
        else:
            path.write_text(text(subjects))
        self.age(path, is_recent)

    @rule(name=names, subject=st.integers(0, len(SUBJECTS) - 1), is_recent=st.booleans())
    def append(self, name: str, subject: int, is_recent: bool) -> None:
        """Changes the end of a file."""
        path = self.path(name)
        if path.exists() and not name.endswith(".zip"):
            path.write_text(f"{path.read_text()}\n\n{text([subject])}")
            self.age(path, is_recent)

    @rule(name=names, other=names)
    def move(self, name: str, other: str) -> None:
        """Moves a file to another folder or name, over what is there."""
        if self.path(name).exists() and Path(name).suffix == Path(other).suffix:
            self.path(name).replace(self.path(other))

    @rule(name=names, other=names)
    def copy(self, name: str, other: str) -> None:
        """Copies a file."""
        if self.path(name).exists() and name != other and Path(name).suffix == Path(other).suffix:
            shutil.copy(self.path(name), self.path(other))

    @rule(name=names)
    def delete(self, name: str) -> None:
        """Deletes a file."""
        self.path(name).unlink(missing_ok=True)

    @rule(name=names)
    def touch(self, name: str) -> None:
        """Gives a file another time."""
        if self.path(name).exists():
            self.age(self.path(name), is_recent=False)

    @rule(number=st.integers(0, 20))
    def remove_by_hand(self, number: int) -> None:
        """Takes a document out of the library; it comes back with the next sync."""
        with self.opened() as files:
            for stored in files.library.documents()[number : number + 1]:
                files.library.remove(stored.id)

    @precondition(lambda self: "one/sub" not in self.origins)
    @rule()
    def follow_inner(self) -> None:
        """Follows the inner folder by itself too."""
        with self.opened() as files:
            files.library.add(self.folder / "one/sub")
        self.origins.add("one/sub")

    @precondition(lambda self: "one/sub" in self.origins)
    @rule()
    def leave_inner(self) -> None:
        """Follows the inner folder with the outer one only."""
        with self.opened() as files:
            files.library.unfollow(str(self.folder / "one/sub"))
        self.origins.discard("one/sub")

    @rule()
    def sync(self) -> None:
        """Brings everything up to date."""
        with self.opened() as files:
            assert not files.library.sync().total.failures

    @rule(origin=st.sampled_from(["one", "two"]))
    def add_again(self, origin: str) -> None:
        """Brings one folder up to date."""
        with self.opened() as files:
            files.library.add(self.folder / origin)

    @rule(writes=st.integers(1, 12), is_after=st.booleans())
    def crash(self, writes: int, is_after: bool) -> None:
        """A sync whose process dies around one of its writes."""
        store = EmbeddedStore(self.folder / "library")
        try:
            FollowedFiles(self.folder, crash(store, writes, is_after)).library.sync()
        except Crashed:
            pass
        finally:
            store.close()

    @rule(moment=st.one_of(*[st.none()] * 5, st.floats(0, 0.2)))
    def kill(self, moment: float | None) -> None:
        """A sync in a process of its own that is killed, now and then."""
        if moment is None:
            return
        child = subprocess.Popen(command(self.folder / "library"), stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == "begins\n"
        time.sleep(moment)
        child.kill()
        child.communicate()

    def teardown(self) -> None:
        """Whatever happened, one sync later the library is what it would be from scratch."""
        with self.opened() as files:
            assert not files.library.sync().total.failures
            expected = built_from_scratch(*(self.folder / origin for origin in sorted(self.origins)))
            assert_same(files.store, expected)
            report = files.library.verify(checksum=True, embed=0)
            assert report.is_clean, report.findings
            embedded = files.embedder.embedded
            again = files.library.sync().total
            assert (again.added, again.changed, again.moved, again.removed) == (0, 0, 0, 0)
            assert files.embedder.embedded == embedded
        shutil.rmtree(self.folder)

    def opened(self) -> Any:
        """The library in this process, to be closed."""
        return Opened(self.folder)

    def path(self, name: str) -> Path:
        """A file."""
        return self.folder / name

    def age(self, path: Path, is_recent: bool) -> None:
        """Gives a file a time that no other one has, or leaves it the time that it was written."""
        if not is_recent:
            moment = next(self.times)
            os.utime(path, (moment, moment))


class Opened:
    """The library of a history while it is open."""

    def __init__(self, folder: Path) -> None:
        self._files = FollowedFiles(folder, EmbeddedStore(folder / "library"))

    def __enter__(self) -> FollowedFiles:
        return self._files

    def __exit__(self, *error: object) -> None:
        self._files.library.close()


@pytest.mark.timeout(18_000)
@pytest.mark.parametrize("sequences", [5, pytest.param(1000, marks=pytest.mark.long)])
def test_after_any_history_the_library_is_what_it_would_be_from_scratch(sequences: int) -> None:
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=sequences,
            stateful_step_count=15,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
