"""Limits on reading a file, and a record of what was skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.protocols.reading import UnreadFile

# Larger files are tables and plain text, which take a tenth of the time.
_LARGE = 5_000_000
# Office documents and e-books are zipped.
_PACKED_MARK = b"PK\x03\x04"
_MOST_PACKED = 10
# Sizes are rounded up, so that small files share their bounds.
_STEP = 1_000_000
_PDF = b"%PDF-"
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"RIFF", b"BM")
# The container of HEIC and AVIF, as of recordings, which have bounds of their own.
_HEIF = b"ftyp"
_LONGEST_TITLE = 1_000
_LONGEST_VALUE = 5_000
_MOST_VALUES = 200
# Twice the size of the largest WhatsApp group: every passage carries the participants of its chat.
_LONGEST_LIST = 2_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds of processor time and bytes of memory for reading one file."""

    seconds: float
    memory: int
    is_pdf: bool = False
    is_recording: bool = False


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits for one file: its size, packed and unpacked, in bytes; for a PDF, seconds and bytes of memory.

    `max_audio_seconds` of processor time are for a recording, or for all voice notes of a chat together; what has been
    heard by then is kept. The memory holds the model, the libraries' address space, and five minutes of sound.
    Other formats get `least_seconds` and `least_memory`, plus more in proportion to size: several times what readers
    need for the worst benign file.
    """

    max_file_size: int = 200_000_000
    max_seconds: float = 120
    max_memory: int = 2_000_000_000
    least_seconds: float = 20
    seconds_per_byte: float = 2e-5
    least_memory: int = 1_000_000_000
    memory_per_byte: int = 30
    max_audio_seconds: float = 3600
    max_audio_memory: int = 5_000_000_000

    @property
    def of_pdf(self) -> Bounds:
        """The bounds of a PDF."""
        return Bounds(self.max_seconds, self.max_memory, is_pdf=True)

    @property
    def of_recording(self) -> Bounds:
        """The bounds of a recording, whose reader stops by itself before they end it."""
        return Bounds(self.max_audio_seconds * 1.2 + 120, self.max_audio_memory, is_recording=True)

    def bounds(self, size: int, head: bytes = b"") -> Bounds:
        """Return the bounds of a file of this size with these first bytes."""
        if _PDF in head[:1024]:
            return self.of_pdf
        if head.startswith(_PICTURES) or head[4:8] == _HEIF:
            # OCR takes as long for a picture as for the page of a PDF, whatever its size in bytes.
            return Bounds(self.max_seconds, self.max_memory)
        size = min(size * (_MOST_PACKED if head.startswith(_PACKED_MARK) else 1), self.max_file_size)
        size = max(-(-size // _STEP), 1) * _STEP
        beyond = max(size - _LARGE, 0)
        seconds = self.least_seconds + (size - beyond + beyond / 10) * self.seconds_per_byte
        return Bounds(seconds, self.least_memory + size * self.memory_per_byte)


def size_of(file: Path | bytes) -> int:
    """Return the size of a file in bytes, 0 if it can't be told."""
    if isinstance(file, bytes):
        return len(file)
    try:
        return file.stat().st_size
    except (OSError, ValueError):
        return 0


@dataclass(slots=True)
class Skipped:
    """What was skipped in a folder or archive: counts by reason, names, and errors.

    Of a folder that is skipped, what is in it is neither counted nor named.
    """

    counts: Counter[str] = field(default_factory=Counter)
    errors: list[SourceError] = field(default_factory=list)
    passed_over: list[UnreadFile] = field(default_factory=list)

    def count(self, reason: str, source: str = "") -> None:
        """Count one more skipped file for this reason; record its name if given."""
        self.counts[reason] += 1
        if source:
            self.passed_over.append(UnreadFile(source, reason))

    def add(self, counts: Mapping[str, int], errors: Iterable[SourceError], passed_over: Iterable[UnreadFile]) -> None:
        """Add the counts, errors and names of another record."""
        self.counts.update(counts)
        self.errors += errors
        self.passed_over += passed_over


def skipped_summary(counts: Mapping[str, int]) -> str:
    """Return counts by reason as ` (2 empty, 1 hidden)`, or ""."""
    listed = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
    return f" ({listed})" if listed else ""


def with_short_metadata(document: Document) -> Document:
    """Cut long titles and metadata, which are stored with every passage."""
    title = document.title[:_LONGEST_TITLE]
    metadata = {name[:_LONGEST_TITLE]: _short(value) for name, value in islice(document.metadata.items(), _MOST_VALUES)}
    if (title, metadata) == (document.title, document.metadata):
        return document
    return replace(document, title=title, metadata=metadata)


def _short(value: object) -> object:
    if isinstance(value, str):
        return value[:_LONGEST_VALUE]
    return value[:_LONGEST_LIST] if isinstance(value, list | tuple) else value
