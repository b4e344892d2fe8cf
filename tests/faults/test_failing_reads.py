"""Test that an export isn't reported as damaged if a read of it fails, as on a broken disk."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.conftest import LINUX
from faults.sound_library import library_on, write_files

from answerable.errors import LibraryError
from answerable.maintenance.exporting import export_store
from answerable.maintenance.importing import import_store
from answerable.stores.memory import MemoryStore


@LINUX
def test_any_read_of_an_export_fails(tmp_path: Path, failing_disk: Path) -> None:
    store = MemoryStore()
    with closing(library_on(store)) as library:
        write_files(tmp_path / "documents", *range(20))
        library.add(tmp_path / "documents")
        export_store(store, tmp_path / "export.zip")
    done = subprocess.run(
        [sys.executable, __file__, str(failing_disk), str(tmp_path / "export.zip")],
        env={**os.environ, "LD_PRELOAD": str(failing_disk)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    *messages, undisturbed = json.loads(done.stdout)
    assert undisturbed == "imported"
    expected = f"{tmp_path / 'export.zip'} can't be read ({os.strerror(errno.EIO)}). Check its permissions and its disk"
    assert len(messages) > 5
    assert {message[: len(expected)] for message in messages} == {expected}


def _import_again_and_again(shim: ctypes.CDLL, path: Path) -> list[str]:
    said: list[str] = []
    while said[-1:] != ["imported"]:
        shim.fault_arm_reads(str(path).encode(), ctypes.c_long(len(said) + 1), errno.EIO)
        try:
            import_store(path, MemoryStore)
            said.append("imported")
        except LibraryError as error:
            said.append(str(error))
    return said


if __name__ == "__main__":
    print(json.dumps(_import_again_and_again(ctypes.CDLL(sys.argv[1]), Path(sys.argv[2]))))
