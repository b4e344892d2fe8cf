"""Does something to a library on a disk of a few megabytes, in a process of its own.

`python small_disk.py ACTION FOLDER MEGABYTES [SHIM]` mounts the disk in FOLDER, which takes a mount namespace of one's
own (`unshare --mount`), or has the SHIM that is preloaded make FOLDER look like one. It ends without a word, or with
what isn't as it should be.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "http"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx
import pytest
from faults.faulty import Tell, in_a_process
from faults.sound_library import assert_sound, library_on, write_files
from service_on_socket import small_service, upload

from answerable.errors import DiskFull, LibraryError
from answerable.interfaces.http.session_store import Sessions
from answerable.stores.embedded.store import EmbeddedStore

FILES = 16
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
        with library_on(EmbeddedStore(library_folder, indexed_from=0)) as library:
            for file in files:
                library.add(file)
                tell(file.name)
                # The index is there by now, where it has ever had the room.
                (folder / "ballast").write_bytes(b"x" * (_free(folder) // 2))

    told, status = in_a_process(add)
    assert status == 0, (told, status)
    *acknowledged, said = told
    assert said["error"] == "DiskFull", said
    assert str(library_folder) in said["message"], said
    assert "free some space" in said["message"], said
    assert _used(folder) <= size, "more was written than there was room for"
    searched = in_a_process(lambda tell: _search(library_folder, tell))
    assert searched == ([True], 0), f"a full disk keeps nobody from searching: {searched}"
    disk(400_000_000, False)
    there = {Path(source).name for source in assert_sound(EmbeddedStore(library_folder, indexed_from=0))}
    assert set(acknowledged) <= there
    with library_on(EmbeddedStore(library_folder, indexed_from=0)) as library:
        for file in files:
            library.add(file)
        assert library.count()[0] == FILES
        assert library.verify().is_clean


def first_write(folder: Path, disk: Disk, size: int) -> None:
    """Makes a library and conversations where the disk takes less than that or has no more files, then adds."""
    (file,) = write_files(folder.with_name("documents"), 1)
    sizes = (4, 8, 16, 32, 48, 64)
    # Folders and files: the disk itself is one.
    for full in (*(f"size={each}k" for each in sizes), *(f"size={size},nr_inodes={each}" for each in range(1, 5))):
        subprocess.run(["mount", "-t", "tmpfs", "-o", full, "tmpfs", folder], check=True)
        for make in (lambda: _add(folder / "library", file), lambda: Sessions(folder / "data" / "sessions.db")):
            with pytest.raises(DiskFull, match=r"The disk is full: .*ree some space"):
                make()
            subprocess.run(["find", folder, "-mindepth", "1", "-delete"], check=True)
        subprocess.run(["umount", "--lazy", folder], check=True)
    disk(size, False)
    _add(folder / "library", file)
    with another_program(folder, folder / "library"):
        while _free(folder):
            time.sleep(0.01)
        assert in_a_process(lambda tell: _search(folder / "library", tell)) == ([True], 0)
        with pytest.raises(DiskFull, match=r"The disk is full: .*ree some space"):
            _add(folder / "library", *write_files(folder.with_name("documents"), 2))


def _add(library_folder: Path, file: Path) -> None:
    with library_on(EmbeddedStore(library_folder)) as library:
        library.add(file)


def serve(folder: Path, disk: Disk, size: int) -> None:
    """Asks a server with conversations when another program has taken all space, and when there is room again."""
    disk(size, False)
    ask = partial(httpx.Client.post, url="api/v1/library/ask", json={"question": "Which colour is the gate?"})
    with small_service(folder / "data") as (_, client):
        upload(client, ("gate.txt", b"The gate is blue."))
        before = ask(client)
        assert before.status_code == 200, before.text
        with another_program(folder, folder / "data") as taking:
            assert taking.stdout is not None
            assert taking.stdout.readline() == "taken\n"
            refused = [ask(client) for _ in range(5)]
            assert {answer.status_code for answer in refused} <= {200, 507}, [answer.text for answer in refused]
            full = refused[-1].json()
            assert (full["code"], full["status"]) == ("disk_full", 507)
            assert "disk is full" in full["detail"]
            assert str(folder) not in refused[-1].text
            uploading = client.post("api/v1/library/documents", files=[("files", ("more.txt", b"The wall is red."))])
            assert uploading.status_code in (202, 503, 507), uploading.text
            assert client.get("health").status_code == 200
        after = ask(client)
        assert after.status_code == 200, after.text
        assert after.json()["text"] == before.json()["text"]


def turn_read_only(folder: Path, disk: Disk, size: int) -> None:
    """Adds; then what is there can be searched, and nothing can be changed, until the disk is as before."""
    first, second = write_files(folder.with_name("documents"), 1, 2)
    disk(size, False)
    library_folder = folder / "library"
    with library_on(EmbeddedStore(library_folder, indexed_from=0)) as library:
        library.add(first)
        found = [one.chunk.id for one in library.search("viento")]
    # Only a disk that fails is remounted while files on it are open for writing.
    disk(size, True)
    with library_on(EmbeddedStore(library_folder, indexed_from=0)) as library:
        assert [one.chunk.id for one in library.search("viento")] == found
        with pytest.raises(LibraryError, match=r"can't be written to.*--library"):
            library.add(second)
        with pytest.raises(LibraryError, match="can't be written to"):
            library.remove(library.documents()[0].id)
    disk(size, False)
    assert assert_sound(EmbeddedStore(library_folder, indexed_from=0)) == {str(first)}


# Something appears, and at once another program takes all space until it is killed.
_TAKING = """
import glob, os, sys, time
while not glob.glob(sys.argv[1], recursive=True):
    time.sleep(0.001)
