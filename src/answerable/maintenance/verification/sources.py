"""Compares the sources that a library follows with its records of them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field

from answerable.datatypes import Document
from answerable.errors import EmptySource, SettingsError, SourceError, SourceNotFound, UnreadPages
from answerable.indexing.followed_sources import Origin
from answerable.maintenance.verification.findings import Finding, Repair
from answerable.maintenance.verification.places import Missing, file_of, moved
from answerable.protocols import Difference, Reader, Store, StoredDocument, SyncRecord, Visited
from answerable.sources.web_address import is_site

_SYNC = "answerable sync"


@dataclass(slots=True)
class SourceCheck:
    """Visits the followed sources and changes nothing; sites only if `online`.

    `there` holds the ids of all documents. Results: `followed`, the ids with a sync record, and `counted`, the number
    of sources compared.
    """

    store: Store
    reader: Reader
    there: Collection[str]
    checksum: bool = False
    online: bool = False
    counted: int = 0
    followed: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def findings(self, origins: Iterable[Origin]) -> Iterator[Finding]:
        """Yield the differences between records and sources."""
        for origin in origins:
            known = {record.source: record for record in self.store.records(origin.name)}
            self.followed.update(each for record in known.values() for each in record.documents)
            yield from self._lost(known)
            if is_site(origin.name) and not self.online:
                self.notes.append(f"{origin.name} wasn't visited; --online visits sites.")
            else:
                yield from self._visit(origin.name, origin.options, known)

    def _lost(self, known: Mapping[str, SyncRecord]) -> Iterator[Finding]:
        """Yield a finding for each record with missing documents."""
        for record in known.values():
            # A document added since the listing is looked up.
            lost = sum(each not in self.there and not self.store.lookup(each, "") for each in record.documents)
            if lost:
                is_there = os.path.exists(file_of(record.source) or "")
                repair = Repair.READ if is_there else Repair.FORGET
                detail = f"{lost:,} of the {len(record.documents):,} documents of this source are missing"
                yield Finding(Difference.MISSING, record.source, detail, repair, record=record)

    def _visit(self, origin: str, options: Mapping[str, str], known: Mapping[str, SyncRecord]) -> Iterator[Finding]:
        new = 0
        try:
            with (
                closing(self.reader.visit(origin, options, self.checksum)) as visit,
                closing(visit.items(known)) as items,
            ):
                for visited in items:
                    record = known.get(visited.source)
                    self.counted += visited.record is not None
                    new += record is None and bool(visited.documents)
                    if record is not None:
                        yield from self._changed(visited, record)
                gone = visit.gone()
        except (SourceNotFound, EmptySource) as error:
            documents = sum(len(record.documents) for record in known.values())
            yield moved(origin, documents) if documents else Finding(Difference.LINK, origin, str(error))
            return
        except (SourceError, SettingsError) as error:
            yield Finding(Difference.STALE, origin, f"it can't be compared: {error}")
            return
        for source in gone:
            if known[source].documents:
                yield Finding(Difference.LINK, source, f"it no longer exists. `{_SYNC}` removes its documents")
        if new:
            self.notes.append(f"{new:,} new in {origin}: `{_SYNC} {shlex.quote(origin)}` adds them.")

    def _changed(self, visited: Visited, known: SyncRecord) -> Iterator[Finding]:
        if isinstance(visited.error, UnreadPages):
            return
        if visited.error is not None and known.hash:
            yield Finding(Difference.STALE, visited.source, f"it can't be compared: {visited.error}", record=known)
        elif visited.documents or (visited.record is not None and not visited.is_unchanged):
            made = {document.id: document.content_hash for document in visited.documents}
            there = {stored.id: stored.content_hash for each in made for stored in self.store.lookup(each, "")}
            if made.keys() != set(known.documents) or any(there.get(each, made[each]) != made[each] for each in made):
                detail = "it has changed since it was read"
                yield Finding(Difference.STALE, visited.source, detail, Repair.READ, record=known)


class UnfollowedCheck:
    """Compares the files of documents without a record; reads them only if `checksum`."""

    def __init__(self, reader: Reader, checksum: bool) -> None:
        self.counted = 0
        self._reader = reader
        self._checksum = checksum
        self._missing = Missing()

    def findings(self, stored: StoredDocument) -> Iterator[Finding]:
        """Yield the differences between a document and its file."""
        path = file_of(stored.source)
        if path is None:
            return
        self.counted += 1
        if not os.path.exists(path):
            self._missing.add(path)
        elif self._checksum and any(
            document.source == stored.source and document.id != stored.id
            for document in read_again(self._reader, stored.source)
        ):
            detail = f"its text has changed, and it isn't followed: `answerable add {shlex.quote(path)}`"
            yield Finding(Difference.STALE, stored.source, detail)

    def missing(self) -> Iterator[Finding]:
        """Return the files, or whole folders, that are missing."""
        return self._missing.findings()

    def notes(self) -> list[str]:
        """Return a note about files that weren't compared, if any."""
        if not self.counted or self._checksum:
            return []
        return [f"{self.counted:,} documents are of files that aren't followed: --checksum reads those too."]


def read_again(reader: Reader, source: str) -> list[Document]:
    """Read the file that a source names again; return its documents, none if it can't be read."""
    path = file_of(source)
    if path is None or not os.path.isfile(path):
        return []
    try:
        return [document for item in reader.listing(path) for document in item.read()]
    except SourceError:
        return []
