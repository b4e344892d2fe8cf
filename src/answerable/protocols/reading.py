"""Arguments and results of readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
