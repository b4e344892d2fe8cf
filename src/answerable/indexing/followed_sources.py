"""The sources that a library follows: add one, sync them, unfollow one, list them.

`answerable add` visits one source and follows it from then on; `answerable sync` visits followed sources again. A
followed source is called an origin: its name, and its options as they were when it was added, are kept as a sync record
of the store.

`SyncRun` compares the files or pages that a visit finds with the sync records, adds new and changed ones, and removes
documents whose source is gone. A sync record and the documents it names are written in one transaction, so no document
lacks its record. If documents of a record are missing, its source is read again. A record keeps a document's id until
that document is removed. If a visit is interrupted, the next visit does the rest.
"""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from answerable.datatypes import Document, document_id
from answerable.disk.files import expanded
from answerable.errors import AnswerableError, NotFollowed, SettingsError, SourceError, SourceNotFound
from answerable.indexing.reports import AddReport, Failure
from answerable.protocols import Reader, Store, StoredDocument, SyncRecord, Visit, Visited

if TYPE_CHECKING:
    from answerable.indexing.ingest import Ingestion

# Most documents to look up one by one; for more, all documents are listed.
_MAX_LOOKUPS = 50
# Most documents in the library per visited source for which all records are read to find moved documents.
_MAX_DOCUMENTS_PER_SOURCE = 20_000


@dataclass(slots=True)
class _Outcome:
    """The result of one visit, and the work left for `SyncRun.tidy`.

    `obsolete` maps a source to the ids of documents that it no longer produces. `settled` are records to write once the
    obsolete documents are removed. `made` are the sources of the documents that were read, `changed` the sources of
    documents that replaced another version.
    """

    origin: str
    report: AddReport
    known: Mapping[str, SyncRecord]
    seen: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    gone: list[str] = field(default_factory=list)
    obsolete: dict[str, set[str]] = field(default_factory=dict)
    settled: list[SyncRecord] = field(default_factory=list)


