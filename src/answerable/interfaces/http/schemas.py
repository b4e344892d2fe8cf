"""The schemas of responses; `interfaces.plain` makes the responses themselves."""

from __future__ import annotations

from typing import Any, Optional

from pydantic import BaseModel, Field, create_model

from answerable.datatypes import Usage
from answerable.interfaces.http.bodies import Where
from answerable.left_out import LeftOut
from answerable.wiring.providers import Provider, Sending


class ProblemOut(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["urn:answerable:problem:document_not_found"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(description="What happened and what to do next.")
    code: str = Field(description="A stable code for programs.", examples=["document_not_found"])
    errors: list[dict[str, str]] = Field([], description="Invalid fields of the request: where, and why.")


class Spot(BaseModel):
    """A span of a known document and its location for people. Optional fields are present if known."""

    start: int
    end: int
    location: str = Field(examples=["page 3, Opening hours"])
    lines: tuple[int, int] | None = None
    pages: tuple[int, int] | None = None
    headings: list[str] = []
    anchor: str | None = None
    times: tuple[str, str] | None = None
    senders: list[str] = []
    symbol: str | None = None


class Place(Spot):
    """A span of a document and its location for people."""

    source: str
    title: str
    type: str = "text"
    document_id: str


class CitationOut(Place):
    """A quote: `content[start:end]` of its document, word for word."""

    quote: str
    link: str
    web_address: str = Field(description="Where a saved page comes from, as the page says; empty for others.")
    answer: tuple[int, int] | None = Field(None, description="The span that answers, in characters of the document.")
    library: str = Field("", description="The document's library, where several are asked.")
    other_places: int = Field(0, description="The number of other places searched that have the same quote.")


class NearestOut(Spot):
    """The sentence of a passage that comes nearest to a question, and the question's words that the passage has."""

    text: str
    present: list[str]
    missing: list[str]
    language: str = Field(description="Of the document; empty if unknown.")


class PassageOut(Place):
    """A passage found. Within one search a higher score is better."""

    score: float
    content: str
    meaning_rank: int | None = Field(None, description="Its rank by meaning.")
    keyword_rank: int | None = Field(None, description="Its rank by words.")
    nearest: NearestOut | None = Field(None, description="Of a refusal: why the passage isn't enough.")
    library: str = Field("", description="The document's library, where several are asked.")
    other_places: int = Field(0, description="The number of other places searched that have the same text.")


class ScopeOut(BaseModel):
    """The part of the library searched (section, document or library), and the selected span."""

    kind: str
    section: list[str]
    document_id: str | None
    start: int | None
    end: int | None


class PeriodOut(BaseModel):
    """A period from `since` to just before `before`, in ISO 8601; null means no limit."""

    since: str | None
    before: str | None


class NarrowingOut(BaseModel):
    """The people and times that a question names; `applied` is false if nothing relevant was found there."""

    senders: list[str]
    periods: list[PeriodOut]
    applied: bool


class StepOut(BaseModel):
    """A step on the way to an answer: what it was given, what it chose, and by which values and thresholds."""

    name: str = Field(examples=["decide"])
    given: dict[str, Any]
    chose: dict[str, Any]
    values: dict[str, Any] = Field(examples=[{"confidence": 0.21, "threshold": 0.34}])


class SentenceCheckOut(BaseModel):
    """A sentence of a model's answer, its mark and the reason, and the numbers of the citations that are its source."""

    text: str
    support: str = Field(examples=["verified", "check", "unsupported", "nothing claimed"])
    how: str
    citations: list[int]


class CheckedAnswer(BaseModel):
    """An answer whose marks `[n]` refer to the n-th citation, or a refusal with its reason."""

    question: str = Field(description="The question as it was searched.")
    answered: bool
    verdict: str = Field(examples=["answered", "near", "not found"])
    text: str
    reason: str = Field(examples=["answered", "weak evidence"])
    confidence: float = Field(ge=0, le=1)
    language: str
    narrowing: NarrowingOut | None
    citations: list[CitationOut]
    timings: dict[str, float] = Field(description="Seconds per step.")
    why: list[StepOut] = Field(description="The steps by which the answer came out, in order.")
    figure: str = Field("", description="What was computed, as in the text.", examples=["610.75 EUR", "3 rows"])
    model: str = ""
    usage: Usage | None = None
    problem: str = Field("", description="Why no model wrote the answer, or why its end is missing.")
    problem_code: str = Field("", description="The code of that error, or `truncated`.")
    checks: list[SentenceCheckOut] = Field([], description="The marks of a model's sentences, in order.")


class UnavailableOut(BaseModel):
    """A library, of several searched together, that couldn't be searched, and why."""

    library: str
    reason: str


class SearchedOut(BaseModel):
    """What was left out of a search or a list."""

    unavailable: list[UnavailableOut] = Field([], description="The libraries, of several, that couldn't be asked.")
    waiting: int = Field(0, description="Passages that are found by words only, until their vectors are made.")


class AnswerOut(CheckedAnswer, SearchedOut):
    """An answer whose marks `[n]` refer to the n-th citation, or a refusal, with the evidence."""

    passages: list[PassageOut] = Field(description="The passages the answer could use, best first.")
    scope: ScopeOut | None
    where: Where = Field(None, description="The filter it was asked with.")
    session: str | None = Field(description="The conversation, for the next question.")
    turn: str | None = Field(None, description="The question's place in the conversation, to vote or ask again.")


class DescribedOut(BaseModel):
    """A document; `left_out` is what of its file wasn't read."""

    document_id: str
    source: str
    title: str
    type: str
    language: str
    left_out: list[LeftOut] = []


class StoredOut(DescribedOut):
    """A document of a library."""

    chunks: int
    characters: int
    date: str = Field("", description="The day of a message; empty for other documents.")
    added: float = Field(0.0, description="When it was first added, in Unix time; 0 if that isn't known.")
    library: str = Field("", description="The document's library, where several are asked.")


class DocumentOut(DescribedOut):
    """A document with its text, the spans of its passages, and its parts: pages, sections, messages, …"""

    metadata: dict[str, Any]
    statistics: dict[str, Any] | None = None
    chunks: list[dict[str, Any]]
    parts: list[dict[str, Any]]
    content: str


class HeadingOut(BaseModel):
    """A heading of a document, or a name in code; `level` counts from 0."""

    title: str
    level: int
    start: int
    end: int
    page: int | None


class TableOut(BaseModel):
    """A table of a document: the first of its rows, how many there are, and its span."""

    title: str
    columns: list[str]
    kinds: list[str] = Field(examples=[["text", "number", "date"]])
    units: list[str | None] = Field(description="None for a column that isn't added up.")
    rows: list[list[str]]
    values: list[list[float | None]] = Field(description="Numbers, and seconds since 1970; none in a row of totals.")
    spans: list[tuple[int, int]]
    total_rows: int
    start: int
    end: int


class JobOut(BaseModel):
    """A job that adds, syncs or verifies; a verification's differences are in `result`. Times: seconds since 1970."""

    job_id: str
    library: str
    kind: str = Field(examples=["add", "sync", "verify"])
    sources: list[str]
    state: str = Field(examples=["waiting", "running", "done", "failed", "cancelled"])
    progress: dict[str, Any] | None
    report: dict[str, Any]
    result: dict[str, Any] | None
    error: ProblemOut | None
    made: float
    started: float | None
    ended: float | None


class SessionOut(BaseModel):
    """A conversation; its title is the first question, until it is renamed."""

    session: str
    title: str
    turns: int
    made: float
    used: float
    found: str = Field(description="The line that has the words searched for; empty if the title has them.")


class TurnOut(BaseModel):
    """A question and its answer."""

    turn: str
    asked: float
    question: str
    answer: AnswerOut
    vote: str | None = Field(description="What its reader said of the answer: up, down or null.")


class LibraryOut(BaseModel):
    """A library the caller may use: its name in URLs, its title for people, and what the caller may do."""

    name: str
    title: str
    default: bool
    may_change: bool
    may_remove: bool
    may_create: bool
    model: str = Field(description="The model that writes answers; `extractive` is none.")
    model_is_here: bool = Field(description="Whether the model runs on the server's machine, as far as is known.")
    together: bool = Field(description="Whether it is all libraries, asked as one.")


class ReportOut(BaseModel):
    """What the last visit of a source found: documents by outcome, and the first failures."""

    at: float
    added: int
    changed: int
    moved: int
    removed: int
    unchanged: int
    kept: int
    skipped: int
    failed: list[dict[str, str]]
    failures: int


class SourceOut(BaseModel):
    """A followed folder, file or site; `report` is null if it was last visited by another program."""

    origin: str
    options: dict[str, str]
    sources: int
    documents: int
    visited: str
    report: ReportOut | None


class SettingOut(BaseModel):
    """A setting that differs from its default: its value (null if secret), and the variable or option that sets it."""

    name: str
    value: str | None
    set_by: str | None


def output(name: str, about: str, base: type[BaseModel] = BaseModel, /, **members: Any) -> type[BaseModel]:
    """Return a model that adds these members, all required, to its base."""
    fields: dict[str, Any] = {member: (kind, ...) for member, kind in members.items()}
    return create_model(name, __base__=base, __doc__=about, **fields)


FoundOut = output(
    "FoundOut", "Search results, best first.", SearchedOut, results=list[PassageOut], narrowing=Optional[NarrowingOut]
)
DocumentsOut = output(
    "DocumentsOut", "A library's documents by source.", SearchedOut, documents=list[StoredOut], total=int
)
ChoicesOut = output(
    "ChoicesOut",
    "What a library can be filtered by: types and languages with their numbers of documents, people, days.",
    **dict.fromkeys(("types", "languages"), dict[str, int]),
    people=list[str],
    first_day=str,
    last_day=str,
)
PlacesOut = output("PlacesOut", "Where a text appears, sorted by source.", places=list[CitationOut])
PassagesOut = output("PassagesOut", "Passages of a document in order.", document_id=str, passages=list[dict[str, Any]])
RectanglesOut = output(
    "RectanglesOut",
    "The lines of a span on a PDF's pages, in points from the page's lower left corner; on a picture, in fractions of "
    "its size.",
    rectangles=list[dict[str, float]],
)
PagesOut = output(
    "PagesOut",
    "The pages of a PDF in order, in points, as they are shown; 0 for a page that can't be read.",
    pages=list[dict[str, float]],
)
JobsOut = output("JobsOut", "A library's jobs, latest first.", jobs=list[JobOut])
SessionsOut = output("SessionsOut", "The caller's conversations, latest first.", sessions=list[SessionOut])
TurnsOut = output("TurnsOut", "A conversation, oldest turn first.", session=str, title=str, turns=list[TurnOut])
LibrariesOut = output("LibrariesOut", "The libraries the caller may use.", libraries=list[LibraryOut])
StatsOut = output(
    "StatsOut",
    "The size of a library.",
    **dict.fromkeys(("documents", "chunks", "characters"), int),
    **dict.fromkeys(("languages", "types"), dict[str, int]),
    embedder=Optional[str],
)
DocumentOverviewOut = output(
    "DocumentOverviewOut",
    "What a document holds. `statistics` are those of a chat.",
    **dict.fromkeys(("document_id", "source", "title", "type", "language", "web_address"), str),
    **dict.fromkeys(("chunks", "characters", "pages"), int),
    left_out=list[LeftOut],
    extracts=list[CitationOut],
    outline=list[HeadingOut],
    tables=list[TableOut],
    statistics=Optional[dict[str, Any]],
)
StatusOut = output("StatusOut", "The server's state.", status=str)
FollowedOut = output(
    "FollowedOut",
    "What a library follows. `every`: seconds between syncs; `tried`: when the last sync of everything began.",
    sources=list[SourceOut],
    every=int,
    tried=Optional[float],
    may_follow_folders=bool,
    library_bytes=Optional[int],
    upload_bytes=int,
)
FoldersOut = output(
    "FoldersOut",
    "The folders in a folder; `parent` is null at the top.",
    path=str,
    parent=Optional[str],
    folders=list[str],
    files=int,
)
SettingsOut = output(
    "SettingsOut",
    "How answers are made. `fixed`: what sets the model, if it can't be chosen; `sending`: where questions and passages"
    " go; `offered`: the same for each model that can be chosen at once; `may_set_up`, `may_move`: whether the caller"
    " may keep keys, set addresses; `models`: an Ollama here has.",
    model=str,
    models=list[str],
    fixed=Optional[str],
    sending=Sending,
    offered=dict[str, Sending],
    may_set_up=bool,
    may_move=bool,
    grounding=str,
    reads=bool,
    embedder=str,
    providers=list[Provider],
    settings=list[SettingOut],
)
ModelsOut = output("ModelsOut", "The models that a provider's server lists.", models=list[str])
