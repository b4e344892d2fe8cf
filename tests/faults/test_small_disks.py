"""A real disk that is full, and one that turns read-only, under a library that is open."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.conftest import LINUX_ROOT
from faults.faulty import Tell, in_a_process
from faults.sound_library import assert_sound, library_on, write_files

from answerable.errors import LibraryError
from answerable.stores.embedded import EmbeddedStore

FILES = 40
Mount = Callable[[str], Path]


@LINUX_ROOT
@pytest.mark.parametrize("megabytes", [60, *(pytest.param(size, marks=pytest.mark.long) for size in (0.2, 3))])
def test_a_full_disk_ends_nothing_but_the_add(mounted: Mount, tmp_path: Path, megabytes: float) -> None:
    """The engine of the index writes through memory, where a full disk would end the process without a word."""
    files = write_files(tmp_path / "documents", *range(FILES))
    disk = mounted(f"size={megabytes * 1e6:.0f}")
    folder = disk / "library"

    def fill(tell: Tell) -> None:
        with library_on(EmbeddedStore(folder)) as library:
            for file in files:
                library.add(file)
                tell(file.name)
                # The index is there by now, where it has ever had the room.
                (disk / "ballast").write_bytes(b"x" * (_free(disk) // 2))

    told, status = in_a_process(fill)
    assert status == 0
    *acknowledged, said = told
    assert said["error"] == "LibraryError"
    assert str(folder) in said["message"]
    assert "free some space" in said["message"]
    assert in_a_process(lambda tell: _search(folder, tell)) == ([True], 0), "a full disk keeps nobody from searching"
    mounted("size=400m")
    there = {Path(source).name for source in assert_sound(EmbeddedStore(folder))}
    assert set(acknowledged) <= there
    with library_on(EmbeddedStore(folder)) as library:
        for file in files:
            library.add(file)
        assert library.count()[0] == FILES
        assert library.verify().is_clean


def _search(folder: Path, tell: Tell) -> None:
    with library_on(EmbeddedStore(folder)) as library:
        tell(len(library.search("La estación", k=3)) == min(3, library.count()[1]))


def _free(disk: Path) -> int:
    found = os.statvfs(disk)
    return found.f_bavail * found.f_frsize


@LINUX_ROOT
def test_a_disk_that_turns_read_only(mounted: Mount, tmp_path: Path) -> None:
    first, second = write_files(tmp_path / "documents", 1, 2)
    disk = mounted("size=200m")
    folder = disk / "library"
    with library_on(EmbeddedStore(folder)) as library:
        library.add(first)
        found = [one.chunk.id for one in library.search("viento")]
    # Only a disk that fails is remounted while files on it are open for writing.
    mounted("ro")
    with library_on(EmbeddedStore(folder)) as library:
        assert [one.chunk.id for one in library.search("viento")] == found
        with pytest.raises(LibraryError, match=r"can't be written to.*--library"):
            library.add(second)
        with pytest.raises(LibraryError, match="can't be written to"):
            library.remove(library.documents()[0].id)
    mounted("rw")
    assert assert_sound(EmbeddedStore(folder)) == {str(first)}
