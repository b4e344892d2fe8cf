"""SQLite's write-ahead log, turned on by several processes at once."""

from __future__ import annotations

import sqlite3
import time

_PAUSE = 0.01


def use_write_ahead_log(connection: sqlite3.Connection, seconds: float) -> None:
    """Turn on the log, so that readers and the writer of the file don't wait for each other.

    SQLite's own time-out doesn't apply to this statement: when two processes open a new file at once, one fails. Retry
    for `seconds`, then raise sqlite3.OperationalError.
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
