"""Reports of adding and syncing: counts, failures, progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields

from answerable.errors import AnswerableError
from answerable.left_out import LeftOut
from answerable.protocols.sources import UnreadFile


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that couldn't be added, and why."""

    source: str
    error: AnswerableError


@dataclass(slots=True)
class AddReport:
    """Documents by outcome, their chunks, skipped files by reason and by name, failures, and documents read in part.

    `moved` counts documents that had another source before; `removed`, documents whose source is gone; `kept`, files
    or pages that weren't found but stay, because part of the origin couldn't be read. A dry run fills `tokens`,
    `estimated_seconds` and `cost` (US dollars; None if the price is unknown). `seconds` is wall time. `partly` maps the
    sources of added and changed documents to what was left out of them.
    """

    added: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    removed: int = 0
    kept: int = 0
    chunks: int = 0
    tokens: int = 0
    estimated_seconds: float = 0.0
    cost: float | None = 0.0
    seconds: float = 0.0
    skipped: Counter[str] = field(default_factory=Counter)
    passed_over: list[UnreadFile] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    partly: dict[str, tuple[LeftOut, ...]] = field(default_factory=dict)

    def merge(self, other: AddReport) -> None:
        """Add another report to this one."""
        for each in fields(self):
            if each.name != "cost" and isinstance(each.default, int | float):
                setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        self.skipped.update(other.skipped)
        self.passed_over += other.passed_over
        self.failures += other.failures
        self.partly |= other.partly


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress in chunks of the current document, chunks of all documents, and sources.

    `chunks_total` grows as sources are read; for a site, `sources_total` grows, too. `document_total` is 0 while a
    source is being read.
    """

    source: str
    document_done: int
    document_total: int
    chunks_done: int
    chunks_total: int
    sources_done: int
    sources_total: int


OnProgress = Callable[[Progress], None]


def waiting_note(passages: int) -> str:
    """Return the note for the user about this number of passages that wait for their vectors."""
    return (
        f"{passages:,} passages wait for their vectors: until then they are found by their words only. "
        "`answerable sync` makes them."
    )
