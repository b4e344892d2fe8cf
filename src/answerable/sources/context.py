"""Options for reading a file: limits, password, OCR, and the record of what is skipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from answerable.sources.limits import ReadLimits, Skipped


def _ignore() -> None:
    """Do nothing: the default for `working`."""


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
class ReadContext:
    """Options for reading a file, passed to every reader.

    `password` opens encrypted PDFs, `ocr` reads pictures and pages without a text layer. Readers record in `skipped`
    what they leave out, and call `working`, the heartbeat, before each slow step.
    """

    limits: ReadLimits = field(default_factory=ReadLimits)
    password: str | None = None
    ocr: Ocr | None = None
    skipped: Skipped = field(default_factory=Skipped)
    working: Callable[[], None] = _ignore

    def pack(self) -> dict[str, Any]:
        """Return all fields but `skipped` and `working`, as JSON values."""
        return {
            "limits": asdict(self.limits),
            "password": self.password,
            "ocr": asdict(self.ocr) if self.ocr else None,
        }

    @classmethod
    def unpack(cls, packed: dict[str, Any], working: Callable[[], None]) -> ReadContext:
        """Rebuild a packed context, with this `working`."""
        ocr = Ocr(**packed["ocr"]) if packed["ocr"] else None
        return cls(ReadLimits(**packed["limits"]), packed["password"], ocr, working=working)
