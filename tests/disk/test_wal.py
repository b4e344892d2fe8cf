"""Opening one file from many processes at the same moment."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from answerable.disk.files import use_write_ahead_log


def _open(path: str) -> str:
    connection = sqlite3.connect(path, timeout=20)
    use_write_ahead_log(connection, 20)
    connection.execute("CREATE TABLE IF NOT EXISTS numbers (number INTEGER PRIMARY KEY)")
    return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


def test_many_processes_open_a_new_file_at_once(tmp_path: Path) -> None:
    # Without another try one in thirty of these is told that the file is locked.
    with multiprocessing.get_context("spawn").Pool(6) as pool:
        for number in range(40):
            assert pool.map(_open, [str(tmp_path / f"{number}.db")] * 6, chunksize=1) == ["wal"] * 6


def test_a_file_that_stays_locked_is_said_to_be(tmp_path: Path) -> None:
    holder = sqlite3.connect(tmp_path / "held.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    other = sqlite3.connect(tmp_path / "held.db", timeout=0)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        use_write_ahead_log(other, 0.05)