with open(sys.argv[2], "wb", buffering=0) as ballast:
    for size in (1 << 20, 1 << 12):
        try:
            while True:
                ballast.write(bytes(size))
        except OSError:
            pass
    print("taken", flush=True)
    while True:
        try:
            ballast.write(bytes(1 << 12))
        except OSError:
            time.sleep(0.001)
"""
_MOMENTS = ("index/shard", "index/**/payload_index", "index/state.json", "library.db-wal")


@contextmanager
def another_program(folder: Path, appearing: Path) -> Iterator[subprocess.Popen[str]]:
    """Takes all space of the disk as soon as something appears; afterwards it is free again."""
    command = [sys.executable, "-c", _TAKING, str(appearing), str(folder / "ballast")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as taking:
        try:
            yield taking
        finally:
            taking.kill()
    (folder / "ballast").unlink()


def taken_by_another(folder: Path, disk: Disk, size: int) -> None:
    """Adds and searches while another program takes all space, at one moment after another."""
    files = write_files(folder.with_name("documents"), *range(FILES))
    for number, moment in enumerate(_MOMENTS):
        disk(size, False)
        library_folder = folder / f"library-{number}"

        def add(tell: Tell, library_folder: Path = library_folder) -> None:
            with library_on(EmbeddedStore(library_folder, indexed_from=0)) as library:
                for file in files:
                    try:
                        library.add(file)
                        tell(file.name)
                    except LibraryError as error:
                        tell({"error": type(error).__name__, "message": str(error)})

        with another_program(folder, library_folder / moment) as taking:
            told, status = in_a_process(add)
            assert status == 0, (moment, told, status)
            assert taking.stdout is not None
            assert taking.stdout.readline() == "taken\n"
            said = [each for each in told if isinstance(each, dict)]
            assert said, f"nothing was said of the full disk: {moment}"
            assert {each["error"] for each in said} == {"DiskFull"}, said
            assert all("ree some space" in each["message"] and "\n" not in each["message"] for each in said), said
            searched = in_a_process(lambda tell: _search(library_folder, tell))  # noqa: B023
            assert searched == ([True], 0), (moment, searched)
        disk(600_000_000, False)
        there = {Path(source).name for source in assert_sound(EmbeddedStore(library_folder, indexed_from=0))}
        assert {each for each in told if isinstance(each, str)} <= there
        with library_on(EmbeddedStore(library_folder, indexed_from=0)) as library:
            for file in files:
                library.add(file)
            assert library.count()[0] == FILES
            assert library.verify().is_clean
        shutil.rmtree(library_folder)


def _search(folder: Path, tell: Tell) -> None:
    with library_on(EmbeddedStore(folder, indexed_from=0)) as library:
        tell(len(library.search("La estación", k=3)) == min(3, library.count()[1]))


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _used(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*"))


ACTIONS: dict[str, Callable[[Path, Disk, int], None]] = {
    action.__name__: action for action in (fill, first_write, serve, taken_by_another, turn_read_only)
}

if __name__ == "__main__":
    on = Path(sys.argv[2])
    on.mkdir()
    a_disk = made_to_look_like_one(on, sys.argv[4]) if sys.argv[4:] else mounted(on)
    ACTIONS[sys.argv[1]](on, a_disk, int(float(sys.argv[3]) * 1e6))
