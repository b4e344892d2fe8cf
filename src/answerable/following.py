"""A visit to a place that changes → the library: what is new or changed is added, what is gone is removed.

What a library remembers of a thing becomes visible with the document that was made of it, so that no document is there
without its record; a record whose documents aren't there is as good as none. Whatever ends a visit early, the next one
does the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import replace

from answerable.ingestion import AddReport, Failure, Ingestion
from answerable.protocols import Store, SyncRecord, Visit, Visited


def follow(visit: Visit, store: Store, run: Ingestion, dry_run: bool = False) -> AddReport:
    """Brings the library up to what is at the place now. Raises SourceError when there is nothing to read at all.

    Something is removed only when the visit saw all there is.
    """
    known = _known(store, visit.origin)
    met = _Met()
    remembered: list[SyncRecord] = []
    with run.running():
        try:
            with closing(visit.items(known)) as items:
                for number, visited in enumerate(items):
                    run.sources_total = visit.total
                    run.reading(number, visited.source)
                    met.add(visited)
                    remembered += _take(run, visited)
        finally:
            if not dry_run:
                store.remember(remembered)
    gone = visit.gone()
    run.report.skipped.update(visit.skipped)
    run.report.failures += (Failure(visit.origin, error) for error in visit.errors)
    run.report.kept = len(set(known).difference(met.sources, gone))
    for document_id in _obsolete(store, known, met, gone):
        run.report.removed += dry_run or store.remove(document_id)
    if not dry_run:
        store.forget(visit.origin, gone)
    return run.report


class _Met:
    """What was seen on a visit: its sources, the ids of the documents of those without an error, their sources."""

    def __init__(self) -> None:
        self.sources: set[str] = set()
        self.documents: dict[str, tuple[str, ...]] = {}
        self.replaced: set[str] = set()

    def add(self, visited: Visited) -> None:
        self.sources.add(visited.source)
        self.replaced.update(document.source for document in visited.documents)
        if visited.record is not None:
            self.documents[visited.source] = visited.record.documents


def _known(store: Store, origin: str) -> Mapping[str, SyncRecord]:
    """The records of earlier visits; nothing is taken for unchanged whose documents aren't all there."""
    there = {stored.id for stored in store.documents()}
    return {
        record.source: record
        if there.issuperset(record.documents)
        else replace(record, hash="", validators={}, documents=tuple(there.intersection(record.documents)))
        for record in store.records(origin)
    }


def _take(run: Ingestion, visited: Visited) -> list[SyncRecord]:
    """Adds what there is to add; the records that no document carries."""
    if visited.error is not None:
        run.report.failures.append(Failure(visited.source, visited.error))
    if visited.record is None:
        return []
    if visited.is_unchanged:
        run.report.unchanged += len(visited.record.documents)
    if len(visited.documents) == 1:
        return [] if run.take(visited.documents[0], visited.record) else [visited.record]
    for document in visited.documents:
        # Until all of them are there, the record says nothing but that they are to be followed.
        run.take(document, replace(visited.record, hash="", validators={}))
    return [visited.record]


def _obsolete(store: Store, known: Mapping[str, SyncRecord], met: _Met, gone: Collection[str]) -> list[str]:
    """The documents that were made of what is gone, or that aren't made any more of what is there."""
    earlier = {
        document_id
        for source, now in {**met.documents, **dict.fromkeys(gone, ())}.items()
        if source in known
        for document_id in set(known[source].documents).difference(now)
    }
    stored = [found for document_id in sorted(earlier) for found in store.lookup(document_id, "")]
    return [found.id for found in stored if found.source not in met.replaced]
