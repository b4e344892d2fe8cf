"""Output schemas of the tools: what `interfaces.plain` makes, field by field."""

from __future__ import annotations

from pydantic import BaseModel

from answerable.interfaces.http.schemas import CheckedAnswer, FoundOut, Place, StoredOut

SearchOutput = FoundOut
AnswerOutput = CheckedAnswer


class DocumentsOutput(BaseModel):
    """A page of the list of documents; `total` counts all matches."""

    total: int
    offset: int
    documents: list[StoredOut]


class PassageOutput(Place):
    """A passage that contains the requested span, with its neighbours."""

    content: str
    document_characters: int


class Failed(BaseModel):
    """A source that couldn't be added, and why."""

    source: str
    code: str
    error: str


class Skipped(BaseModel):
    """A file that was skipped, and why."""

    source: str
    reason: str


class AddedOutput(BaseModel):
    """The outcome of adding: documents by outcome, passages, skipped files by reason and name, failures."""

    added: int
    changed: int
    moved: int
    unchanged: int
    removed: int
    kept: int
    chunks: int
    skipped: dict[str, int]
    passed_over: list[Skipped]
    failed: list[Failed]
    seconds: float


class RemovedOutput(BaseModel):
    """The removed document."""

    removed: str
