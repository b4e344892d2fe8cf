"""What flows through the engine: Document → Chunk → RetrievalResult → Answer with its Citations.

Everything here is frozen and slotted and imports nothing of ours. Offsets count characters (code points) of
`Document.content`, start inclusive, end exclusive, as Python slices do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Quoted, so that reading files does not import NumPy, which doubles the start-up time.
FloatArray: TypeAlias = "npt.NDArray[np.float32]"
Span: TypeAlias = tuple[int, int]


class DocumentType(str, Enum):
    """What a document was before it became text."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    CHAT = "chat"
    DOCX = "docx"
    EPUB = "epub"
    CODE = "code"
    RECORDS = "records"

    def __str__(self) -> str:
        return self.value


class PartKind(str, Enum):
    """What a part of a document is: where it stands follows from its other fields."""

    PAGE = "page"
    SECTION = "section"
    MESSAGE = "message"
    NOTICE = "notice"
    SYMBOL = "symbol"
    RECORD = "record"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Part:
    """A span of a document that has a place of its own: a page, a section, a chat message, a function, a table's row.

    Parts are in order and do not overlap. `page` counts from 1; `headings` is the path from the title down;
    `time` is a naive local time; `sender` is None for the notices of the messenger itself. `body` is where a
    message's own text begins, after its header and "<Media omitted>". `symbol` is the dotted path of a function or
    class; code that stands outside of any has none. What no part of a PDF covers is its furniture: running heads,
    footers and page numbers. `cells` are where the cells of a row of a PDF's table begin.
    """

    start: int
    end: int
    kind: PartKind
    page: int | None = None
    headings: tuple[str, ...] = ()
    anchor: str | None = None
    time: datetime | None = None
    sender: str | None = None
    body: int | None = None
    symbol: str | None = None
    cells: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its origin. `content` is what every offset and quote refers to.

    `source` is where it comes from (a path, `archive.zip!/member`, an address; empty for a text that was handed
    over). `id` follows from source and content unless it was given. `parts` describe places in the content; a
    document that comes back from a store with a search result carries none, its chunks carry theirs.
    """

    id: str
    content: str
    source: str = ""
    title: str = ""
    type: DocumentType = DocumentType.TEXT
    language: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()

    @classmethod
    def from_text(cls, text: str, doc_id: str | None = None, **metadata: Any) -> Document:
        """A document from a string. `title`, `source`, `language` and `type` are taken from the metadata.

        Raises ValueError when `type` isn't a DocumentType or the text holds lone surrogates.
        """
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(
                f"the text holds a lone surrogate at character {error.start}: "
                "decode it as UTF-8 with errors='replace' first"
            ) from error
        title = str(metadata.pop("title", "") or "")
        source = str(metadata.pop("source", "") or "")
        language = str(metadata.pop("language", "") or "")
        kind = DocumentType(metadata.pop("type", DocumentType.TEXT))
        return cls(
            id=doc_id or document_id(source, text),
            content=text,
            source=source,
            title=title,
            type=kind,
            language=language,
            metadata=metadata,
        )

    @property
    def content_hash(self) -> str:
        """SHA-256 of the content and of what changes how it is split and indexed, in hexadecimal."""
        digest = sha256(self.content.encode("utf-8"))
        digest.update(repr((self.title, str(self.type), sorted(self.metadata.items(), key=str))).encode("utf-8"))
        return digest.hexdigest()


def document_id(source: str, content: str) -> str:
    """The id of a document, the same in every process: 32 hexadecimal digits of SHA-256 over origin and content."""
    return sha256(f"{source}\0{content}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Location:
    """Where a span stands, as a person would say it. Pages and lines count from 1 and include both ends.

    `lines` are those of the source, None where the content was rendered from something else (HTML, e-books).
    """

    lines: tuple[int, int] | None
    pages: tuple[int, int] | None = None
    headings: tuple[str, ...] = ()
    anchor: str | None = None
    times: tuple[datetime, datetime] | None = None
    senders: tuple[str, ...] = ()
    symbol: str | None = None

    def __str__(self) -> str:
        """The place in a few words: `page 3, Setup`, `2024-03-05 21:15, Ana`, `Guide › Setup, line 4`, `f, line 7`."""
        if self.pages:
            return ", ".join(step for step in (_range("page", *self.pages), " › ".join(self.headings)) if step)
        if self.times:
            first, last = (f"{time:%Y-%m-%d %H:%M}" for time in self.times)
            when = first if first == last else f"{first} to {last}"
            return ", ".join((when, *self.senders[:3], *(["…"] if len(self.senders) > 3 else [])))
        lines = _range("line", *self.lines) if self.lines else ""
        return ", ".join(step for step in (" › ".join(self.headings), self.symbol, lines) if step)


def _range(unit: str, first: int, last: int) -> str:
    return f"{unit} {first}" if first == last else f"{unit}s {first}-{last}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document: `document.content[start:end] == content`, always.

    `context` is a short line (title › headings, or chat and date) that is indexed with the content but is no part
    of it. `parts` are the document's parts that this chunk touches.
    """

    id: str
    document_id: str
    content: str
    start: int
    end: int
    sequence: int
    location: Location
    context: str = ""
    parts: tuple[Part, ...] = ()


