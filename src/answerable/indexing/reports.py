"""What adding tells: how far it has come, what it did, what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from answerable.errors import AnswerableError
from answerable.protocols.reading import UnreadFile


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that couldn't be added, and why."""

    source: str
    error: AnswerableError


@dataclass(slots=True)
class AddReport:
    """What adding did: documents by outcome, their chunks, what was passed over by reason and name, and what failed.

    Of a place that is followed, `moved` counts the documents that stood elsewhere before, `removed` those that are
    gone, and `kept` the things that weren't met, and stay since not all of the place could be seen. `tokens`,
    `estimated_seconds` and `cost` (in US dollars, None where the price isn't known) are those of a dry run; `seconds`
    are of wall time.
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

    def merge(self, other: AddReport) -> None:
        """Adds up two reports."""
        for name in ("added", "changed", "moved", "unchanged", "removed", "kept", "chunks"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("tokens", "estimated_seconds", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        self.skipped.update(other.skipped)
        self.passed_over += other.passed_over
        self.failures += other.failures


@dataclass(frozen=True, slots=True)
class Progress:
    """How far adding has come, in chunks of the document at hand and of all, and in sources.

    `chunks_total` grows as sources are read, and so may `sources_total`, of a site. `document_total` is 0 while a
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
