"""The shapes of what tools give, published as their output schemas: what `interfaces.plain` makes, field by field."""

from __future__ import annotations

from typing import Optional

from pydantic import BaseModel, Field

from answerable.interfaces.http.models import CitationOut, FoundOut, Place, StoredOut

SearchOutput = FoundOut


class Period(BaseModel):
    """From `since` to before `before`, as ISO 8601; open where it is null."""

    since: Optional[str]
    before: Optional[str]


class NarrowedTo(BaseModel):
    """The people and times that a question names; not applied where they have nothing on it."""

    senders: list[str]
    periods: list[Period]
    applied: bool


class Spent(BaseModel):
    """What the model's calls cost; `cost` in US dollars, null where the price isn't known."""

    input_tokens: int
    output_tokens: int
    cost: Optional[float]


class AnswerOutput(BaseModel):
    """An answer, whose marks [n] are the n-th of `citations`, or a refusal with its reason."""

    question: str = Field(description="What was searched for.")
    answered: bool
    text: str
    reason: str
    confidence: float = Field(ge=0, le=1)
    language: str
    narrowing: Optional[NarrowedTo]
    citations: list[CitationOut]
    timings: dict[str, float] = Field(description="Seconds for each step.")
    model: str = ""
    usage: Optional[Spent] = None
    problem: str = ""


class DocumentsOutput(BaseModel):
    """A page of the list of documents; `total` counts all that match."""

    total: int
    offset: int
    documents: list[StoredOut]


class PassageOutput(Place):
    """A span of a document's text that holds the one that was asked for, with what stands around it."""

    content: str
    document_characters: int


class Failed(BaseModel):
    """A source that couldn't be added, and why."""

    source: str
    code: str
    error: str


class UnreadOutput(BaseModel):
    """A file that wasn't read, and why not."""

    source: str
    reason: str


class AddedOutput(BaseModel):
    """What adding did: documents by outcome, their passages, what was passed over by reason and name, what failed."""

    added: int
    changed: int
    moved: int
    unchanged: int
    removed: int
    kept: int
    chunks: int
    skipped: dict[str, int]
    passed_over: list[UnreadOutput]
    failed: list[Failed]
    seconds: float


class RemovedOutput(BaseModel):
    """The document that is gone."""

    removed: str
