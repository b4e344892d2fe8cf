"""Readers of sources, and visits to sources that change."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.protocols.reading import FileContents, SourceFile, SourceItem, UnreadFile


@dataclass(frozen=True, slots=True)
class SyncRecord:
    """A library's record of a followed file or page.

    `origin` is the folder, file or site that was added, `source` the file or page in it, `documents` the ids of its
    documents (none if it was skipped). `hash` is the hash of the file's bytes, empty to have it read again;
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
        """Skipped files worth listing by name, so far."""

    @property
    def errors(self) -> Sequence[SourceError]:
        """Errors that left the listing incomplete, without the errors of single files or pages."""

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        """Yield every file or page in a steady order; `known` are records of earlier visits by source.

        Raise SourceError if there is nothing to read.
        """

    def gone(self) -> list[str]:
        """Return the known sources that no longer exist, after `items` has ended; none if the visit was incomplete."""

    def close(self) -> None:
        """Stop reading. Idempotent."""


class Reader(Protocol):
    """Reads files, folders and sites."""

    def listing(self, source: str) -> Sequence[SourceItem]:
        """Return the files at a path in a steady order. Raise SourceError if there are none."""

    def read(self, file: SourceFile) -> FileContents:
        """Return the contents of a file. Raise SourceError."""

    def options(self, source: str) -> Mapping[str, str]:
        """Return the options to store with a source, so that later visits read it with the same options."""

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        """Return a visit to a source, with the stored options or the current ones.

        `checksum` reads every file, whatever its size and time. Raise SourceError and SettingsError.
        """

    def close(self) -> None:
        """Release resources."""
