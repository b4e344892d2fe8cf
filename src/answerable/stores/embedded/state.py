"""The state of the search index of an embedded library: its chunks, and the sizes and checksums of its files."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Bytes; a multiple of the block size of file systems, so that holes of sparse files are whole blocks.
_BLOCK = 65_536
_NAME = "state.json"


def erased_in(folder: Path, identity: str) -> int:
    """Return the number of the last removal that has left no data in the index's files; 0 if it isn't known."""
    try:
        notes = json.loads((folder / _NAME).read_text("utf-8"))
        return int(notes["erased"]) if notes["library"] == identity else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def forget_index(folder: Path) -> None:
    """Make the next process rebuild the index in `folder`."""
    (folder / _NAME).unlink(missing_ok=True)


class EdgeState:
    """The state file of the index in `folder`; `made` are the properties of an index built by the running version."""

    def __init__(self, folder: Path, made: Mapping[str, Any]) -> None:
        self._folder = folder
        self._made = {**made, "engine": version("qdrant-edge-py")}
        self.notes: dict[str, Any] = self._read()

    def begin(self) -> None:
        """Reset the state to that of an empty index without removals."""
        self.notes = {
            **{"library": "", "added": 0, "removed": 0, "filled": 0, "erased": None, "waiting": 0},
            **{"fields": [], "files": {}},
        }

    def write(self, is_closed: bool) -> None:
        """Write each file's size and time and, once the index is closed, its checksum."""
        before = self.notes["files"]
        files: dict[str, tuple[int, int, int | None]] = {}
        for path in (self._folder / "shard").rglob("*"):
            if path.is_file():
                name, found = path.relative_to(self._folder).as_posix(), path.stat()
                size, changed, checksum = before.get(name, (0, 0, None))
                if (size, changed) != (found.st_size, found.st_mtime_ns):
                    checksum = None
                if checksum is None and is_closed:
                    checksum = _checksum(path)
                files[name] = found.st_size, found.st_mtime_ns, checksum
        self.notes.update(**self._made, is_closed=is_closed, files=files)
        draft = self._folder / "state.json.new"
        draft.write_text(json.dumps(self.notes), "utf-8")
        os.replace(draft, self._folder / _NAME)

    def _read(self) -> dict[str, Any]:
        """Return the recorded state, or {} if the index or its files don't match it."""
        try:
            notes: dict[str, Any] = json.loads((self._folder / _NAME).read_text("utf-8"))
            belongs = all(notes[name] == value for name, value in self._made.items())
            whole = belongs and all(
                self._is_whole(self._folder / name, known, notes["is_closed"]) for name, known in notes["files"].items()
            )
            return notes if whole else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def _is_whole(self, path: Path, known: Sequence[Any], is_closed: bool) -> bool:
        # The engine maps its files into memory: a damaged file would crash it or give wrong results.
        size, changed, checksum = known
        found = path.stat()
        if not is_closed:
            return bool(found.st_size >= size)
        return bool(found.st_size == size and (found.st_mtime_ns == changed or _checksum(path) == checksum))


def _checksum(path: Path) -> int:
    """Return a checksum of the non-zero blocks: most of the engine's files are sparse."""
    checksum = position = 0
    zeros = bytes(_BLOCK)
    with path.open("rb", buffering=0) as file:
        while True:
            if hasattr(os, "SEEK_DATA"):
                try:
                    position = max(position, os.lseek(file.fileno(), position, os.SEEK_DATA) // _BLOCK * _BLOCK)
                except OSError:
                    return checksum
            file.seek(position)
            block = file.read(_BLOCK)
            if not block:
                return checksum
            if block != zeros[: len(block)]:
                checksum = zlib.crc32(block, zlib.crc32(position.to_bytes(8, "little"), checksum))
            position += _BLOCK
