"""Request bodies, validated, and the schemas of responses. `interfaces.plain` makes the responses themselves."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, create_model

LONGEST_QUESTION = 4_000
LONGEST_SELECTION = 20_000


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty: ask something")
    return text


Question = Annotated[
    str,
    Field(max_length=LONGEST_QUESTION, min_length=1, examples=["When is the library open on Sundays?"]),
    AfterValidator(_not_blank),
]
Where = Annotated[
    Optional[dict[str, JsonValue]],
    Field(description="A filter on passages.", examples=[{"type": "pdf", "page": {"gte": 3}}]),
]


class Sent(BaseModel):
    """A request body; unknown fields are refused, since they are misspellings."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Hint(Sent):
    """The span of text that a question is about."""

    document_id: str = Field(max_length=200)
    start: int = Field(ge=0, description="In characters of the document's content.")
    end: int = Field(gt=0)


class AskBody(Sent):
    """A question."""

    question: Question
    where: Where = None
    session: Optional[str] = Field(None, max_length=64, description="Continues this conversation.")
    selected_text: str = Field("", max_length=LONGEST_SELECTION, description="The text that the question is about.")
    hint: Optional[Hint] = None
    keep: bool = Field(True, description="Whether to save the turn in a session.")


class SearchBody(Sent):
    """A search."""

    question: Question
    k: int = Field(10, ge=1, le=100, description="Number of passages.")
    where: Where = None


class ExamplesBody(Sent):
    """The language of the example documents."""

    language: Literal["en", "es", "pt"] = "en"


class SiteBody(Sent):
    """A site, part of a site or page to add or update."""

    url: str = Field(max_length=2_000, pattern=r"^[hH][tT][tT][pP][sS]?://\S+$", examples=["https://example.org/docs/"])


class ProblemOut(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["urn:answerable:problem:document_not_found"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(description="What happened and what to do next.")
    code: str = Field(description="A stable code for programs.", examples=["document_not_found"])
    errors: list[dict[str, str]] = Field([], description="Invalid fields of the request: where, and why.")


class Place(BaseModel):
    """A span of a document and its location for people. Optional fields are present if known."""

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
    web_address: str = Field(description="Where a saved page comes from, as the page says; empty for others.")
    answer: Optional[tuple[int, int]] = Field(None, description="The span that answers, in characters of the document.")


class PassageOut(Place):
    """A passage found. Within one search a higher score is better."""

    score: float
    content: str
    meaning_rank: Optional[int] = Field(None, description="Its rank by meaning.")
    keyword_rank: Optional[int] = Field(None, description="Its rank by words.")


class ScopeOut(BaseModel):
    """The part of the library searched (section, document or library), and the selected span."""

    kind: str
    section: list[str]
    document_id: Optional[str]
    start: Optional[int]
    end: Optional[int]


class PeriodOut(BaseModel):
    """From `since` until before `before`, as ISO 8601; null is open."""

    since: Optional[str]
    before: Optional[str]


class NarrowingOut(BaseModel):
    """The people and times that a question names; `applied` is false if nothing relevant was found there."""

    senders: list[str]
    periods: list[PeriodOut]
    applied: bool


class UsageOut(BaseModel):
    """The cost of the model's calls; `cost` in US dollars, null if the price is unknown."""

    input_tokens: int
    output_tokens: int
    cost: Optional[float]


class CheckedAnswer(BaseModel):
    """An answer whose marks `[n]` refer to the n-th citation, or a refusal with its reason."""

    question: str = Field(description="The question as it was searched.")
    answered: bool
    text: str
    reason: str = Field(examples=["answered", "weak evidence"])
    confidence: float = Field(ge=0, le=1)
    language: str
    narrowing: Optional[NarrowingOut]
    citations: list[CitationOut]
    timings: dict[str, float] = Field(description="Seconds per step.")
    model: str = ""
    usage: Optional[UsageOut] = None
    problem: str = ""


class AnswerOut(CheckedAnswer):
    """An answer whose marks `[n]` refer to the n-th citation, or a refusal, with the evidence."""

    passages: list[PassageOut] = Field(description="The passages the answer could use, best first.")
    scope: Optional[ScopeOut]
    session: Optional[str] = Field(description="The conversation, for the next question.")
    draft: str = Field("", description="The model's text before it was checked.")
    checks: list[dict[str, str]] = []


class StoredOut(BaseModel):
    """A document of a library."""

    document_id: str
    source: str
    title: str
    type: str
    language: str
    chunks: int
    characters: int


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


class SuggestionOut(BaseModel):
    """A question that the library answers from this document."""

    question: str = Field(examples=["What should I know about late returns?"])
    document_id: str
    source: str
    title: str
    language: str


class HeadingOut(BaseModel):
    """A heading of a document, or a name in code; `level` counts from 0."""

    title: str
    level: int
    start: int
    end: int
    page: Optional[int]


class TableOut(BaseModel):
    """A table of a document: the first of its rows, how many there are, and its span."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    total_rows: int
    start: int
    end: int


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


class SessionOut(BaseModel):
    """A conversation; its title is the first question."""

    session: str
    title: str
    turns: int
    made: float
    used: float


class TurnOut(BaseModel):
    """A question and its answer."""

    asked: float
    question: str
    answer: AnswerOut


class LibraryOut(BaseModel):
    """A library the caller may use."""

    name: str
    default: bool
    may_change: bool


def output(name: str, about: str, **members: Any) -> type[BaseModel]:
    """Return a model whose members are all required."""
    fields: dict[str, Any] = {member: (kind, ...) for member, kind in members.items()}
    return create_model(name, __doc__=about, **fields)


FoundOut = output("FoundOut", "Search results, best first.", results=list[PassageOut], narrowing=Optional[NarrowingOut])
DocumentsOut = output("DocumentsOut", "A library's documents by source.", documents=list[StoredOut], total=int)
PassagesOut = output("PassagesOut", "Passages of a document in order.", document_id=str, passages=list[dict[str, Any]])
RectanglesOut = output(
    "RectanglesOut",
    "The lines of a span on a PDF's pages, in points from the page's lower left corner; on a picture, in fractions of "
    "its size.",
    rectangles=list[dict[str, float]],
)
JobsOut = output("JobsOut", "A library's jobs, latest first.", jobs=list[JobOut])
SessionsOut = output("SessionsOut", "The caller's conversations, latest first.", sessions=list[SessionOut])
TurnsOut = output("TurnsOut", "A conversation, oldest turn first.", session=str, turns=list[TurnOut])
LibrariesOut = output("LibrariesOut", "The libraries the caller may use.", libraries=list[LibraryOut])
StatsOut = output(
    "StatsOut",
    "The size of a library.",
    **dict.fromkeys(("documents", "chunks", "characters"), int),
    **dict.fromkeys(("languages", "types"), dict[str, int]),
    embedder=Optional[str],
)
OverviewOut = output(
    "OverviewOut",
    "A sentence of a few documents, and questions that the library answers. Ask again until it is `complete`.",
    complete=bool,
    extracts=list[CitationOut],
    questions=list[SuggestionOut],
)
DocumentOverviewOut = output(
    "DocumentOverviewOut",
    "What a document holds. `statistics` are those of a chat.",
    **dict.fromkeys(("document_id", "source", "title", "type", "language", "web_address"), str),
    **dict.fromkeys(("chunks", "characters", "pages"), int),
    extracts=list[CitationOut],
    outline=list[HeadingOut],
    tables=list[TableOut],
    statistics=Optional[dict[str, Any]],
)
StatusOut = output("StatusOut", "The server's state.", status=str)
