"""What clients send, checked, and what they get, described. What is sent out is made in `plain.py`, once for all."""

from __future__ import annotations

from typing import Annotated, Any, Optional

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

LONGEST_QUESTION = 4_000
LONGEST_SELECTION = 20_000


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty: ask something")
    return text


Question = Annotated[
    str,
    Field(max_length=LONGEST_QUESTION, min_length=1, examples=["When is the library open on Sundays?"]),
    AfterValidator(_said),
]
Where = Annotated[
    Optional[dict[str, JsonValue]],
    Field(description="A filter on what passages are about.", examples=[{"type": "pdf", "page": {"gte": 3}}]),
]


class Sent(BaseModel):
    """A body; what isn't known is refused, since it is a misspelling."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Hint(Sent):
    """Where the text stands that a question is about."""

    document_id: str = Field(max_length=200)
    start: int = Field(ge=0, description="In characters of the document's content.")
    end: int = Field(gt=0)


class AskBody(Sent):
    """A question."""

    question: Question
    where: Where = None
    session: Optional[str] = Field(None, max_length=64, description="Continues this conversation.")
    selected_text: str = Field("", max_length=LONGEST_SELECTION, description="A text that the question is about.")
    hint: Optional[Hint] = None
    keep: bool = Field(True, description="Whether the question and its answer become a turn of a session.")


class SearchBody(Sent):
    """What to look for."""

    question: Question
    k: int = Field(10, ge=1, le=100, description="How many passages.")
    where: Where = None


class SiteBody(Sent):
    """A site, a part of one or a page to add, or to bring up to date."""

    url: str = Field(max_length=2_000, pattern=r"^[hH][tT][tT][pP][sS]?://\S+$", examples=["https://example.org/docs/"])


class ProblemOut(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(examples=["urn:answerable:problem:document_not_found"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(description="What happened and what to do next.")
    code: str = Field(description="For programs; it stays the same.", examples=["document_not_found"])
    errors: list[dict[str, str]] = Field([], description="Of an invalid request: where, and what is wrong.")


class Place(BaseModel):
    """A span of a document, and where that is for people. Other fields are there where they are known."""

    source: str
    title: str
    document_id: str
    start: int
    end: int
    location: str = Field(examples=["page 3, Opening hours"])
    lines: Optional[tuple[int, int]] = None
    pages: Optional[tuple[int, int]] = None
    headings: list[str] = []
    anchor: Optional[str] = None
    times: Optional[tuple[str, str]] = None
    senders: list[str] = []
    symbol: Optional[str] = None


class CitationOut(Place):
    """A quote: `content[start:end]` of its document, word for word."""

    quote: str
    link: str


class PassageOut(Place):
    """A passage that was found. A higher score is better, within one search."""

    score: float
    content: str
    meaning_rank: Optional[int] = Field(None, description="Its place among the passages that are alike in meaning.")
    keyword_rank: Optional[int] = Field(None, description="Its place among those that share the question's words.")


class ScopeOut(BaseModel):
    """Which part of the library the answer comes from: section, document or library; and what had been selected."""

    kind: str
    section: list[str]
    document_id: Optional[str]
    start: Optional[int]
    end: Optional[int]


class AnswerOut(BaseModel):
    """What the documents say, each claim marked `[n]` for the n-th citation, or that they don't say."""

    question: str = Field(description="What was searched for.")
    answered: bool
    text: str
    reason: str = Field(examples=["answered", "weak evidence"])
    confidence: float
    language: str
    narrowing: Optional[dict[str, Any]]
    citations: list[CitationOut]
    timings: dict[str, float]
    passages: list[PassageOut] = Field(description="All that the answer could rest on, best first.")
    scope: Optional[ScopeOut]
    session: Optional[str] = Field(description="To ask on.")
    model: str = ""
    draft: str = Field("", description="What a model wrote before it was checked.")
    checks: list[dict[str, str]] = []
    usage: Optional[dict[str, Any]] = None
    problem: str = ""


class FoundOut(BaseModel):
    """What a search found, best first."""

    results: list[PassageOut]
    narrowing: Optional[dict[str, Any]]


class StoredOut(BaseModel):
    """A document of a library."""

    document_id: str
    source: str
    title: str
    type: str
    language: str
    chunks: int
    characters: int


class DocumentsOut(BaseModel):
    """A library's documents by source."""

    documents: list[StoredOut]
    total: int


class DocumentOut(BaseModel):
    """A document with its text, the spans of its passages, and its parts: pages, sections, messages, …"""

    document_id: str
    source: str
    title: str
    type: str
    language: str
    metadata: dict[str, Any]
    statistics: Optional[dict[str, Any]] = None
    chunks: list[dict[str, Any]]
    parts: list[dict[str, Any]]
    content: str


class PassagesOut(BaseModel):
    """Passages of a document in order."""

    document_id: str
    passages: list[dict[str, Any]]


class RectanglesOut(BaseModel):
    """Where a span stands on a PDF's pages: in points, from the page's lower left corner, one for each line."""

    rectangles: list[dict[str, float]]


class JobOut(BaseModel):
    """An ingestion. Times are seconds since 1970."""

    job_id: str
    library: str
    sources: list[str]
    state: str = Field(examples=["waiting", "running", "done", "failed", "cancelled"])
    progress: Optional[dict[str, Any]]
    report: dict[str, Any]
    error: Optional[ProblemOut]
    made: float
    started: Optional[float]
    ended: Optional[float]


class JobsOut(BaseModel):
    """A library's jobs, the latest first."""

    jobs: list[JobOut]


class SessionOut(BaseModel):
    """A conversation; its title is the first question."""

    session: str
    title: str
    turns: int
    made: float
    used: float


class SessionsOut(BaseModel):
    """The caller's conversations, the latest first."""

    sessions: list[SessionOut]


class TurnOut(BaseModel):
    """A question and its answer."""

    asked: float
    question: str
    answer: AnswerOut


class TurnsOut(BaseModel):
    """A conversation, oldest turn first."""

    session: str
    turns: list[TurnOut]


class LibraryOut(BaseModel):
    """A library that the caller may use."""

    name: str
    default: bool
    may_change: bool


class LibrariesOut(BaseModel):
    """What the caller may use, the default first."""

    libraries: list[LibraryOut]


class StatsOut(BaseModel):
    """What a library holds."""

    documents: int
    chunks: int
    characters: int
    languages: dict[str, int]
    types: dict[str, int]
    embedder: Optional[str]


class StatusOut(BaseModel):
    """How the server is."""

    status: str
