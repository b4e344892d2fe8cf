"""Where documents come from: what reads them, and what follows a place that changes."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.protocols.reading import FileContents, SourceFile, SourceListing, UnreadFile


@dataclass(frozen=True, slots=True)
class SyncRecord:
    """What a library remembers of one thing that it follows, such as a file in a folder or a page of a site.

    `origin` is what was added, `source` names the thing in it, `documents` are the ids of what was made of it (none
    where it was passed over). `hash` is of the bytes that were read, empty when they are to be read again;
    `validators` tell later whether they have changed: a file's size and time, what a server gave. `seen` is when the
    thing was last read or asked for, with a time zone.

    A record without an origin is of an origin itself: `source` is what it is called, `validators` are the options to
    visit it with, `seen` is the last visit.
    """

    origin: str
    source: str
    seen: datetime
    hash: str = ""
    validators: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Visited:
    """One thing that was met on a visit: changed, with its documents (none: passed over), unchanged, or an error.

    `record` is what to remember of it, None after an error and where nothing is remembered. One with nothing but its
    source is being read, and may be met again and again until it has been: who gives it up then ends
    that. It has no name while it isn't known what comes next.
    """

    source: str
    documents: tuple[Document, ...] = ()
    record: SyncRecord | None = None
    is_unchanged: bool = False
    error: SourceError | None = None

    @property
    def is_being_read(self) -> bool:
        """Whether nothing is known of it yet."""
        return not (self.documents or self.record or self.error)


class Visit(Protocol):
    """One visit to a place that changes and is followed: a folder, a file, a site. Used once, and closed."""

    @property
    def origin(self) -> str:
        """What the place is called in records, empty where it isn't to be remembered."""
        ...

    @property
    def total(self) -> int:
        """How many things are known to be there by now; grows while they are met."""
        ...

    @property
    def skipped(self) -> Mapping[str, int]:
        """How many things were passed over by now, by reason."""
        ...

    @property
    def passed_over(self) -> Sequence[UnreadFile]:
        """The names of things that were passed over by now, where they are worth telling."""
        ...

    @property
    def errors(self) -> Sequence[SourceError]:
        """What kept the place from being known whole, other than the errors of the things in it."""
        ...

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        """Everything there, in a steady order; `known` are the records of earlier visits by source.

        Raises SourceError when there is nothing to read at all.
        """
        ...

    def gone(self) -> list[str]:
        """Which sources that were known are there no more. After `items` has ended; none unless all was seen."""
        ...

    def close(self) -> None:
        """Ends what is still under way. Closing twice is fine."""
        ...


class Reader(Protocol):
    """Knows what is to be read at a source: a file, a folder, a site."""

    def listing(self, source: str) -> SourceListing:
        """The items in a steady order; SourceError when there is nothing to read at all."""
        ...

    def read(self, file: SourceFile) -> FileContents:
        """What is in one file. Raises SourceError."""
        ...

    def options(self, source: str) -> Mapping[str, str]:
        """What to remember of a source beside its origin, so as to visit it later in the same way."""
        ...

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        """A visit to a source, with the options remembered or else those that hold now.

        `checksum` reads every file, whatever its size and time say. Raises SourceError and SettingsError.
        """
        ...

    def close(self) -> None:
        """Frees what reading needed."""
        ...
