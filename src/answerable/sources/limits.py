"""How much a reader may use, and what it left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from answerable.errors import SourceError


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bounds for one file: its size, packed and unpacked, in bytes; work on a PDF in seconds and bytes of memory."""

    max_file_size: int = 200_000_000
    max_seconds: float = 120
    max_memory: int = 2_000_000_000


@dataclass(slots=True)
class Skipped:
    """What a folder or an archive held that wasn't read: counts by reason, and the errors of what failed."""

    counts: Counter[str] = field(default_factory=Counter)
    errors: list[SourceError] = field(default_factory=list)

    def count(self, reason: str) -> None:
        """One more was left out for this reason."""
        self.counts[reason] += 1
