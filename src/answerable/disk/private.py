"""Folders and files that no other account of the machine can look into, whatever the umask says."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o077


def make_folder(path: Path) -> None:
    """Makes a folder, and those around it that aren't there, for this account alone; one that is there stays as it is.

    Raises OSError.
    """
    for folder in reversed([path, *path.parents]):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)


def make_file(path: Path) -> None:
    """Makes an empty file for this account alone, or takes the others' rights to one that is there. Raises OSError."""
    # One that is there isn't opened: closing it would give up the locks that this process may have on it.
    with suppress(FileExistsError):
        os.close(for_us(str(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    close_to_others(path)


def for_us(path: str, flags: int) -> int:
    """An `opener` for `open`: what it makes is for this account alone."""
    return os.open(path, flags, 0o600)


def close_to_others(*paths: Path) -> None:
    """Takes all rights of others to these files and folders, as far as they are there and this account may do so."""
    for path in paths:
        with suppress(OSError):
            mode = path.stat().st_mode
            if mode & _OTHERS:
                path.chmod(mode & 0o777 & ~_OTHERS)
