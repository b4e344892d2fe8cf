"""Whether the disk has room for what the engine of the search index will write."""

from __future__ import annotations

import shutil
from pathlib import Path

from answerable.errors import DiskFull

# The engine writes through memory: where the disk has no room for what it wrote, the system ends its process.
_ROOM = 32_000_000


def require_room(index: Path, size: int = 0) -> None:
    """Raises DiskFull where the disk of an index hasn't room for so many bytes more, and some to spare."""
    needed = _ROOM + size
    if shutil.disk_usage(index.parent).free < needed:
        raise unwritable(index, f"the disk has less than {needed / 1e6:,.0f} MB free")


def unwritable(index: Path, reason: str) -> DiskFull:
    """The error for an index that can't be written, mostly for want of room."""
    return DiskFull(
        f"The index {index} can't be written ({reason}). The documents are safe in the database: "
        "free some space on the disk and try again."
    )
