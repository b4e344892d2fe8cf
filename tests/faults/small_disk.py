"""Does something to a library on a disk of a few megabytes, in a process of its own.

`python small_disk.py ACTION FOLDER MEGABYTES [SHIM]` mounts the disk in FOLDER, which takes a mount namespace of one's
own (`unshare --mount`), or has the SHIM that is preloaded make FOLDER look like one. It ends without a word, or with
what isn't as it should be.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
from faults.faulty import Tell, in_a_process
from faults.sound_library import assert_sound, library_on, write_files

from answerable.errors import LibraryError
from answerable.stores.embedded import EmbeddedStore

FILES = 40
# Makes the disk as large as that, in bytes, and read-only if it says so; what is on it stays.
Disk = Callable[[int, bool], None]


def mounted(folder: Path) -> Disk:
    """A file system of its own, in memory, which goes with the process."""

    def change(size: int, is_read_only: bool = False) -> None:
        again = "remount," if os.path.ismount(folder) else ""
        options = f"{again}size={size},{'ro' if is_read_only else 'rw'}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)

    return change


def made_to_look_like_one(folder: Path, shim: str) -> Disk:
    """The same for all who write by calls. What is written through memory comes through, so its size is looked at."""
    preloaded = ctypes.CDLL(shim)

    def change(size: int, is_read_only: bool = False) -> None:
        preloaded.fault_disk(str(folder).encode(), ctypes.c_long(size), int(is_read_only))

    return change


def fill(folder: Path, disk: Disk, size: int) -> None:
    """Adds files until there is no room, searches, and adds the others when there is."""
    files = write_files(folder.with_name("documents"), *range(FILES))
    disk(size, False)
    library_folder = folder / "library"

    def add(tell: Tell) -> None:
        with library_on(EmbeddedStore(library_folder)) as library:
            for file in files:
                library.add(file)
                tell(file.name)
                # The index is there by now, where it has ever had the room.
                (folder / "ballast").write_bytes(b"x" * (_free(folder) // 2))

    told, status = in_a_process(add)
    assert status == 0, (told, status)
    *acknowledged, said = told
    assert said["error"] == "LibraryError", said
    assert str(library_folder) in said["message"], said
    assert "free some space" in said["message"], said
    assert _used(folder) <= size, "more was written than there was room for"
    searched = in_a_process(lambda tell: _search(library_folder, tell))
    assert searched == ([True], 0), f"a full disk keeps nobody from searching: {searched}"
    disk(400_000_000, False)
    there = {Path(source).name for source in assert_sound(EmbeddedStore(library_folder))}
    assert set(acknowledged) <= there
    with library_on(EmbeddedStore(library_folder)) as library:
        for file in files:
            library.add(file)
        assert library.count()[0] == FILES
        assert library.verify().is_clean


def turn_read_only(folder: Path, disk: Disk, size: int) -> None:
    """Adds; then what is there can be searched, and nothing can be changed, until the disk is as before."""
    first, second = write_files(folder.with_name("documents"), 1, 2)
    disk(size, False)
    library_folder = folder / "library"
    with library_on(EmbeddedStore(library_folder)) as library:
        library.add(first)
        found = [one.chunk.id for one in library.search("viento")]
    # Only a disk that fails is remounted while files on it are open for writing.
    disk(size, True)
    with library_on(EmbeddedStore(library_folder)) as library:
        assert [one.chunk.id for one in library.search("viento")] == found
        with pytest.raises(LibraryError, match=r"can't be written to.*--library"):
            library.add(second)
        with pytest.raises(LibraryError, match="can't be written to"):
            library.remove(library.documents()[0].id)
    disk(size, False)
    assert assert_sound(EmbeddedStore(library_folder)) == {str(first)}


def _search(folder: Path, tell: Tell) -> None:
    with library_on(EmbeddedStore(folder)) as library:
        tell(len(library.search("La estación", k=3)) == min(3, library.count()[1]))


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _used(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*"))


ACTIONS: dict[str, Callable[[Path, Disk, int], None]] = {action.__name__: action for action in (fill, turn_read_only)}

if __name__ == "__main__":
    on = Path(sys.argv[2])
    on.mkdir()
    a_disk = made_to_look_like_one(on, sys.argv[4]) if sys.argv[4:] else mounted(on)
    ACTIONS[sys.argv[1]](on, a_disk, int(float(sys.argv[3]) * 1e6))
