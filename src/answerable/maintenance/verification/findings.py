"""What a verification says: the differences, what would put each right, and how much was looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from answerable.errors import LibraryDamaged
from answerable.protocols import Difference, StoredDocument, SyncRecord

UNREADABLE = (LibraryDamaged, ValueError, LookupError, TypeError, AttributeError)
"""What stores raise for rows that aren't what was written."""


class Repair(str, Enum):
    """What puts a difference right."""

    MEND = "removes what is of nothing, makes anew what is derived"
    READ = "reads the source again"
    MAKE = "makes the document again from its source, or else from its stored text"
    FORGET = "forgets what was remembered of it"
    NOTHING = "can't put it right"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference: its kind, the source or the place that it is about, what it is, and what puts it right.

    `document_id` is that of the document to make again, `record` what is remembered of the source to read again.
    """

    kind: Difference
    name: str
    detail: str
    repair: Repair = Repair.NOTHING
    document_id: str = ""
    record: SyncRecord | None = None


@dataclass(slots=True)
class VerifyReport:
    """What was looked at, what differs, what was put right, and what is worth knowing though nothing is wrong.

    `sources` are files and pages, `embedded` counts passages that were embedded again; `seconds` are of wall time.
    """

    documents: int = 0
    chunks: int = 0
    sources: int = 0
    embedded: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    repaired: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing differs, or not any more."""
        return not self.findings


def name_of(stored: StoredDocument) -> str:
    """What a document is called in findings."""
    return stored.source or stored.id
