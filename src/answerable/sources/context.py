"""Options for reading a file: limits, password, OCR, and the record of what is skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.formats.format import Cost
from answerable.left_out import LeftOut
from answerable.protocols.sources import UnreadFile

# Bytes: larger files are tables and plain text, which take a tenth of the time for each further byte.
_LARGE = 5_000_000
# Unpacked bytes per byte of an Office document or e-book: XML packs to a tenth. A round number, not measured.
_MOST_PACKED = 10
# Bytes: sizes are rounded up to a multiple of this, so that small files share their bounds.
_STEP = 1_000_000
# Every passage is stored with the title and metadata of its document. Round numbers, not measured.
_LONGEST_TITLE = 1_000  # characters of a title or of a field's name
_LONGEST_VALUE = 5_000  # characters of a field's value
_MOST_VALUES = 200  # fields of metadata
# Items of a list: every passage carries the participants of its chat. Twice the size of the largest WhatsApp group.
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
    """Limits for one file: its packed and its unpacked size in bytes; for a PDF, seconds and bytes of memory.

    `max_audio_seconds` limits the processor time for a recording, or for all voice notes of a chat together; what is
    transcribed by then is kept. `max_audio_memory` is for the model, the libraries' address space, and five minutes of
    sound. Other formats get `least_seconds` and `least_memory`, plus more in proportion to size: several times what the
    most demanding harmless file needs.
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
        """The bounds of a recording; its file reader stops by itself before it reaches these bounds."""
        return Bounds(self.max_audio_seconds * 1.2 + 120, self.max_audio_memory, is_recording=True)

    def bounds(self, size: int, cost: Cost = Cost.SIZE) -> Bounds:
        """Return the bounds of a file of this size in bytes."""
        if cost is Cost.PDF:
            return self.of_pdf
        if cost is Cost.SOUND:
            return self.of_recording
        if cost is Cost.PICTURE:
            # OCR takes as long for a picture as for the page of a PDF, whatever its size in bytes.
            return Bounds(self.max_seconds, self.max_memory)
        size = min(size * (_MOST_PACKED if cost is Cost.PACKED else 1), self.max_file_size)
        size = max(-(-size // _STEP), 1) * _STEP
        beyond = max(size - _LARGE, 0)
        seconds = self.least_seconds + (size - beyond + beyond / 10) * self.seconds_per_byte
        return Bounds(seconds, self.least_memory + size * self.memory_per_byte)


def size_of(file: Path | bytes) -> int:
    """Return the size of a file in bytes, or 0 if it can't be found out."""
    if isinstance(file, bytes):
        return len(file)
    try:
        return file.stat().st_size
    except (OSError, ValueError):
        return 0


@dataclass(slots=True)
class Skipped:
    """What was skipped in a folder or archive: counts by reason, names, and errors.

    The files in a skipped folder are neither counted nor named.
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


Beside = Callable[[str], "bytes | None"]


@dataclass(frozen=True, slots=True)
class Ocr:
    """The OCR program: tesseract with its command and languages (`eng+spa`), or RapidOCR if both are empty.

    The time limits are in seconds per page and per file.
    """

    command: str = ""
    languages: str = ""
    page_seconds: float = 60
    file_seconds: float = 1800

    @property
    def version(self) -> str:
        """The version of this OCR, stored with documents: after a change of OCR, their files are read again."""
        return self.languages or "rapidocr"


@dataclass(frozen=True, slots=True)
class Speech:
    """The Whisper model that transcribes recordings: its folder, or "" for the installed weights.

    `languages` are those that may be spoken (empty: any), `threads` the most processors to use (0: all).
    """

    folder: str = ""
    languages: Sequence[str] = ()
    threads: int = 0


@dataclass(frozen=True, slots=True)
class ReadContext:
    """Options for reading a file, passed to every file reader.

    `password` opens encrypted PDFs, `ocr` reads pictures and pages without a text layer, `speech` transcribes sound.
    File readers record the files they leave out in `skipped`, and what they leave out of the file's text in `left_out`;
    they call `working`, the heartbeat, before each slow step.
    `beside` takes a name, and returns the bytes of the file of that name next to the file being read, or None. `enter`
    is called with the source and bounds of such a file before reading it; if it returns False, the file is left out.
    """

    limits: ReadLimits = field(default_factory=ReadLimits)
    password: str | None = None
    ocr: Ocr | None = None
    speech: Speech | None = None
    skipped: Skipped = field(default_factory=Skipped)
    left_out: list[LeftOut] = field(default_factory=list)
    working: Callable[[], None] = lambda: None
    beside: Beside | None = None
    enter: Callable[[str, Bounds], bool] = lambda source, bounds: True

    def pack(self) -> dict[str, Any]:
        """Return the options that can be sent to another process, as JSON values."""
        return {
            "limits": asdict(self.limits),
            "password": self.password,
            "ocr": asdict(self.ocr) if self.ocr else None,
            "speech": asdict(self.speech) if self.speech else None,
        }

    @classmethod
    def unpack(cls, packed: dict[str, Any], working: Callable[[], None]) -> ReadContext:
        """Rebuild a packed context, with this `working`."""
        ocr = Ocr(**packed["ocr"]) if packed["ocr"] else None
        speech = Speech(**packed["speech"]) if packed["speech"] else None
        return cls(ReadLimits(**packed["limits"]), packed["password"], ocr, speech, working=working)