def chunk_id(document: str, start: int, content: str) -> str:
    """The id of a chunk: 32 hexadecimal digits of SHA-256 over document id, offset and content."""
    return sha256(f"{document}\0{start}\0{content}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A chunk that may hold the answer. A higher score is better; scores compare within one search only.

    `meaning_rank` and `keyword_rank` are its places, from 1, in the two searches whose scores were fused; None where
    it wasn't among the candidates.
    """

    chunk: Chunk
    score: float
    document: Document
    meaning_rank: int | None = None
    keyword_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A quote and its exact place: `document.content[start:end] == quote`, checked when the answer was made."""

    quote: str
    document_id: str
    source: str
    title: str
    start: int
    end: int
    location: Location
    link: str


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The filter that a question asks for by naming a person or a time: messages of these senders, in these periods.

    Of chats only: when a book was printed isn't when something in it happened. Ends of periods are exclusive; one that
    begins or ends with the calendar is open there. `applied` is False where nothing under the filter answers, so that
    everything was searched.
    """

    senders: tuple[str, ...] = ()
    periods: tuple[tuple[datetime, datetime], ...] = ()
    applied: bool = True

    @property
    def where(self) -> dict[str, Any]:
        """The filter as `answerable.filters` spells it."""
        conditions: list[dict[str, Any]] = [{"type": str(DocumentType.CHAT)}]
        if self.senders:
            conditions.append({"sender": list(self.senders)})
        if self.periods:
            conditions.append({"or": [{"date": _bounds(start, end)} for start, end in self.periods]})
        return {"and": conditions}

    def __str__(self) -> str:
        """In a few words: `Ana, Ben, 2023-03-01 to 2023-03-31`."""
        return ", ".join([*self.senders, *(_days(start, end) for start, end in self.periods)])


def _bounds(start: datetime, end: datetime) -> dict[str, datetime]:
    return {
        **({"gte": start} if start > datetime.min else {}),
        **({"lt": end} if end < datetime.max else {}),
    }


def _days(start: datetime, end: datetime) -> str:
    first, last = f"{start:%Y-%m-%d}", f"{end - timedelta(microseconds=1):%Y-%m-%d}"
    if end == datetime.max:
        return f"since {first}"
    if start == datetime.min:
        return f"until {last}"
    return first if first == last else f"{first} to {last}"


class Reason(str, Enum):
    """Why an answer is as it is."""

    ANSWERED = "answered"
    EMPTY_LIBRARY = "empty library"
    NOTHING_FOUND = "nothing found"
    WEAK_EVIDENCE = "weak evidence"
    UNSUPPORTED = "nothing that the model wrote stood the check"
    MODEL_REFUSED = "the model found no answer"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls of a model cost, as the provider counts; `cost` in US dollars where the model's price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(known) if known else None,
        )


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """A sentence of a model's draft, what the check found (`supported`, `unsupported`, …) and how."""

    text: str
    support: str
    how: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question that was asked, what was searched for, and the text of the answer."""

    question: str
    searched: str
    answer: str


class SearchResults(list[RetrievalResult]):
    """Passages, best first, and the filter that the question implies, if any."""

    __slots__ = ("narrowing",)

    def __init__(self, results: Iterable[RetrievalResult] = (), narrowing: Narrowing | None = None) -> None:
        super().__init__(results)
        self.narrowing = narrowing


@dataclass(frozen=True, slots=True)
class Answer:
    """What the documents say, or that they don't. `text` marks each claim with `[n]`, the n-th of `citations`.

    `question` is what was searched for. `timings` are seconds of wall time per step. Of a model's answer, `model` is
    its name, `draft` what it wrote, `checks` what became of each sentence, `usage` what it cost; `problem` says why
    there is no written answer where there should be one or, where there are `checks`, why it may lack its end.
    `narrowing` is the filter that the question asks for, if any.
    """

    question: str
    text: str
    answered: bool
    reason: Reason
    language: str
    confidence: float
    citations: tuple[Citation, ...] = ()
    results: tuple[RetrievalResult, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    model: str = ""
    draft: str = ""
    checks: tuple[SentenceCheck, ...] = ()
    usage: Usage | None = None
    problem: str = ""
    narrowing: Narrowing | None = None


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """What happens while a question is answered; one of the fields is set.

    `searched` comes first: the question as it is searched for. `text` is a piece of a model's draft, as it comes.
    `mark` is a number `[n]` in the draft, whole now, with the passage that it points to. `answer` comes last: the
    draft checked, or the quotes, or a refusal.
    """

    searched: str = ""
    text: str = ""
    mark: tuple[int, RetrievalResult] | None = None
    answer: Answer | None = None
