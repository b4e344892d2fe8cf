"""Visits to places that change → the library: what is new or changed is added, what is gone is removed.

What a library remembers of a thing becomes visible with the document that was made of it, so that no document is there
without its record; a record whose documents aren't there is as good as none. A record names a document until that is
removed. Whatever ends a visit early, the next one does the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from answerable.datatypes import Document, document_id
from answerable.indexing.ingest import AddReport, Failure, Ingestion
from answerable.protocols import Store, StoredDocument, SyncRecord, Visit, Visited

# Up to so many documents are looked up one by one rather than all listed.
_FEW = 50
# So many documents a library may hold for each thing to add, and all it remembers is read to find what may have moved.
_WORTH_READING = 20_000


@dataclass(slots=True)
class _Place:
    """What one visit found, and what is left to do about it when all visits have ended.

    By the source that they are made of, `obsolete` are ids of documents that aren't made of it any more; `settled` are
    records to write when those are removed. `made` and `changed` are sources of documents.
    """

    origin: str
    report: AddReport
    known: Mapping[str, SyncRecord]
    met: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    gone: list[str] = field(default_factory=list)
    obsolete: dict[str, set[str]] = field(default_factory=dict)
    settled: list[SyncRecord] = field(default_factory=list)


class SyncRun:
    """Visits of one moment to places that a library follows, or will.

    `records` are what is known of them. What is gone from one may have moved to another, so nothing is removed before
    `tidy`.
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
        self._has_looked_elsewhere = False
        self._places: list[_Place] = []
        self._copies: dict[str, list[AddReport]] = defaultdict(list)

    def visit(self, visit: Visit, run: Ingestion, options: Mapping[str, str]) -> None:
        """Adds what is new or changed at the place, which is followed from now on with these options.

        The report is the run's. Raises SourceError when there is nothing to read at all.
        """
        place = _Place(visit.origin, run.report, self._proven(self._records[visit.origin]))
        remembered: list[SyncRecord] = []
        try:
            with run.running(), closing(visit.items(place.known)) as items:
                for visited in items:
                    run.sources_total = visit.total
                    if not visited.source:
                        run.reading(len(place.met), visit.origin)
                        continue
                    if not place.met and visit.origin:
                        self._remember([SyncRecord("", visit.origin, datetime.now(timezone.utc), "", options)])
                    if visited.source not in place.met:
                        run.reading(len(place.met), visited.source)
                        place.met.add(visited.source)
                    elif visited.is_being_read:
                        run.reading(len(place.met) - 1, visited.source)
                    remembered += self._take(run, place, visited)
        finally:
            self._remember(remembered)
        place.gone = visit.gone()
        place.obsolete.update((source, set(place.known[source].documents)) for source in place.gone)
        run.report.skipped.update(visit.skipped)
        run.report.passed_over += visit.passed_over
        run.report.failures += (Failure(visit.origin, error) for error in visit.errors)
        run.report.kept = len(set(place.known).difference(place.met, place.gone))
        self._places.append(place)

    def unfollow(self, origin: str, report: AddReport) -> None:
        """Takes all that is remembered of a place for gone."""
        known = {record.source: record for record in self._records[origin]}
        obsolete = {source: set(record.documents) for source, record in known.items()}
        self._places.append(_Place(origin, report, known, gone=list(known), obsolete=obsolete))

    def tidy(self) -> None:
        """Removes what is gone, and what isn't made any more of what is there; what has moved is counted as that."""
        there = self._there({each for place in self._places for ids in place.obsolete.values() for each in ids})
        duplicates = {place.origin: self._duplicates(place.changed) for place in self._places}
        claims: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for record in self._store.records() if there or any(duplicates.values()) else ():
            for each in record.documents:
                claims[each].add((record.origin, record.source))
        for place in self._places:
            removed = [stored.id for stored in duplicates[place.origin] if not claims[stored.id]]
            place.report.removed += len(removed)
            removed += self._unclaimed(place, there, claims)
            if self._dry_run:
                continue
            if removed:
                self._store.remove(*removed)
            self._remember(place.settled)
            if place.gone:
                self._store.forget(place.origin, place.gone)

    def _unclaimed(
        self, place: _Place, there: Mapping[str, StoredDocument], claims: Mapping[str, set[tuple[str, str]]]
    ) -> list[str]:
        """What is obsolete in a place and named by no other record; it is counted, and its own claim dropped."""
        unclaimed, gone = [], set(place.gone)
        for source, ids in place.obsolete.items():
            for stored in (there[each] for each in sorted(ids) if each in there):
                claims[stored.id].discard((place.origin, source))
                # Of what is there still, this reading is the latest; what is gone may be there for another place.
                others = [claim for claim in claims[stored.id] if source in gone or claim[1] != source]
                if not others and stored.source not in place.made:
                    self._count(place, source)
                    unclaimed.append(stored.id)
        return unclaimed

    def _take(self, run: Ingestion, place: _Place, visited: Visited) -> list[SyncRecord]:
        """Adds what there is to add; the record, if it is to be written and no document carries it."""
        if visited.error is not None:
            run.report.failures.append(Failure(visited.source, visited.error))
        record, known = visited.record, place.known.get(visited.source)
        if record is None:
            for document in visited.documents:
                run.take(document)
            return []
        if visited.is_unchanged:
            run.report.unchanged += len(record.documents)
        if record == known:
            return []
        leaving = self._leaving(known, visited.documents, record)
        is_carried = len(visited.documents) == 1 and not leaving
        carried = record if is_carried else _unsettled(record, leaving)
        outcomes = [self._add(run, place, visited.source, document, record, carried) for document in visited.documents]
        if leaving:
            place.obsolete[visited.source] = leaving
            place.settled.append(record)
        return [] if leaving or (is_carried and outcomes[0] in ("added", "changed")) else [record]

    def _add(
        self, run: Ingestion, place: _Place, source: str, document: Document, record: SyncRecord, carried: SyncRecord
    ) -> str:
        previous_copies = (
            self._previous_copies(run.sources_total, source, document, record) if source not in place.known else []
        )
        outcome = run.take(document, carried, previous_copies)
        place.made.add(document.source)
        if outcome == "changed":
            place.changed.add(document.source)
        if outcome == "added" and previous_copies:
            self._copies[record.hash].append(run.report)
        return outcome

    def _previous_copies(self, things: int, source: str, document: Document, record: SyncRecord) -> list[str]:
        """The id that a document had elsewhere, if what it is made of was known there by its hash."""
        if record.hash not in self._by_hash and not self._has_looked_elsewhere:
            self._has_looked_elsewhere = True
            if self._store.count()[0] <= _WORTH_READING * things:
                self._by_hash |= {each.hash: each for each in self._store.records() if each.hash}
        twin = self._by_hash.get(record.hash) if record.hash else None
        if twin is None:
            return []
        return [document_id(twin.source + document.source.removeprefix(source), document.content)]

    def _leaving(self, known: SyncRecord | None, made: Iterable[Document], record: SyncRecord) -> set[str]:
        """The documents that a thing no longer holds, less those whose place a new one takes."""
        earlier = self._there(set(known.documents).difference(record.documents) if known else ())
        sources = {document.source for document in made}
        return {stored.id for stored in earlier.values() if stored.source not in sources}

    def _proven(self, records: Collection[SyncRecord]) -> Mapping[str, SyncRecord]:
        """Records by source; nothing is taken for unchanged whose documents aren't all there."""
        there = self._there({each for record in records for each in record.documents})
        return {
            record.source: record
            if all(each in there for each in record.documents)
            else replace(record, hash="", validators={}, documents=tuple(filter(there.__contains__, record.documents)))
            for record in records
        }

    def _there(self, ids: Collection[str]) -> dict[str, StoredDocument]:
        """Those of the documents that the library holds, by id."""
        if len(ids) > _FEW:
            return {stored.id: stored for stored in self._store.documents() if stored.id in ids}
        return {stored.id: stored for each in ids for stored in self._store.lookup(each, "")}

    def _duplicates(self, sources: Iterable[str]) -> list[StoredDocument]:
        """Documents that share a source: another process may have read a different version at the same time."""
        found = (self._store.lookup("", source) for source in sources)
        return [stored for same in found if len(same) > 1 for stored in same]

    def _count(self, place: _Place, source: str) -> None:
        """Counts a document of a source as removed, or, where it has moved to, as moved."""
        known = place.known.get(source)
        if known and (copies := self._copies.get(known.hash)):
            report = copies.pop()
            report.added -= 1
            report.moved += 1
        else:
            place.report.removed += 1

    def _remember(self, records: list[SyncRecord]) -> None:
        if records and not self._dry_run:
            self._store.remember(records)


def _unsettled(record: SyncRecord, leaving: Collection[str]) -> SyncRecord:
    """The record while some of its documents aren't there yet, or others are still to be removed: it proves nothing."""
    return replace(record, hash="", validators={}, documents=(*record.documents, *sorted(leaving)))
