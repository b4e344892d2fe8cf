"""A full disk: told from other failures, and looked for before the engine of the search index writes."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from answerable.errors import DiskFull

# The engine writes through memory: on a full disk the system kills its process.
_ROOM = 32_000_000
# A quota of the account is a full disk too.
FULL = (errno.ENOSPC, errno.EDQUOT)
# What SQLite says, without the reason, if it can't make its log or the log's index can't grow (a part of it at a time).
_WITHOUT_REASON = ("disk I/O error", "unable to open")
_TRIED = 1_000_000


def is_full(error: Exception, path: Path) -> bool:
    """Whether an error about the file at `path` means that its disk is full: no space, no more files, or a quota."""
    if isinstance(error, OSError):
        return error.errno in FULL
    text = str(error)
    if not any(each in text for each in _WITHOUT_REASON):
        return "disk is full" in text
    # Loaded where a file is tried, since every command imports this module.
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=path.parent) as file:
            file.write(bytes(_TRIED))
    except OSError as found:
        return found.errno in FULL
    return False


def no_room(path: Path) -> DiskFull:
    """Return the error for a file that a full disk doesn't take."""
    return DiskFull(f"The disk is full: {path} can't be written. Free some space, then try again.")


def require_room(index: Path, size: int = 0) -> None:
    """Raise DiskFull unless the disk of an index has `size` bytes free, and some to spare."""
    needed = _ROOM + size
    if shutil.disk_usage(index.parent).free < needed:
        raise unwritable(index, f"the disk has less than {needed / 1e6:,.0f} MB free")


def unwritable(index: Path, reason: str) -> DiskFull:
    """Return the error for an index that can't be written, usually because the disk is full."""
    return DiskFull(
        f"The index {index} can't be written ({reason}). The documents are safe in the database: "
        "free some space on the disk and try again."
    )
