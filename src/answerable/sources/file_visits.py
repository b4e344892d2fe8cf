"""Files as sources that are followed: the one at a path, or all that can be read in the folder there.

A file whose size and time are those that were remembered isn't even opened, unless the time is so recent that a later
change may have got the same.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from hashlib import sha256
from pathlib import Path

from answerable.datatypes import Document
from answerable.disk.names import source_of
from answerable.errors import SourceError
from answerable.protocols import SyncRecord, Visited
from answerable.protocols.reading import UnreadFile
from answerable.sources.folders import Scan, nothing_to_read, reason_to_skip
from answerable.sources.limits import Skipped
from answerable.sources.waiting import while_waiting

# To be raised when the readers begin to make other documents of the same bytes: every file is then read again.
READERS = "2"
# File systems round times, to two seconds at worst: what changes again within them may look as it did.
_RECENT = 2_000_000_000
_CHUNK = 1 << 20

Read = Callable[[Path, Skipped], list[Document]]


@dataclass(frozen=True, slots=True)
class FileReading:
    """How files are read and called: `read` raises SourceError, and notes in `Skipped` what it left out of a file.

    `expect` is told which files will be read, in this order, unless they turn out to be unchanged; `stop` ends what is
    being read.
    `readers` stands for everything but a file's bytes that decides on the documents made of it.
    """

    read: Read
    name: Callable[[Path], str]
    expect: Callable[[Sequence[Path]], None]
    stop: Callable[[], None]
    readers: str = READERS


class FileVisit:
    """One visit to the file or the folder at a path; see `protocols.Visit`. An origin of "" is never remembered.

    `checksum` reads every file, whatever its size and time say.
    """

    def __init__(self, path: Path, origin: str, reading: FileReading, checksum: bool = False) -> None:
        self.origin = origin
        self._path = path
        self._reading = reading
        self._checksum = checksum
        self._skipped = Skipped()
        self._known: Mapping[str, SyncRecord] = {}
        self._there: dict[str, Path] = {}
        self._unreadable: list[str] = []
        self._is_over = False

    @property
    def total(self) -> int:
        """How many files there are."""
        return len(self._there)

    @property
    def skipped(self) -> Mapping[str, int]:
        """How many files, and things in them, were passed over by now, by reason."""
        return self._skipped.counts

    @property
    def passed_over(self) -> Sequence[UnreadFile]:
        """The names of these files, but for what is hidden, ignored or there twice."""
        return self._skipped.passed_over

    @property
    def errors(self) -> Sequence[SourceError]:
        """None: folders that couldn't be listed are counted as skipped, and what was read of them earlier is kept."""
        return ()

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        """Every file by name. Raises the SourceError of a single file, and EmptySource when nothing can be read."""
        self._known = known
        if os.path.isdir(self._path):
            unchanged = self._scan()
            self._reading.expect([path for source, path in self._there.items() if self._is_new(source)])
            for source, path in self._there.items():
                if source in unchanged:
                    yield Visited(source, record=known[source], is_unchanged=True)
                    continue
                yield Visited(source)
                try:
                    yield from self._visited(source, path)
                except SourceError as error:
                    yield Visited(source, error=error)
        else:
            source = self._reading.name(self._path)
            self._there[source] = self._path
            yield Visited(source)
            yield from self._visited(source, self._path)
        self._is_over = True

    def gone(self) -> list[str]:
        """The known files that aren't there any more, or aren't to be read; none in a folder that can't be listed."""
        unmet = [source for source in self._known if source not in self._there] if self._is_over else []
        return [source for source in unmet if not source.startswith(tuple(self._unreadable))]

    def close(self) -> None:
        """Nothing is under way."""

    def _scan(self) -> set[str]:
        """Finds out what is there; gives the sources of what hasn't changed."""
        unchanged = set()
        scan = Scan(self._path, self._skipped, self._reading.name)
        for found in scan:
            source = self._reading.name(found.path)
            if self._is_same(source, found.status):
                unchanged.add(source)
            elif reason := reason_to_skip(found.path):
                self._skipped.count(reason, source)
                continue
            self._there[source] = found.path
        self._unreadable = [f"{self._reading.name(folder).rstrip('/')}/" for folder in scan.unreadable]
        if not self._there:
            raise self._nothing()
        return unchanged

    def _nothing(self) -> SourceError:
        folder = source_of(self._path)
        if not self._known:
            return nothing_to_read(folder, self._skipped)
        give_up = f"`answerable remove {shlex.quote(folder)}`"
        advice = f"what was read there earlier is kept; bring the files back, or give them up with {give_up}"
        return nothing_to_read(folder, self._skipped, advice)

    def _is_same(self, source: str, status: os.stat_result) -> bool:
        known = self._known.get(source)
        if known is None or not known.hash or self._checksum:
            return False
        is_settled = status.st_mtime_ns < known.seen.timestamp() * 1e9 - _RECENT
        return is_settled and self._validators(status) == known.validators

    def _is_new(self, source: str) -> bool:
        """Whether it will be read whatever its hash is."""
        known = self._known.get(source)
        return known is None or not self._is_read_alike(known)

    def _is_read_alike(self, known: SyncRecord) -> bool:
        return bool(known.hash) and known.validators.get("readers") == self._reading.readers

    def _visited(self, source: str, path: Path) -> Generator[Visited, None, None]:
        """What to say of a file that is read, at best again. Raises SourceError."""
        seen = datetime.now(timezone.utc)
        known = self._known.get(source)
        before = _status(path)
        if before and self._is_same(source, before):
            yield Visited(source, record=known, is_unchanged=True)
            return
        if before and known and self._is_read_alike(known) and _digest(path) == known.hash:
            record = replace(known, seen=seen, validators=self._validators(before))
            yield Visited(source, record=record, is_unchanged=True)
            return
        counted = len(self._skipped.errors)
        work = partial(self._reading.read, path, self._skipped)
        documents = yield from while_waiting(work, Visited(source), self._reading.stop)
        errors = self._skipped.errors[counted:]
        yield from (Visited(source, error=error) for error in errors)
        yield Visited(source, tuple(documents), self._record(source, path, seen, documents, before, bool(errors)))

    def _record(
        self,
        source: str,
        path: Path,
        seen: datetime,
        documents: Sequence[Document],
        before: os.stat_result | None,
        is_partial: bool,
    ) -> SyncRecord | None:
        """What to remember of a file that was read; nothing that proves it unchanged where it changed meanwhile."""
        if not self.origin:
            return None
        made = tuple(document.id for document in documents)
        known = self._known.get(source)
        if is_partial and known:
            # What can't be read now is kept as it was read earlier.
            made += tuple(each for each in known.documents if each not in made)
        digest = _digest(path)
        after = _status(path)
        if is_partial or before is None or after is None or not _is_same_version(before, after):
            return SyncRecord(self.origin, source, seen, documents=made)
        return SyncRecord(self.origin, source, seen, digest, self._validators(after), made)

    def _validators(self, status: os.stat_result) -> Mapping[str, str]:
        size, time = str(status.st_size), str(status.st_mtime_ns)
        return {"size": size, "mtime_ns": time, "readers": self._reading.readers}


def _is_same_version(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_size, one.st_mtime_ns, one.st_ino) == (other.st_size, other.st_mtime_ns, other.st_ino)


def _status(path: Path) -> os.stat_result | None:
    """The status of a regular file, None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _digest(path: Path) -> str:
    """SHA-256 of a file's bytes in hexadecimal; empty when it can't be read."""
    digest = sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(_CHUNK):
                digest.update(piece)
    except OSError:
        return ""
    return digest.hexdigest()
