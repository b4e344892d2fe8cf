"""The result of a verification: differences, how to repair each, and how much was compared.

This module also compares followed sources with their sync records, and documents without a record with their files.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from itertools import starmap

from answerable.datatypes import Document, Name
from answerable.errors import EmptySource, LibraryDamaged, SettingsError, SourceError, SourceNotFound
from answerable.indexing.followed_sources import Origin
from answerable.protocols import Difference, Reader, Store, StoredDocument, SyncRecord, Visited
from answerable.sources.html.web_address import is_site

UNREADABLE = (LibraryDamaged, ValueError, LookupError, TypeError, AttributeError)
"""Errors that stores raise for damaged rows."""


class Repair(Name):
    """How to repair a difference."""

    MEND = "removes orphans, rebuilds derived data"
    READ = "reads the source again"
    MAKE = "rebuilds the document from its source, or else from its stored text"
    FORGET = "forgets its sync record"
    NOTHING = "can't repair it"


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference: its kind, the source or place, a description, and the repair.

    `document_id` is the document to rebuild, `record` the record of the source to read again.
    """

    kind: Difference
    name: str
    detail: str
    repair: Repair = Repair.NOTHING
    document_id: str = ""
    record: SyncRecord | None = None


@dataclass(slots=True)
class VerifyReport:
    """What `verify` compared, found and repaired.

    `sources` is the number of files and pages, `embedded` that of passages embedded again for comparison, `unerased`
    that of removed passages whose data may still be in the library's files. `seconds` is wall time.
    """

    documents: int = 0
    chunks: int = 0
    sources: int = 0
    embedded: int = 0
    unerased: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    repaired: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing differs (any more)."""
        return not self.findings


def name_of(stored: StoredDocument) -> str:
    """Return a document's name in findings."""
    return stored.source or stored.id


_MEMBER = re.compile(r"(.+?\.[A-Za-z0-9]{1,5})!/.+", re.DOTALL)


def file_of(source: str) -> str | None:
    """Return the file that a source names (for an archive's member, the archive), or None."""
    # U+FFFD means that the file's name wasn't Unicode, so that it is lost.
    if is_site(source) or not os.path.isabs(source) or "\N{REPLACEMENT CHARACTER}" in source or "\0" in source:
        return None
    member = _MEMBER.fullmatch(source)
    return member[1] if member else source


def moved(folder: str, documents: int) -> Finding:
    """Return the finding for a missing folder or file of documents."""
    name = shlex.quote(folder)
    count = "1 document" if documents == 1 else f"{documents:,} documents"
    return Finding(
        Difference.MOVED,
        folder,
        f"{count} of it, but it no longer exists. If it was moved: `answerable add NEW`, then "
        f"`answerable remove {name}`. If its disk isn't mounted, mount it",
    )


_SYNC = "answerable sync"


@dataclass(slots=True)
class SourceCheck:
    """Visits the followed sources, sites only if `online`, and changes nothing.

    `there` has the ids of all documents. Results: `followed`, the ids of documents with a sync record, and `counted`,
    the number of sources compared.
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
            # Look the document up, since it may have been added after `there` was listed.
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
        # Documents whose files are missing, by the topmost missing folder.
        self._missing: Counter[str] = Counter()
        self._is_there = cache(os.path.exists)

    def findings(self, stored: StoredDocument) -> Iterator[Finding]:
        """Yield the differences between a document and its file."""
        path = file_of(stored.source)
        if path is None:
            return
        self.counted += 1
        if not os.path.exists(path):
            while not self._is_there(os.path.dirname(path)):
                path = os.path.dirname(path)
            self._missing[path] += 1
        elif self._checksum and any(
            document.source == stored.source and document.id != stored.id
            for document in read_again(self._reader, stored.source)
        ):
            detail = f"its text has changed, and it isn't followed: `answerable add {shlex.quote(path)}`"
            yield Finding(Difference.STALE, stored.source, detail)

    def missing(self) -> Iterator[Finding]:
        """Yield a finding for each file, or whole folder, that is missing."""
        return starmap(moved, self._missing.items())

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
