"""What reading is asked for and gives, by whoever does it and wherever."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from answerable.datatypes import Document
from answerable.errors import SourceError


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that wasn't read, and why not."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One thing to read: `read` gives its documents, at least one, or raises SourceError."""

    name: str
    read: Callable[[], list[Document]]


@dataclass(frozen=True, slots=True)
class SourceListing:
    """What there is to read at a source, how many things were passed over, by reason, and what failed on the way.

    `skipped` and `errors` grow while items are read: an archive is an item with members of its own. `is_single` says
    that the source is itself the one item.
    """

    items: tuple[SourceItem, ...]
    skipped: Mapping[str, int]
    errors: Sequence[SourceError]
    is_single: bool


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read by itself, at an absolute path, and what it is called as a source.

    `data` are its bytes where the reader can't see the path; `languages` are those of scanned pages, as for tesseract.
    """

    path: str
    source: str
    languages: str = ""
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class FileContents:
    """The documents in a file, and of an archive what was passed over, by reason and by name, and what failed."""

    documents: tuple[Document, ...]
    skipped: Mapping[str, int]
    errors: tuple[SourceError, ...]
    passed_over: tuple[UnreadFile, ...] = ()


class ReadsAhead(Protocol):
    """Has files read before it is their turn."""

    def expect(self, files: Sequence[SourceFile]) -> None:
        """Says which files will be asked for, in this order; some may be left out."""
        ...

    def read(self, path: str) -> FileContents | None:
        """What is in a file, None where it has to be read by who asks. Raises SourceError."""
        ...

    def stop(self) -> None:
        """Ends what is being read: who waits for it gets an error."""
        ...
