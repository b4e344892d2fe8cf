"""Files: paths as the user typed them, names of sources, files that only this account can read, SQLite's log.

`is_full` distinguishes a full disk from other failures; `require_room` checks the disk before the search index writes.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from answerable.errors import DiskFull

if TYPE_CHECKING:
    import sqlite3

_OTHERS = 0o077  # the rights of group and others


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents for this account only; leave existing ones. Raises OSError."""
    for folder in reversed([path, *path.parents]):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)


def make_file(path: Path) -> None:
    """Create an empty file for this account only, or remove others' rights to an existing one. Raises OSError."""
    # Don't open an existing file: closing it would release this process's locks on it.
    with suppress(FileExistsError):
        os.close(for_us(str(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    close_to_others(path)


def for_us(path: str, flags: int) -> int:
    """An opener for `open` that creates private files."""
    return os.open(path, flags, 0o600)


def replace_file(path: Path, text: str) -> None:
    """Write a text to a file in UTF-8, replacing the file as `replacing` does."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


@contextmanager
def replacing(path: Path, suffix: str = "") -> Iterator[IO[bytes]]:
    """Write a private file completely: a crash leaves either the old file or the new one. Raises OSError.

    Until the block ends, the file's name is `.NAME.`, some letters, and `suffix`.
    """
    # mkstemp makes files that only the owner may read.
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=suffix)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def close_to_others(*paths: Path) -> None:
    """Remove all rights of other accounts to these files and folders, if they exist and this is allowed."""
    for path in paths:
        with suppress(OSError):
            mode = path.stat().st_mode
            if mode & _OTHERS:
                path.chmod(mode & 0o777 & ~_OTHERS)


# Surrogates that don't encode a byte of a file name: some come from JSON.
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def expanded(path: str) -> str:
    """Return a path with the user's folder for its ~. A path with a NUL, which no file has, is returned unchanged."""
    return path if "\0" in path else os.path.expanduser(path)


def source_of(path: str | Path) -> str:
    """Return a file's name as a source: its absolute path with slashes; U+FFFD replaces invalid characters."""
    name = _NO_BYTE.sub("\ufffd", os.path.abspath(path).replace(os.sep, "/"))
    return os.fsencode(name).decode("utf-8", "replace")


_PAUSE = 0.01  # seconds between tries: far shorter than a person notices; a guess, not measured


def use_write_ahead_log(connection: sqlite3.Connection, seconds: float) -> None:
    """Turn on the write-ahead log, so that processes that read the file don't wait for one that writes.

    SQLite's own time-out doesn't apply to this statement: when two processes open a new file at once, one fails. Retry
    for `seconds`, then raise sqlite3.OperationalError.
    """
    import sqlite3

    until = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(_PAUSE)


# Bytes to leave free: the engine writes to memory-mapped files, and on a full disk the system kills its process.
_ROOM = 32_000_000
# Errors of a full disk, or of an account that has used up its quota.
FULL = (errno.ENOSPC, errno.EDQUOT)
# SQLite's messages, without a reason, if it can't create its log, or can't extend the log's index.
_WITHOUT_REASON = ("disk I/O error", "unable to open")
_TRIED = 1_000_000  # bytes to write as a test: more than a full disk may still have; a guess, not measured


def is_full(error: Exception, path: Path) -> bool:
    """Whether an error about the file at `path` means that its disk is full: no space, no more files, or a quota."""
    if isinstance(error, OSError):
        return error.errno in FULL
    text = str(error)
    if not any(each in text for each in _WITHOUT_REASON):
        return "disk is full" in text
    try:
        with tempfile.TemporaryFile(dir=path.parent) as file:
            file.write(bytes(_TRIED))
    except OSError as found:
        return found.errno in FULL
    return False


def no_room(path: Path) -> DiskFull:
    """Return the error for a file that can't be written because the disk is full."""
    return DiskFull(f"The disk is full: {path} can't be written. Free some space, then try again.")


def require_room(index: Path, size: int = 0) -> None:
    """Raise DiskFull unless the disk of an index has `size` bytes free, and a reserve."""
    needed = _ROOM + size
    if shutil.disk_usage(index.parent).free < needed:
        raise unwritable(index, f"the disk has less than {needed / 1e6:,.0f} MB free")


def unwritable(index: Path, reason: str) -> DiskFull:
    """Return the error for an index that can't be written, usually because the disk is full."""
    return DiskFull(
        f"The index {index} can't be written ({reason}). The documents are safe in the database: "
        "free some space on the disk and try again."
    )
