"""Interfaces of file readers, the files that they read, and visits to sources that may have changed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from answerable.datatypes import Document
from answerable.errors import SourceError


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A skipped file and the reason."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A file to read; `read` returns its documents, at least one, or raises SourceError."""

    name: str
    read: Callable[[], list[Document]]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file at an absolute path, and its source name.

    `data` holds the file's bytes if the reader can't access the path; `languages` are tesseract's language codes for
    scanned pages.
    """

    path: str
    source: str
    languages: str = ""
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class FileContents:
    """The documents in a file; for an archive, also the files skipped (by reason and by name) or failed."""

    documents: tuple[Document, ...]
    skipped: Mapping[str, int]
    errors: tuple[SourceError, ...]
    passed_over: tuple[UnreadFile, ...] = ()


class ReadsAhead(Protocol):
    """Reads files before they are needed."""

    def expect(self, files: Sequence[SourceFile]) -> None:
        """Announce the files that will be requested, in this order; some may be left out."""

    def read(self, path: str) -> FileContents | None:
        """Return the contents of a file, or None if the caller must read it. Raise SourceError."""

    def stop(self) -> None:
        """Stop reading; pending reads raise an error."""


@dataclass(frozen=True, slots=True)
class SyncRecord:
    """A library's record of a followed file or page.

    `origin` is the folder, file or site that was added, `source` the file or page in it, `documents` the ids of its
    documents (none if it was skipped). `hash` is the hash of the file's bytes; if empty, the file is read again.
    `validators` detect changes: a file's size and time, or a server's headers. `seen` is the time of the last check,
    with a time zone.

    A record without an origin describes an origin: its name, the options to visit it with, and the last visit.
    """

    origin: str
    source: str
    seen: datetime
    hash: str = ""
    validators: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Visited:
    """A file or page on a visit: changed, with its documents (none if skipped), unchanged, or an error.

    `record` is the record to store: None after an error, or if the visit keeps no records. An item with `is_being_read`
    is a heartbeat: it has only a source, which is empty while the next page is unknown.
    """

    source: str
    documents: tuple[Document, ...] = ()
    record: SyncRecord | None = None
    is_unchanged: bool = False
    error: SourceError | None = None

    @property
    def is_being_read(self) -> bool:
        """Whether the file or page is still being read."""
        return not (self.documents or self.record or self.error)


class Visit(Protocol):
    """One visit to a followed folder, file or site. Used once, then closed."""

    @property
    def origin(self) -> str:
        """The origin's name in sync records, empty if no records are kept."""

    @property
    def total(self) -> int:
        """Number of files or pages known so far."""

    @property
    def skipped(self) -> Mapping[str, int]:
        """Number of files or pages skipped so far, by reason."""

    @property
    def passed_over(self) -> Sequence[UnreadFile]:
        """Files skipped so far that are worth listing by name."""

    @property
    def errors(self) -> Sequence[SourceError]:
        """Errors because of which the listing is incomplete; errors of single files or pages aren't included."""

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        """Yield every file or page, in the same order each time; `known` are records of earlier visits by source.

        Raise SourceError if there is nothing to read.
        """

    def gone(self) -> list[str]:
        """Return the known sources that no longer exist, after `items` has ended; none if the visit was incomplete."""

    def close(self) -> None:
        """Stop reading. Idempotent."""


class Reader(Protocol):
    """Reads files, folders and sites."""

    def listing(self, source: str) -> Sequence[SourceItem]:
        """Return the files at a path, in the same order each time. Raise SourceError if there are none."""

    def read(self, file: SourceFile) -> FileContents:
        """Return the contents of a file. Raise SourceError."""

    def options(self, source: str) -> Mapping[str, str]:
        """Return the options to store with a source, so that later visits read it with the same options."""

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        """Return a visit to a source, with the stored options or the current ones.

        With `checksum`, read every file, even if its size and time are unchanged. Raise SourceError and SettingsError.
        """

    def close(self) -> None:
        """Release resources."""
