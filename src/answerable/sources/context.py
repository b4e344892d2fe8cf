"""Options for reading a file: limits, password, OCR, and the record of what is skipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from answerable.sources.limits import Bounds, ReadLimits, Skipped

Beside = Callable[[str], "bytes | None"]


def _ignore() -> None:
    """Do nothing: the default for `working`."""


def _enter(source: str, bounds: Bounds) -> bool:
    """Allow everything: the default for `enter`."""
    return True


@dataclass(frozen=True, slots=True)
class Ocr:
    """What recognises text: tesseract's command and languages (`eng+spa`), or RapidOCR if these are empty.

    The time limits are in seconds per page and per file.
    """

    command: str = ""
    languages: str = ""
    page_seconds: float = 60
    file_seconds: float = 1800

    @property
    def version(self) -> str:
        """What to remember of documents made with it: with other OCR their files are read again."""
        return self.languages or "rapidocr"


@dataclass(frozen=True, slots=True)
class Speech:
    """The Whisper model that hears recordings: its folder, or "" for the installed weights.

    `languages` are those that may be spoken (empty: any), `threads` the most processors to use (0: all).
    """

    folder: str = ""
    languages: tuple[str, ...] = ()
    threads: int = 0


@dataclass(frozen=True, slots=True)
class ReadContext:
    """Options for reading a file, passed to every reader.

    `password` opens encrypted PDFs, `ocr` reads pictures and pages without a text layer, `speech` hears recordings.
    Readers record in `skipped` what they leave out, and call `working`, the heartbeat, before each slow step. `beside`
    returns the bytes of a file beside the one that is read, by its name, or None. `enter` is called before reading such
    a file, with its source and bounds; if it returns False, the file must be left out.
    """

    limits: ReadLimits = field(default_factory=ReadLimits)
    password: str | None = None
    ocr: Ocr | None = None
    speech: Speech | None = None
    skipped: Skipped = field(default_factory=Skipped)
    working: Callable[[], None] = _ignore
    beside: Beside | None = None
    enter: Callable[[str, Bounds], bool] = _enter

    def pack(self) -> dict[str, Any]:
        """Return what another process can have, as JSON values."""
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
        speech = packed["speech"]
        if speech:
            speech = Speech(speech["folder"], tuple(speech["languages"]), speech["threads"])
        return cls(ReadLimits(**packed["limits"]), packed["password"], ocr, speech, working=working)
