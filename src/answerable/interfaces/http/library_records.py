"""The server's records of its libraries, in small JSON files: a list of them, and the reports of their last syncs.

The list has the libraries made on the web page, and the title, schedule and model of each library. It identifies
libraries by a hash of their address, since another start of the server may give another address the same name. Names of
removed libraries are never used again, because keys may be limited to them.
"""

from __future__ import annotations

import json
import re
import threading
import time
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from answerable.disk.files import is_full, make_folder, no_room, replace_file
from answerable.errors import SettingsError
from answerable.indexing.followed_sources import Origin
from answerable.indexing.ingest import AddReport
from answerable.interfaces.plain import added_json

# Characters; the same limit as for a label of a host name.
LONGEST_NAME = 63
_UNUSABLE = re.compile(r"[^a-z0-9]+")
# Names that would clash with paths of the API.
_RESERVED = frozenset({"libraries", "all"})
# Most failures to keep in a report: a folder may have 10,000 broken files. A round number.
_MOST_FAILURES = 200
_COUNTS = ("added", "changed", "moved", "removed", "unchanged", "kept")


@dataclass(frozen=True, slots=True)
class Choices:
    """A library's choices: title, seconds between syncs (0: never), model (empty: that of the settings)."""

    title: str = ""
    every: int = 0
    model: str = ""


@dataclass(slots=True)
class LibraryList:
    """Names of libraries `made` on the page and of those `removed`, and `choices` by the library's identity."""

    made: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    choices: dict[str, Choices] = field(default_factory=dict)

    def name_for(self, title: str, names: Collection[str]) -> str:
        """Return a new name for a title, which needs no escaping in URLs."""
        letters = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
        base = _UNUSABLE.sub("-", letters).strip("-")[: LONGEST_NAME - 6].rstrip("-") or "library"
        taken = {*names, *self.made, *self.removed, *_RESERVED}
        numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
        return next(each for each in (base, *numbered) if each not in taken)


class ListFile:
    """The file of the list. Raise SettingsError if it can't be read or written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> LibraryList:
        """Return the list."""
        found: dict[str, Any] = _read_json(self._path)
        try:
            chosen = {identity: Choices(**each) for identity, each in found.get("choices", {}).items()}
            return LibraryList(list(found.get("made", [])), list(found.get("removed", [])), chosen)
        except (TypeError, ValueError, AttributeError) as error:
            raise SettingsError(f"{self._path} isn't a list of libraries ({error}). Move it away.") from error

    @contextmanager
    def changing(self) -> Iterator[LibraryList]:
        """Yield the list, and write it at the end of the block; other processes wait."""
        make_folder(self._path.parent)
        with FileLock(f"{self._path}.lock", mode=0o600):
            found = self.read()
            yield found
            _write_json(self._path, {"format": 1, **asdict(found)})


class SyncReports:
    """The sync reports of libraries, a file for each library, by its identity. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def read(self, identity: str) -> dict[str, Any]:
        """Return `tried`, the time of the last sync of everything, and the reports in `sources` by origin."""
        return {"tried": 0.0, "sources": {}, **_read_json(self._path(identity))}

    def begin(self, identity: str) -> None:
        """Record that a sync of everything starts now."""
        with self._lock:
            _write_json(self._path(identity), {**self.read(identity), "tried": time.time()})

    def record(self, identity: str, reports: dict[str, AddReport], followed: list[Origin]) -> None:
        """Keep these reports, and drop those of sources that aren't followed any more."""
        names = {origin.name for origin in followed}
        now = time.time()
        with self._lock:
            found = self.read(identity)
            merged = {**found["sources"], **{name: _as_json(each, now) for name, each in reports.items()}}
            found["sources"] = {name: each for name, each in merged.items() if name in names}
            _write_json(self._path(identity), found)

    def forget(self, identity: str) -> None:
        """Delete the reports of a library."""
        with self._lock:
            self._path(identity).unlink(missing_ok=True)

    def _path(self, identity: str) -> Path:
        return self._folder / f"{identity}.json"


def _as_json(report: AddReport, now: float) -> dict[str, Any]:
    plain = added_json(report, dry_run=False)
    failed = plain["failed"]
    counts = {name: plain[name] for name in _COUNTS}
    skipped = sum(report.skipped.values())
    return {"at": now, **counts, "skipped": skipped, "failed": failed[:_MOST_FAILURES], "failures": len(failed)}


def _read_json(path: Path) -> dict[str, Any]:
    """Return the object in a file, empty if there is no file. Raise SettingsError."""
    try:
        found = json.loads(path.read_bytes())
        if not isinstance(found, dict):
            raise ValueError(f"a {type(found).__name__}")
        return found
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path} can't be read ({error}). Correct it, or move it away.") from error


def _write_json(path: Path, value: dict[str, Any]) -> None:
    """Write an object to a private file, completely or not at all. Raise SettingsError and DiskFull."""
    try:
        make_folder(path.parent)
        replace_file(path, json.dumps(value, ensure_ascii=False, indent=1))
    except OSError as error:
        if is_full(error, path):
            raise no_room(path) from error
        raise SettingsError(f"{path} can't be written ({error}). Check the folder and its disk.") from error
