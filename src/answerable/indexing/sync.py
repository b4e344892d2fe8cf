"""One sync: compare what each visit finds with the sync records; add what is new or changed, remove what is gone.

A sync record and the documents it names are written in one transaction, so there is no document without its record. If
the documents of a record are missing, its source is read again. A record keeps a document's id until that document is
removed. If a visit is interrupted, the next one does the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from answerable.datatypes import Document, document_id
from answerable.errors import UnreadPages
from answerable.indexing.ingest import Ingestion
from answerable.indexing.reports import AddReport, Failure
from answerable.protocols import Store, StoredDocument, SyncRecord, Visit, Visited

# Up to this number documents are looked up one by one; beyond, all are listed.
_MAX_LOOKUPS = 50
# All records are read to find moved documents only if the library has at most this many documents per visited source.
_MAX_DOCUMENTS_PER_SOURCE = 20_000


@dataclass(slots=True)
class _Outcome:
    """The result of one visit, and the work left for `SyncRun.tidy`.

    `obsolete`: source → ids of documents it no longer produces. `settled`: records to write once the obsolete documents
    are removed. `made`: sources of the documents read. `changed`: sources of the documents that replaced another
    version.
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
        """Add what is new or changed at an origin, and follow it with these options.

        Fill the ingestion's report. Raise SourceError when there is nothing to read at all.
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
                # Other origins' records of a source count only if it is gone here: else this visit read it last.
                others = [claim for claim in claims[document.id] if source in gone or claim[1] != source]
                if not others and document.source not in outcome.made:
                    self._count_removed(outcome, source)
                    unclaimed.append(document.id)
        return unclaimed

    def _take(self, ingestion: Ingestion, outcome: _Outcome, visited: Visited) -> list[SyncRecord]:
        """Add the documents of a source. Return its sync record in a list, empty if it is written already."""
        if visited.error is not None:
            report, is_warning = ingestion.report, isinstance(visited.error, UnreadPages)
            (report.warnings if is_warning else report.failures).append(Failure(visited.source, visited.error))
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
        # Without a hash the source is read again, in case this run ends before all documents are written or removed.
        documents = (*record.documents, *sorted(obsolete))
        carried = record if is_carried else replace(record, hash="", validators={}, documents=documents)
        is_written = False
        for document in visited.documents:
            # Once: of a mailbox with ten thousand messages the record names as many documents.
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
        """Return the id of a copy of this document: one whose source has the same hash in a sync record (0 or 1)."""
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
        """Return the ids of documents that a source no longer produces, except those that a new one replaces."""
        earlier = self._stored(set(known.documents).difference(record.documents) if known else ())
        sources = {document.source for document in made}
        return {stored.id for stored in earlier.values() if stored.source not in sources}

    def _valid(self, records: Collection[SyncRecord]) -> Mapping[str, SyncRecord]:
        """Return records by source. Clear the hash of those with missing documents: their sources are read again."""
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
        """Return the documents of sources that have several: another process may have added a version."""
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
