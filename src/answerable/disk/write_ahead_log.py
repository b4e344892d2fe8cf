"""SQLite's write-ahead log, turned on by several processes at once, and what it says where a disk is full."""

from __future__ import annotations

import shutil
import sqlite3
import time
from pathlib import Path

_PAUSE = 0.01
_ROOM = 1_000_000


def use_write_ahead_log(connection: sqlite3.Connection, seconds: float) -> None:
    """Readers of the file no longer wait for its writer, nor the writer for them.

    SQLite's own time-out doesn't hold for this statement: of two processes that open a new file at the same moment one
    is told at once that it is locked. It is tried again for that long; then sqlite3.OperationalError is raised.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(_PAUSE)


def is_full(error: sqlite3.Error, path: Path) -> bool:
    """Whether an error about the file at `path` is for want of room on its disk."""
    text = str(error)
    # The log's index can't be made larger: that is told as any other failure.
    return "full" in text or ("disk I/O error" in text and shutil.disk_usage(path.parent).free < _ROOM)
