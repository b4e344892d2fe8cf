"""The result of a verification: differences, how to repair each, and how much was compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from answerable.errors import LibraryDamaged
from answerable.protocols import Difference, StoredDocument, SyncRecord

UNREADABLE = (LibraryDamaged, ValueError, LookupError, TypeError, AttributeError)
"""Raised by stores for damaged rows."""


class Repair(str, Enum):
    """How to repair a difference."""

    MEND = "removes orphans, rebuilds derived data"
    READ = "reads the source again"
    MAKE = "rebuilds the document from its source, or else from its stored text"
    FORGET = "forgets its sync record"
    NOTHING = "can't repair it"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference: its kind, the source or place, a description, and the repair.

    `document_id` is the document to rebuild, `record` the record of the source to read again.
    """

    kind: Difference
    name: str
    detail: str
    repair: Repair = Repair.NOTHING
    document_id: str = ""
    record: SyncRecord | None = None


@dataclass(slots=True)
class VerifyReport:
    """What `verify` compared, found and repaired.

    Counts: `sources` are files and pages; `embedded` passages embedded again for comparison; `unerased` passages that
    were removed and may still have data in the library's files. `seconds` is wall time.
    """

    documents: int = 0
    chunks: int = 0
    sources: int = 0
    embedded: int = 0
    unerased: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    repaired: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing differs (any more)."""
        return not self.findings


def name_of(stored: StoredDocument) -> str:
    """Return a document's name in findings."""
    return stored.source or stored.id
