"""Compares a library, document by document, with its sources and itself, and repairs it on request."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from answerable.indexing.followed_sources import FollowedSources
from answerable.indexing.ingest import Ingestion
from answerable.indexing.prepare import Pipeline
from answerable.maintenance.erasing import erase, erasing_note, unerased
from answerable.maintenance.verification.documents import document_findings
from answerable.maintenance.verification.findings import UNREADABLE, Finding, Repair, VerifyReport, name_of
from answerable.maintenance.verification.repairing import Repairing
from answerable.maintenance.verification.sources import SourceCheck, UnfollowedCheck
from answerable.maintenance.verification.vectors import VectorCheck
from answerable.maintenance.whole import whole_document
from answerable.protocols import Difference, Store, StoredDocument

SAMPLE = 20


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """How much to compare, and whether to repair.

    `checksum` reads files whatever their size and time, also those that aren't followed; `online` visits sites.
    At most `embed` passages are embedded again; None means `SAMPLE` where embedding is free, else 0.
    """

    repair: bool = False
    checksum: bool = False
    online: bool = False
    embed: int | None = None


def verify(store: Store, tools: Pipeline, begin: Callable[[], Ingestion], options: VerifyOptions) -> VerifyReport:
    """Return the differences between a library, its sources and its index; change nothing unless asked to repair.

    `begin` starts an ingestion. Changes by other processes meanwhile may be reported as differences. Raise
    LibraryReadOnly if a repair can't be written.
    """
    started = time.monotonic()
    report = _Look(store, tools, begin, options).run()
    if options.repair and any(finding.kind is Difference.VECTORS for finding in report.findings):
        # If vectors in the sample are wrong, others may be, too.
        options = replace(options, embed=report.chunks)
        report = _Look(store, tools, begin, options).run()
    found: list[Finding] = []
    while options.repair and (repairable := [each for each in report.findings if each.repair is not Repair.NOTHING]):
        if found and all(each in found for each in repairable):
            # A difference that remains after its repair can't be repaired.
            break
        Repairing(store, tools, begin).run(repairable)
        found += (each for each in repairable if each not in found)
        # Unreadable rows hid other differences.
        report = _Look(store, tools, begin, options).run()
    if options.repair:
        erase(store)
        report.unerased = unerased(store).passages
    if report.unerased:
        report.notes.append(erasing_note(report.unerased))
    left = {(finding.kind, finding.name) for finding in report.findings}
    report.repaired = [finding for finding in found if (finding.kind, finding.name) not in left]
    report.seconds = time.monotonic() - started
    return report


class _Look:
    """One full comparison of a library with its sources, its index and its vectors."""

    def __init__(self, store: Store, tools: Pipeline, begin: Callable[[], Ingestion], options: VerifyOptions) -> None:
        self._store = store
        self._tools = tools
        self._options = options
        self._followed = FollowedSources(store, tools.reader, begin, dry_run=True)
        self._dimension = tools.embedder.fingerprint.dimension
        self._report = VerifyReport()

    def run(self) -> VerifyReport:
        """Compare everything in turn: the store, its sources, each document, and some vectors."""
        report = self._report
        try:
            for issue in self._store.audit():
                repair = Repair.MEND if issue.can_repair else Repair.NOTHING
                report.findings.append(Finding(issue.kind, issue.where, issue.detail, repair))
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
            return
        yield from found
        if whole and not found:
            _, document, chunks = whole
            for chunk in chunks:
                vectors.take(document, chunk)

    def _vector_check(self) -> VectorCheck:
        size, embedder = self._options.embed, self._tools.embedder
        if size is None:
            # Embedding that costs money must be asked for.
            size = SAMPLE if embedder.cost(1) == 0 else 0
        if not size:
            self._report.notes.append(f"No vectors were compared with those that {embedder.fingerprint} makes now.")
        return VectorCheck(embedder, size, everything=size >= self._store.count()[1])
