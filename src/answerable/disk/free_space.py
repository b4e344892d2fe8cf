"""Checks for free space before the engine of the search index writes."""

from __future__ import annotations

import shutil
from pathlib import Path

from answerable.errors import DiskFull

# The engine writes through memory: on a full disk the system kills its process.
_ROOM = 32_000_000


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
