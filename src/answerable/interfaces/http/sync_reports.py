"""What the last visit of each followed source found, kept over restarts: counts, and what failed and why."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from answerable.indexing.followed_sources import Origin
from answerable.indexing.ingest import AddReport
from answerable.interfaces.http.server_files import read_json, write_json
from answerable.interfaces.plain import added_json

# A folder of ten thousand broken files needs no list of all of them.
_MOST_FAILURES = 200
_COUNTS = ("added", "changed", "moved", "removed", "unchanged", "kept")


class SyncReports:
    """The reports of libraries, in a file for each, by the identity of its address. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def read(self, identity: str) -> dict[str, Any]:
        """Return `tried`, the time of the last sync of everything, and the reports in `sources` by origin."""
        return {"tried": 0.0, "sources": {}, **read_json(self._path(identity))}

    def begin(self, identity: str) -> None:
        """Record that a sync of everything starts now."""
        with self._lock:
            write_json(self._path(identity), {**self.read(identity), "tried": time.time()})

    def record(self, identity: str, reports: dict[str, AddReport], followed: list[Origin]) -> None:
        """Keep these reports, and drop those of sources that aren't followed any more."""
        names = {origin.name for origin in followed}
        now = time.time()
        with self._lock:
            found = self.read(identity)
            merged = {**found["sources"], **{name: _as_json(each, now) for name, each in reports.items()}}
            found["sources"] = {name: each for name, each in merged.items() if name in names}
            write_json(self._path(identity), found)

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
