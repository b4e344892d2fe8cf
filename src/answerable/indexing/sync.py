"""What a library follows: folders, files and sites that were added, each visited again by `sync`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime

from answerable.errors import AnswerableError, NotFollowed, SettingsError, SourceError, SourceNotFound
from answerable.indexing.ingest import AddReport, Failure, Ingestion
from answerable.indexing.sync_run import SyncRun
from answerable.protocols import Reader, Store, SyncRecord


@dataclass(frozen=True, slots=True)
class Origin:
    """A folder, file or site that is followed: how it was asked for, what it holds, the last visit."""

    name: str
    options: Mapping[str, str]
    sources: int
    documents: int
    seen: datetime

    def is_called(self, name: str) -> bool:
        """Whether somebody means it by this name: its own, the address it was added by, or a path that leads to it."""
        path = os.path.abspath(os.path.expanduser(name)) if name and "\0" not in name else name
        return self.name in (name, path) or self.options.get("address") == name


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What became of each origin; one that couldn't be visited has nothing but the failure."""

    origins: dict[str, AddReport] = field(default_factory=dict)

    @property
    def total(self) -> AddReport:
        """All of them together."""
        total = AddReport()
        for report in self.origins.values():
            total.merge(report)
        return total


class Subscriptions:
    """Adds and visits what a library follows. `begin` makes a run of adding."""

    def __init__(self, store: Store, reader: Reader, begin: Callable[[], Ingestion], dry_run: bool = False) -> None:
        self._store = store
        self._reader = reader
        self._begin = begin
        self._dry_run = dry_run

    def add(self, source: str) -> AddReport:
        """Visits a source, which is followed from now on. Raises SourceError when there is nothing to read at all."""
        run = self._begin()
        with closing(self._reader.visit(source)) as visit:
            known = self._store.records(visit.origin) if visit.origin else []
            following = SyncRun(self._store, known, self._dry_run)
            following.visit(visit, run, self._reader.options(source))
        following.tidy()
        return run.report

    def sync(self, names: Sequence[str] = (), checksum: bool = False) -> SyncReport:
        """Visits the origins of these names, or all. What fails with one doesn't keep the others from being visited.

        Raises NotFollowed.
        """
        records = self._store.records()
        origins = _named(records, names)
        following, report = SyncRun(self._store, _held_by(records, origins), self._dry_run), SyncReport()
        for origin in origins:
            run = self._begin()
            report.origins[origin.name] = run.report
            try:
                with closing(self._reader.visit(origin.name, origin.options, checksum)) as visit:
                    following.visit(visit, run, origin.options)
            except (SourceError, SettingsError) as error:
                run.report.failures.append(Failure(origin.name, _advised(error, origin.name)))
        following.tidy()
        return report

    def unfollow(self, name: str) -> AddReport:
        """Follows the origins of this name no longer, and removes what no other one holds. Raises NotFollowed."""
        records = self._store.records()
        origins = _named(records, [name])
        following, report = SyncRun(self._store, _held_by(records, origins), self._dry_run), AddReport()
        for origin in origins:
            following.unfollow(origin.name, report)
        following.tidy()
        if not self._dry_run:
            self._store.forget("", [origin.name for origin in origins])
        return report

    def origins(self) -> list[Origin]:
        """All that is followed, by name."""
        return _named(self._store.records(), ())


def _named(records: Sequence[SyncRecord], names: Sequence[str]) -> list[Origin]:
    """The origins that these names mean, all where there is none. Raises NotFollowed."""
    origins = _origins(records)
    for name in names:
        if not any(origin.is_called(name) for origin in origins):
            raise NotFollowed(
                f"The library follows nothing called {name!r}. `answerable sources` shows what it follows."
            )
    return [origin for origin in origins if not names or any(map(origin.is_called, names))]


def _held_by(records: Sequence[SyncRecord], origins: Sequence[Origin]) -> list[SyncRecord]:
    names = {origin.name for origin in origins}
    return [record for record in records if record.origin in names]


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


def _advised(error: SourceError | SettingsError, origin: str) -> AnswerableError:
    """What couldn't be visited; of a path that leads nowhere, what to do when it has moved or isn't mounted."""
    if type(error) is not SourceNotFound:
        return error
    return SourceNotFound(
        f"there is nothing at {origin} any more; what was read there is kept. Bring it back (is the disk there?), or "
        f"add it where it is now, then give this up with `answerable remove {shlex.quote(origin)}`"
    )
