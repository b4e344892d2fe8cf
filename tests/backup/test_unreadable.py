"""An export that the system doesn't let be read is another thing than one that is damaged, and is told as such."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from faults.faulty import Tell, in_a_process
from made_exports import fill

from answerable.maintenance.exporting import export_store
from answerable.maintenance.importing import import_store
from answerable.stores.memory import MemoryStore

NOBODY = 65_534


@pytest.mark.parametrize("without_rights", ["export.zip", "."])
def test_an_export_that_may_not_be_read(without_rights: str) -> None:
    # Not below the folder of the tests, which others may not even enter.
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer) / "exports"
        folder.mkdir()
        path = folder / "export.zip"
        with closing(MemoryStore()) as store:
            fill(store)
            export_store(store, path)
        os.chmod(outer, 0o755)
        os.chmod(folder / without_rights, 0)

        def read(tell: Tell) -> None:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            import_store(path, MemoryStore)

        told, status = in_a_process(read)
        os.chmod(folder, 0o755)
    assert status == 0, told
    assert told == [
        {
            "error": "LibraryError",
            "message": f"{path} can't be read (Permission denied). Check its permissions and its disk, then try again.",
        }
    ]
