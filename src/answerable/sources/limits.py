"""How much a reader may use, and what it left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.protocols.reading import UnreadFile

# What is larger is tables and plain text, which take a tenth of the time.
_LARGE = 5_000_000
# Word documents and e-books are packed.
_PACKED_MARK = b"PK\x03\x04"
_MOST_PACKED = 10
# Sizes are rounded up, so that small files have the same bounds.
_STEP = 1_000_000
_PDF = b"%PDF-"
_LONGEST_TITLE = 1_000
_LONGEST_VALUE = 5_000
_MOST_VALUES = 200
# Twice what WhatsApp lets into a group: every passage carries the participants of its chat.
_LONGEST_LIST = 2_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the reading of one file may use: seconds of processor time, and bytes of memory."""

    seconds: float
    memory: int
    is_pdf: bool = False


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bounds for one file: its size, packed and unpacked, in bytes; work on a PDF in seconds and bytes of memory.

    Other formats have `least_seconds` and `least_memory`, and more in proportion to the file's size: several times what
    readers need for the worst that is no attack.
    """

    max_file_size: int = 200_000_000
    max_seconds: float = 120
    max_memory: int = 2_000_000_000
    least_seconds: float = 20
    seconds_per_byte: float = 2e-5
    least_memory: int = 1_000_000_000
    memory_per_byte: int = 30

    @property
    def of_pdf(self) -> Bounds:
        """What a PDF may use."""
        return Bounds(self.max_seconds, self.max_memory, is_pdf=True)

    def bounds(self, size: int, head: bytes = b"") -> Bounds:
        """What a file of this size that begins so may use."""
        if _PDF in head[:1024]:
            return self.of_pdf
        size = min(size * (_MOST_PACKED if head.startswith(_PACKED_MARK) else 1), self.max_file_size)
        size = max(-(-size // _STEP), 1) * _STEP
        beyond = max(size - _LARGE, 0)
        seconds = self.least_seconds + (size - beyond + beyond / 10) * self.seconds_per_byte
        return Bounds(seconds, self.least_memory + size * self.memory_per_byte)


@dataclass(slots=True)
class Skipped:
    """What a folder or an archive held that wasn't read: counts by reason, names, and the errors of what failed.

    What is hidden or ignored, or stands there twice, is counted and not named.
    """

    counts: Counter[str] = field(default_factory=Counter)
    errors: list[SourceError] = field(default_factory=list)
    passed_over: list[UnreadFile] = field(default_factory=list)

    def count(self, reason: str, source: str = "") -> None:
        """One more was left out for this reason, and is named if that is given."""
        self.counts[reason] += 1
        if source:
            self.passed_over.append(UnreadFile(source, reason))

    def add(self, counts: Mapping[str, int], errors: Iterable[SourceError], passed_over: Iterable[UnreadFile]) -> None:
        """Add what was skipped elsewhere."""
        self.counts.update(counts)
        self.errors += errors
        self.passed_over += passed_over


def with_short_metadata(document: Document) -> Document:
    """The document with a title and metadata that each of its passages can carry."""
    title = document.title[:_LONGEST_TITLE]
    metadata = {name[:_LONGEST_TITLE]: _short(value) for name, value in islice(document.metadata.items(), _MOST_VALUES)}
    return (
        document
        if (title, metadata) == (document.title, document.metadata)
        else replace(document, title=title, metadata=metadata)
    )


def _short(value: object) -> object:
    if isinstance(value, str):
        return value[:_LONGEST_VALUE]
    return value[:_LONGEST_LIST] if isinstance(value, list | tuple) else value
