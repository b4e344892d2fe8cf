"""Output schemas of the tools, for the values that `interfaces.plain` makes."""

from __future__ import annotations

from pydantic import BaseModel

from answerable.interfaces.http.schemas import CheckedAnswer, FoundOut, Place, StoredOut, output

SearchOutput = FoundOut
AnswerOutput = CheckedAnswer


class PassageOutput(Place):
    """A passage that contains the requested span, with its neighbours."""

    content: str
    document_characters: int


class Failed(BaseModel):
    """A source that couldn't be added, or only in part, and why."""

    source: str
    code: str
    error: str


class Skipped(BaseModel):
    """A file that was skipped, and why."""

    source: str
    reason: str


AddedOutput = output(
    "AddedOutput",
    "The outcome of adding: documents by outcome, passages, skipped files by reason and name, failures, warnings.",
    **dict.fromkeys(("added", "changed", "moved", "unchanged", "removed", "kept", "chunks"), int),
    skipped=dict[str, int],
    passed_over=list[Skipped],
    failed=list[Failed],
    warnings=list[Failed],
    seconds=float,
)
DocumentsOutput = output(
    "DocumentsOutput",
    "A page of the list of documents; `total` counts all matches.",
    **dict.fromkeys(("total", "offset"), int),
    documents=list[StoredOut],
)
RemovedOutput = output("RemovedOutput", "The removed document.", removed=str)
