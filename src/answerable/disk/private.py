"""Folders and files that only this account can read, whatever the umask."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o077


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
    """Opener for `open` that creates private files."""
    return os.open(path, flags, 0o600)


def replace_file(path: Path, text: str) -> None:
    """Write a file whole, for this account only: a crash leaves the old one or the new one. Raises OSError."""
    # mkstemp makes files only the owner may read.
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def close_to_others(*paths: Path) -> None:
    """Remove all rights of others to these files and folders, where they exist and this is allowed."""
    for path in paths:
        with suppress(OSError):
            mode = path.stat().st_mode
            if mode & _OTHERS:
                path.chmod(mode & 0o777 & ~_OTHERS)
