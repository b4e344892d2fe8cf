"""Repairs the differences that a verification found, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.indexing.followed_sources import FollowedSources
from answerable.indexing.ingest import BATCH, Ingestion
from answerable.indexing.prepare import Pipeline, prepare
from answerable.indexing.sync import SyncRun
from answerable.maintenance.verification.findings import UNREADABLE, Finding, Repair
from answerable.maintenance.verification.sources import read_again
from answerable.protocols import Difference, PassageVectors, Store, SyncRecord, Visit, Visited
from answerable.protocols.reading import UnreadFile


class Repairing:
    """Repairs one library; `begin` starts an ingestion. Raises LibraryReadOnly and the embedder's errors."""

    def __init__(self, store: Store, tools: Pipeline, begin: Callable[[], Ingestion]) -> None:
        self._store = store
        self._tools = tools
        self._begin = begin

    def run(self, findings: Sequence[Finding]) -> None:
        """Repair each finding: the store first, then sources, documents and records."""
        if any(finding.repair is Repair.MEND or finding.kind is Difference.DAMAGED for finding in findings):
            # A document whose terms can't be read can't be replaced.
            self._store.repair()
            # The fingerprint may have been lost.
            self._store.bind_embedder(self._tools.embedder.fingerprint)
        self._read([finding.record for finding in findings if finding.repair is Repair.READ and finding.record])
        for document_id in dict.fromkeys(finding.document_id for finding in findings if finding.repair is Repair.MAKE):
            self._make(document_id)
        self._forget([finding.record for finding in findings if finding.repair is Repair.FORGET and finding.record])
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
            # The next verification finds what can't be read now.
            with suppress(SourceError), closing(self._tools.reader.visit(origin.name, origin.options)) as visit:
                following.visit(_PartOfVisit(visit, sources), self._begin(), origin.options)
            following.tidy()
            # Only a part of the origin was visited: its own record stays as it was.
            itself = [record for record in remembered if not record.origin and record.source == origin.name]
            self._store.remember(itself)

    def _make(self, document_id: str) -> None:
        """Rebuild a document from its source, or else from its stored text."""
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
    """A visit limited to some sources; it reports no source as gone."""

    def __init__(self, visit: Visit, sources: Collection[str]) -> None:
        self._visit = visit
        self._sources = sources

    @property
    def origin(self) -> str:
        """The origin's name in records."""
        return self._visit.origin

    @property
    def total(self) -> int:
        """Number of sources."""
        return len(self._sources)

    @property
    def skipped(self) -> Mapping[str, int]:
        """Number of skipped files and pages, by reason."""
        return self._visit.skipped

    @property
    def passed_over(self) -> Sequence[UnreadFile]:
        """Skipped files worth listing by name."""
        return self._visit.passed_over

    @property
    def errors(self) -> Sequence[SourceError]:
        """Errors that left the listing incomplete."""
        return self._visit.errors

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        """Yield the files and pages visited, if they are among these sources."""
        with closing(self._visit.items(known)) as items:
            yield from (visited for visited in items if visited.source in self._sources)

    def gone(self) -> list[str]:
        """Return no sources: one page is repaired without touching the others."""
        return []

    def close(self) -> None:
        """Close the whole visit."""
        self._visit.close()
