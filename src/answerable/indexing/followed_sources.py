"""The sources that a library follows: add one, sync them, unfollow one, list them.

`answerable add` visits one source and follows it from then on; `answerable sync` visits followed sources again.
`sync.py` decides which documents a visit adds, replaces or removes. A followed source is called an origin: its name,
and its options as they were when it was added, are kept as a sync record of the store.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime

from answerable.disk.names import expanded
from answerable.errors import AnswerableError, NotFollowed, SettingsError, SourceError, SourceNotFound
from answerable.indexing.ingest import Ingestion
from answerable.indexing.reports import AddReport, Failure
from answerable.indexing.sync import SyncRun
from answerable.protocols import Reader, Store, SyncRecord


@dataclass(frozen=True, slots=True)
class Origin:
    """A followed folder, file or site: its options, the number of its sources and documents, its last visit."""

    name: str
    options: Mapping[str, str]
    sources: int
    documents: int
    seen: datetime

    def is_called(self, name: str) -> bool:
        """Whether `name` means this origin: its own name, the address it was added by, or a path that leads to it."""
        path = os.path.abspath(expanded(name)) if name else name
        return self.name in (name, path) or self.options.get("address") == name


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The reports of a sync, one per origin. The report of an origin that couldn't be visited has only the failure."""

    origins: dict[str, AddReport] = field(default_factory=dict)

    @property
    def total(self) -> AddReport:
        """The sum of all reports."""
        total = AddReport()
        for report in self.origins.values():
            total.merge(report)
        return total


class FollowedSources:
    """The sources that a library follows. `begin` starts an ingestion."""

    def __init__(self, store: Store, reader: Reader, begin: Callable[[], Ingestion], dry_run: bool = False) -> None:
        self._store = store
        self._reader = reader
        self._begin = begin
        self._dry_run = dry_run

    def add(self, source: str) -> AddReport:
        """Add a source and follow it. Raise SourceError when there is nothing to read at all."""
        ingestion = self._begin()
        with closing(self._reader.visit(source)) as visit:
            run = SyncRun(self._store, self._store.records(visit.origin) if visit.origin else [], self._dry_run)
            run.visit(visit, ingestion, self._reader.options(source))
        run.tidy()
        return ingestion.report

    def sync(self, names: Sequence[str] = (), checksum: bool = False) -> SyncReport:
        """Visit the origins with these names, or all. An origin that fails is reported; the others are visited.

        Raise NotFollowed.
        """
        run, origins = self._start_run(names)
        report = SyncReport()
        for origin in origins:
            ingestion = self._begin()
            report.origins[origin.name] = ingestion.report
            try:
                with closing(self._reader.visit(origin.name, origin.options, checksum)) as visit:
                    run.visit(visit, ingestion, origin.options)
            except (SourceError, SettingsError) as error:
                ingestion.report.failures.append(Failure(origin.name, _with_advice(error, origin.name)))
        run.tidy()
        return report

    def unfollow(self, name: str) -> AddReport:
        """Stop following an origin and remove its documents that no other origin has. Raise NotFollowed."""
        run, origins = self._start_run([name])
        report = AddReport()
        for origin in origins:
            run.unfollow(origin.name, report)
        run.tidy()
        if not self._dry_run:
            self._store.forget("", [origin.name for origin in origins])
        return report

    def origins(self) -> list[Origin]:
        """Return all origins by name."""
        return _origins(self._store.records())

    def _start_run(self, names: Sequence[str]) -> tuple[SyncRun, list[Origin]]:
        """Return a run over the origins with these names, or over all, and the origins."""
        records = self._store.records()
        origins = _origins(records)
        for name in names:
            if not any(origin.is_called(name) for origin in origins):
                raise NotFollowed(f"The library doesn't follow {name!r}. `answerable sources` lists what it follows.")
        chosen = [origin for origin in origins if not names or any(map(origin.is_called, names))]
        chosen_names = {origin.name for origin in chosen}
        run = SyncRun(self._store, [record for record in records if record.origin in chosen_names], self._dry_run)
        return run, chosen


def _origins(records: Sequence[SyncRecord]) -> list[Origin]:
    own = {record.source: record for record in records if not record.origin}
    held: dict[str, list[SyncRecord]] = {name: [] for name in own}
    for record in records:
        if record.origin:
            held.setdefault(record.origin, []).append(record)
    return [
        Origin(
            name,
            own[name].validators if name in own else {},
            len(held[name]),
            sum(len(record.documents) for record in held[name]),
            own[name].seen if name in own else max(record.seen for record in held[name]),
        )
        for name in sorted(held)
    ]


def _with_advice(error: SourceError | SettingsError, origin: str) -> AnswerableError:
    """Return the error; for a missing path, with advice on what to do if it was moved or isn't mounted."""
    if type(error) is not SourceNotFound:
        return error
    return SourceNotFound(
        f"there is nothing at {origin} any more; its documents are kept. Bring it back (is the disk mounted?), or "
        f"add its new location, then drop this one with `answerable remove {shlex.quote(origin)}`"
    )
