"""Compares a library, document by document, with its sources and itself, and repairs differences on request."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.indexing.followed_sources import FollowedSources, SyncRun
from answerable.indexing.ingest import Ingestion
from answerable.indexing.prepare import BATCH, Pipeline, prepare
from answerable.indexing.reports import waiting_note
from answerable.left_out import LeftOut
from answerable.maintenance.copy import whole_document
from answerable.maintenance.erasing import erase, erasing_note, unerased
from answerable.maintenance.verification.documents import VectorCheck, document_findings
from answerable.maintenance.verification.findings import (
    UNREADABLE,
    Finding,
    Repair,
    SourceCheck,
    UnfollowedCheck,
    VerifyReport,
    name_of,
    read_again,
)
from answerable.protocols import Difference, Issue, PassageVectors, Store, StoredDocument, SyncRecord, Visit, Visited
from answerable.stores.audit import INDEX, SearchAudit

# Passages to embed again, a few seconds of work: if half of the vectors are wrong, the chance to miss this is .000001.
SAMPLE = 20


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """How much to compare, and whether to repair.

    `checksum` reads all files, even if size and time are unchanged or they aren't followed; `online` visits sites.
    At most `embed` passages are embedded again; None means `SAMPLE` if embedding is free, otherwise 0.
    """

    repair: bool = False
    checksum: bool = False
    online: bool = False
    embed: int | None = None


def verify(store: Store, tools: Pipeline, begin: Callable[[], Ingestion], options: VerifyOptions) -> VerifyReport:
    """Return the differences between a library, its sources and its index; with the option `repair`, repair them.

    `begin` starts an ingestion. Changes by other processes meanwhile may be reported as differences. Raise
    LibraryReadOnly if a repair can't be written.
    """
    started = time.monotonic()
    report = _Comparison(store, tools, begin, options).run()
    if options.repair and any(finding.kind is Difference.VECTORS for finding in report.findings):
        # If vectors in the sample are wrong, others may be, too.
        options = replace(options, embed=report.chunks)
        report = _Comparison(store, tools, begin, options).run()
    found: list[Finding] = []
    while options.repair and (repairable := [each for each in report.findings if each.repair is not Repair.NOTHING]):
        if found and all(each in found for each in repairable):
            # The same differences remain after their repair: they can't be repaired.
            break
        Repairing(store, tools, begin).run(repairable)
        found += (each for each in repairable if each not in found)
        # Compare again: unreadable rows may have hidden other differences.
        report = _Comparison(store, tools, begin, options).run()
    if options.repair:
        erase(store)
        report.unerased = unerased(store).passages
    if report.unerased:
        report.notes.append(erasing_note(report.unerased))
    left = {(finding.kind, finding.name) for finding in report.findings}
    report.repaired = [finding for finding in found if (finding.kind, finding.name) not in left]
    report.seconds = time.monotonic() - started
    return report


def _partly_read(listed: Sequence[StoredDocument]) -> Iterator[str]:
    """Yield a note on the documents that were read in part, which is no fault of the library."""
    partly = [document.left_out for document in listed if document.left_out]
    if partly:
        sums = LeftOut.counted((each.kind, each.count) for found in partly for each in found)
        yield f"{len(partly):,} read in part, left out: {', '.join(map(str, sums))}. `answerable show` says it of each."


class _Comparison:
    """One full comparison of a library with its sources, its index and its vectors."""

    def __init__(self, store: Store, tools: Pipeline, begin: Callable[[], Ingestion], options: VerifyOptions) -> None:
        self._store = store
        self._tools = tools
        self._options = options
        self._followed = FollowedSources(store, tools.reader, begin, dry_run=True)
        self._dimension = tools.embedder.fingerprint.dimension
        self._searches = SearchAudit(store)
        self._report = VerifyReport()

    def run(self) -> VerifyReport:
        """Compare everything in turn: the store, its sources, each document, and some vectors."""
        report = self._report
        try:
            report.findings += map(_mendable, self._store.audit())
            report.unerased = unerased(self._store).passages
            listed = list(self._store.documents())
            origins = self._followed.origins()
        except UNREADABLE as error:
            if not report.findings:
                report.findings.append(Finding(Difference.DAMAGED, "the library", str(error)))
            report.notes.append("Documents and sources couldn't be compared.")
            return report
        there = {stored.id for stored in listed}
        sources = SourceCheck(self._store, self._tools.reader, there, self._options.checksum, self._options.online)
        report.findings += sources.findings(origins)
        report.sources += sources.counted
        report.notes += sources.notes
        report.findings += self._documents(listed, sources.followed)
        report.notes += _partly_read(listed)
        with suppress(*UNREADABLE):
            if waiting := len(self._store.waiting()):
                report.notes.append(waiting_note(waiting))
        return report

    def _documents(self, listed: Sequence[StoredDocument], followed: Collection[str]) -> Iterator[Finding]:
        vectors = self._vector_check()
        unfollowed = UnfollowedCheck(self._tools.reader, self._options.checksum)
        earlier = ""
        for stored in listed:
            self._report.documents += 1
            self._report.chunks += stored.chunks
            if stored.source and stored.source == earlier:
                detail = "more than one document is of this source: all but one are other versions"
                yield Finding(Difference.ORPHANED, stored.source, detail, Repair.MAKE, stored.id)
            earlier = stored.source
            if stored.id not in followed:
                yield from unfollowed.findings(stored)
            yield from self._document(stored, vectors)
        yield from unfollowed.missing()
        yield from vectors.findings()
        yield from map(_mendable, self._searches.issues())
        self._report.sources += unfollowed.counted
        self._report.notes += unfollowed.notes()
        self._report.embedded = vectors.compared

    def _document(self, listed: StoredDocument, vectors: VectorCheck) -> Iterator[Finding]:
        try:
            whole = whole_document(self._store, listed)
            found = document_findings(*whole, self._dimension) if whole else []
        except UNREADABLE as error:
            detail = f"it can't be read: {error.__cause__ or error}"
            yield Finding(Difference.DAMAGED, name_of(listed), detail, Repair.MAKE, listed.id)
            self._searches.skip()
            return
        yield from found
        if whole:
            self._searches.take(whole[0], whole[2])
        if whole and not found:
            _, document, chunks = whole
            for chunk in chunks:
                vectors.take(document, chunk)

    def _vector_check(self) -> VectorCheck:
        size, embedder = self._options.embed, self._tools.embedder
        if size is None:
            # Embed for money only if the user requests it.
            size = SAMPLE if embedder.cost(1) == 0 else 0
        if not size:
            self._report.notes.append(f"No vectors were compared with those that {embedder.fingerprint} makes now.")
        return VectorCheck(embedder, size, everything=size >= self._store.count()[1])


def _mendable(issue: Issue) -> Finding:
    return Finding(issue.kind, issue.where, issue.detail, Repair.MEND)


class Repairing:
    """Repairs one library; `begin` starts an ingestion. Raises LibraryReadOnly and the embedder's errors."""

    def __init__(self, store: Store, tools: Pipeline, begin: Callable[[], Ingestion]) -> None:
        self._store = store
        self._tools = tools
        self._begin = begin

    def run(self, findings: Sequence[Finding]) -> None:
        """Repair each finding: the store first, then sources, documents and records."""
        mended = [finding for finding in findings if finding.repair is Repair.MEND]
        if mended or any(finding.kind is Difference.DAMAGED for finding in findings):
            # A document with unreadable terms can't be replaced. If only rows are damaged, derived data is right.
            rebuild = any(each.kind is not Difference.DAMAGED or each.name == INDEX for each in mended)
            self._store.repair(rebuild)
            # The stored fingerprint may have been damaged and removed.
            self._store.bind_embedder(self._tools.embedder.fingerprint)
        self._read([finding.record for finding in findings if finding.repair is Repair.READ and finding.record])
        for document_id in dict.fromkeys(finding.document_id for finding in findings if finding.repair is Repair.MAKE):
            self._make(document_id)
        self._forget([finding.record for finding in findings if finding.repair is Repair.FORGET and finding.record])
        self._begin().fill()
        self._store.refresh()

    def _read(self, records: Collection[SyncRecord]) -> None:
        """Visit origins again for some of their sources, as if these had changed."""
        wanted = {(record.origin, record.source) for record in records}
        remembered = self._store.records()
        for origin in FollowedSources(self._store, self._tools.reader, self._begin).origins():
            sources = {source for name, source in wanted if name == origin.name}
            if not sources:
                continue
            known = [
                replace(record, hash="", validators={}) if record.source in sources else record
                for record in remembered
                if record.origin == origin.name
            ]
            following = SyncRun(self._store, known)
            # Ignore what can't be read now: the next verification finds it again.
            with suppress(SourceError), closing(self._tools.reader.visit(origin.name, origin.options)) as visit:
                following.visit(cast(Visit, _PartOfVisit(visit, sources)), self._begin(), origin.options)
            following.tidy()
            # Keep the origin's own record unchanged, since only a part of the origin was visited.
            itself = [record for record in remembered if not record.origin and record.source == origin.name]
            self._store.remember(itself)

    def _make(self, document_id: str) -> None:
        """Rebuild a document from its source or, if that can't be read, from its stored text."""
        found = self._store.lookup(document_id, "")
        if not found:
            return
        same = self._store.lookup(document_id, found[0].source)
        read = [each for each in read_again(self._tools.reader, found[0].source) if each.source == found[0].source]
        if len(same) == 1:
            read = [each for each in read if each.id == document_id]
        document = read[0] if read else None
        if document is None and len(same) == 1:
            with suppress(*UNREADABLE):
                document = self._store.document(document_id)
        if document is not None:
            self._put(document, [stored.id for stored in same])

    def _put(self, document: Document, replaced: Sequence[str]) -> None:
        prepared = prepare(document, self._tools.splitter)
        passages = prepared.passages()
        vectors: list[PassageVectors] = []
        for start in range(0, len(passages), BATCH):
            vectors += self._tools.embedder.embed_passages(passages[start : start + BATCH])
        chunks = [prepared.indexed(number, each) for number, each in enumerate(vectors)]
        if chunks:
            self._store.put(prepared.document, chunks, replaced)

    def _forget(self, records: Sequence[SyncRecord]) -> None:
        """Remove missing documents from records; the next sync reads their sources again."""
        kept = [
            replace(
                record,
                hash="",
                validators={},
                documents=tuple(each for each in record.documents if self._store.lookup(each, "")),
            )
            for record in records
        ]
        self._store.remember(kept)


class _PartOfVisit:
    """A visit limited to some sources; it reports no source as gone, and everything else like the whole visit."""

    def __init__(self, visit: Visit, sources: Collection[str]) -> None:
        self._visit = visit
        self._sources = sources
        self.total = len(sources)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._visit, name)

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        """Yield the files and pages visited, if they are among these sources."""
        with closing(self._visit.items(known)) as items:
            yield from (visited for visited in items if visited.source in self._sources)

    def gone(self) -> list[str]:
        """Return no sources, so that repairing one page doesn't remove others."""
        return []