class SyncRun:
    """Visits followed origins; `records` are their sync records.

    A file gone from one origin may have moved to another, so nothing is removed before `tidy`.
    """

    def __init__(self, store: Store, records: Iterable[SyncRecord], dry_run: bool = False) -> None:
        self._store = store
        self._dry_run = dry_run
        self._records: dict[str, list[SyncRecord]] = defaultdict(list)
        self._by_hash: dict[str, SyncRecord] = {}
        for record in records:
            self._records[record.origin].append(record)
            if record.hash:
                self._by_hash[record.hash] = record
        self._knows_all_hashes = False
        self._outcomes: list[_Outcome] = []
        self._copies: dict[str, list[AddReport]] = defaultdict(list)

    def visit(self, visit: Visit, ingestion: Ingestion, options: Mapping[str, str]) -> None:
        """Add new and changed files or pages of an origin, and follow it with these options.

        Fill the ingestion's report. Raise SourceError if there is nothing to read at all.
        """
        outcome = _Outcome(visit.origin, ingestion.report, self._valid(self._records[visit.origin]))
        to_remember: list[SyncRecord] = []
        try:
            with ingestion.running(), closing(visit.items(outcome.known)) as items:
                for visited in items:
                    ingestion.sources_total = visit.total
                    if not visited.source:
                        ingestion.reading(len(outcome.seen), visit.origin)
                        continue
                    if not outcome.seen and visit.origin:
                        self._remember([SyncRecord("", visit.origin, datetime.now(timezone.utc), "", options)])
                    if visited.source not in outcome.seen:
                        ingestion.reading(len(outcome.seen), visited.source)
                        outcome.seen.add(visited.source)
                    elif visited.is_being_read:
                        ingestion.reading(len(outcome.seen) - 1, visited.source)
                    to_remember += self._take(ingestion, outcome, visited)
        finally:
            self._remember(to_remember)
        outcome.gone = visit.gone()
        outcome.obsolete.update((source, set(outcome.known[source].documents)) for source in outcome.gone)
        report = ingestion.report
        report.skipped.update(visit.skipped)
        report.passed_over += visit.passed_over
        report.failures += (Failure(visit.origin, error) for error in visit.errors)
        report.kept = len(set(outcome.known).difference(outcome.seen, outcome.gone))
        self._outcomes.append(outcome)

    def unfollow(self, origin: str, report: AddReport) -> None:
        """Treat every source of an origin as gone."""
        known = {record.source: record for record in self._records[origin]}
        obsolete = {source: set(record.documents) for source, record in known.items()}
        self._outcomes.append(_Outcome(origin, report, known, gone=list(known), obsolete=obsolete))

    def tidy(self) -> None:
        """Remove obsolete documents and outdated versions; count a document that has moved as moved."""
        stored = self._stored({each for found in self._outcomes for ids in found.obsolete.values() for each in ids})
        duplicates = {found.origin: self._duplicates(found.changed) for found in self._outcomes}
        claims: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for record in self._store.records() if stored or any(duplicates.values()) else ():
            for each in record.documents:
                claims[each].add((record.origin, record.source))
        for outcome in self._outcomes:
            removed = [document.id for document in duplicates[outcome.origin] if not claims[document.id]]
            outcome.report.removed += len(removed)
            removed += self._unclaimed(outcome, stored, claims)
            if self._dry_run:
                continue
            if removed:
                self._store.remove(*removed)
            self._remember(outcome.settled)
            if outcome.gone:
                self._store.forget(outcome.origin, outcome.gone)

    def _unclaimed(
        self, outcome: _Outcome, stored: Mapping[str, StoredDocument], claims: Mapping[str, set[tuple[str, str]]]
    ) -> list[str]:
        """Return the ids of obsolete documents that no other record names, and count them as removed or moved."""
        unclaimed, gone = [], set(outcome.gone)
        for source, ids in outcome.obsolete.items():
            for document in (stored[each] for each in sorted(ids) if each in stored):
                claims[document.id].discard((outcome.origin, source))
                # Other origins' records of a source count only if it is gone: otherwise this visit read it last.
                others = [claim for claim in claims[document.id] if source in gone or claim[1] != source]
                if not others and document.source not in outcome.made:
                    self._count_removed(outcome, source)
                    unclaimed.append(document.id)
        return unclaimed

    def _take(self, ingestion: Ingestion, outcome: _Outcome, visited: Visited) -> list[SyncRecord]:
        """Add the documents of a source. Return its sync record in a list, empty if it is written already."""
        if visited.error is not None:
            ingestion.report.failures.append(Failure(visited.source, visited.error))
        record, known = visited.record, outcome.known.get(visited.source)
        if record is None:
            for document in visited.documents:
                ingestion.take(document)
            return []
        if visited.is_unchanged:
            ingestion.report.unchanged += len(record.documents)
        if record == known:
            return []
        obsolete = self._obsolete(known, visited.documents, record)
        is_carried = len(visited.documents) == 1 and not obsolete
        # Without a hash, the source is read again if this run ends before all documents are written or removed.
        documents = (*record.documents, *sorted(obsolete))
        carried = record if is_carried else replace(record, hash="", validators={}, documents=documents)
        is_written = False
        for document in visited.documents:
            # Write the record only once: for a mailbox with 10,000 messages, it names 10,000 documents.
            result = self._add(ingestion, outcome, visited, document, None if is_written else carried)
            is_written = is_written or result in ("added", "changed")
        if obsolete:
            outcome.obsolete[visited.source] = obsolete
            outcome.settled.append(record)
        return [] if obsolete or (is_carried and is_written) else [record]

    def _add(
        self, ingestion: Ingestion, outcome: _Outcome, visited: Visited, document: Document, carried: SyncRecord | None
    ) -> str:
        previous_copies: list[str] = []
        if visited.source not in outcome.known:
            previous_copies = self._previous_copies(ingestion.sources_total, visited, document)
        result = ingestion.take(document, carried, previous_copies)
        outcome.made.add(document.source)
        if result == "changed":
            outcome.changed.add(document.source)
        if result == "added" and previous_copies and visited.record:
            self._copies[visited.record.hash].append(ingestion.report)
        return result

    def _previous_copies(self, sources: int, visited: Visited, document: Document) -> list[str]:
        """Return the id of a copy of this document, or []: a copy's source has the same hash in a sync record."""
        file_hash = visited.record.hash if visited.record else ""
        if file_hash not in self._by_hash and not self._knows_all_hashes:
            self._knows_all_hashes = True
            if self._store.count()[0] <= _MAX_DOCUMENTS_PER_SOURCE * sources:
                self._by_hash |= {each.hash: each for each in self._store.records() if each.hash}
        copy = self._by_hash.get(file_hash) if file_hash else None
        if copy is None:
            return []
        return [document_id(copy.source + document.source.removeprefix(visited.source), document.content)]

    def _obsolete(self, known: SyncRecord | None, made: Iterable[Document], record: SyncRecord) -> set[str]:
        """Return the ids of documents that a source no longer produces, except those that a new document replaces."""
        earlier = self._stored(set(known.documents).difference(record.documents) if known else ())
        sources = {document.source for document in made}
        return {stored.id for stored in earlier.values() if stored.source not in sources}

    def _valid(self, records: Collection[SyncRecord]) -> Mapping[str, SyncRecord]:
        """Return records by source. Clear the hash of records with missing documents, to read their sources again."""
        stored = self._stored({each for record in records for each in record.documents})
        return {
            record.source: record
            if all(each in stored for each in record.documents)
            else replace(record, hash="", validators={}, documents=tuple(filter(stored.__contains__, record.documents)))
            for record in records
        }

    def _stored(self, ids: Collection[str]) -> dict[str, StoredDocument]:
        """Return the library's documents with these ids, by id."""
        if len(ids) > _MAX_LOOKUPS:
            return {stored.id: stored for stored in self._store.documents() if stored.id in ids}
        return {stored.id: stored for each in ids for stored in self._store.lookup(each, "")}

    def _duplicates(self, sources: Iterable[str]) -> list[StoredDocument]:
        """Return the documents of sources with several documents: another process may have added another version."""
        found = (self._store.lookup("", source) for source in sources)
        return [stored for same in found if len(same) > 1 for stored in same]

    def _count_removed(self, outcome: _Outcome, source: str) -> None:
        """Count a document as removed, or as moved if a copy of its source was added elsewhere."""
        known = outcome.known.get(source)
        if known and (copies := self._copies.get(known.hash)):
            report = copies.pop()
            report.added -= 1
            report.moved += 1
        else:
            outcome.report.removed += 1

    def _remember(self, records: list[SyncRecord]) -> None:
        if records and not self._dry_run:
            self._store.remember(records)


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

    def add(self, source: str, with_vectors: bool = True) -> AddReport:
        """Add a source and follow it; with `with_vectors`, make its vectors. Raise SourceError if nothing is there."""
        ingestion = self._begin()
        with closing(self._reader.visit(source)) as visit:
            run = SyncRun(self._store, self._store.records(visit.origin) if visit.origin else [], self._dry_run)
            run.visit(visit, ingestion, self._reader.options(source))
        run.tidy()
        if with_vectors:
            ingestion.fill()
        return ingestion.report

    def sync(self, names: Sequence[str] = (), checksum: bool = False) -> SyncReport:
        """Visit the origins with these names, or all. An origin that fails is reported; the others are visited.

        Raise NotFollowed.
        """
        run, origins = self._start_run(names)
        report, ingestion = SyncReport(), self._begin()
        for origin in origins:
            ingestion = self._begin()
            report.origins[origin.name] = ingestion.report
            try:
                with closing(self._reader.visit(origin.name, origin.options, checksum)) as visit:
                    run.visit(visit, ingestion, origin.options)
            except (SourceError, SettingsError) as error:
                ingestion.report.failures.append(Failure(origin.name, _with_advice(error, origin.name)))
        run.tidy()
        # Also the vectors that an earlier, interrupted run didn't make.
        ingestion.fill()
        return report

    def unfollow(self, name: str) -> AddReport:
        """Stop following an origin, and remove its documents unless another origin has them. Raise NotFollowed."""
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
