"""The data of the engine: Document → Chunk → RetrievalResult → Answer with its Citations.

All classes are frozen and slotted; of the package, this module imports `left_out` only. Offsets count characters (code
points) of `Document.content`, start inclusive, end exclusive, like Python slices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from answerable.left_out import LeftOut, to_rows

if TYPE_CHECKING:
    import numpy.typing

# The types are quoted, so that reading files does not import NumPy, which doubles the start-up time.
FloatArray: TypeAlias = "numpy.typing.NDArray[numpy.float32]"
IntArray: TypeAlias = "numpy.typing.NDArray[numpy.int32]"
Span: TypeAlias = tuple[int, int]
Facts: TypeAlias = "Mapping[str, str | float | None]"


class Name(str, Enum):
    """An enum whose members are printed as their values."""

    __str__ = str.__str__


class DocumentType(Name):
    """The format of a document's source."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    CHAT = "chat"
    DOCX = "docx"
    ODT = "odt"
    RTF = "rtf"
    EPUB = "epub"
    CODE = "code"
    RECORDS = "records"
    NOTEBOOK = "notebook"
    RST = "rst"
    ORG = "org"
    ASCIIDOC = "asciidoc"
    LATEX = "latex"
    SUBTITLES = "subtitles"
    OUTLINE = "outline"
    MAIL = "mail"
    CALENDAR = "calendar"
    CONTACTS = "contacts"
    PICTURE = "picture"
    SPREADSHEET = "spreadsheet"
    SLIDES = "slides"
    RECORDING = "recording"


class PartKind(Name):
    """The kind of a part of a document."""

    PAGE = "page"
    SLIDE = "slide"
    CELL = "cell"
    SECTION = "section"
    MESSAGE = "message"
    NOTICE = "notice"
    SYMBOL = "symbol"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class Part:
    """A span of a document with a place of its own: a page, section, chat message, function, or table row.

    Parts are in order and do not overlap. `page` counts pages, slides or the cells of a notebook from 1; `headings` is
    the path from the title down; `time` is naive local time; `sender` is None for the messenger's notices. `body` is
    the offset of a message's text after its header and "<Media omitted>", of a section's text after its heading, or of
    a notebook's code or output after its fence. `symbol` is the dotted path of a function or class; code outside of
    both has none. `cells` are the offsets of the cells in a row of a PDF table. `place` is the document's own name of
    the part (`Costs!A2:F2`). `seconds` is the part's start in a recording or, for a message, in the preceding voice
    note. `box` is left, top, right and bottom of a line in a picture, as fractions of its size. No part covers running
    heads, footers and page numbers (PDF), or comments, preambles and directives (markup).
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
    place: str | None = None
    seconds: float | None = None
    box: tuple[float, float, float, float] | None = None

    @property
    def is_heard(self) -> bool:
        """Whether the part is a transcribed line of a voice note, which is not in the chat's file."""
        return self.kind is PartKind.MESSAGE and self.seconds is not None


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its origin. All offsets and quotes refer to `content`.

    `source` is a path, `archive.zip!/member` or a URL; "" for a text passed directly. By default, `id` is derived from
    source and content. `parts` are spans of the content; in a search result only its chunks have parts. `library` names
    its library if several are queried, `left_out` what wasn't read, `added` the Unix time of its first version, or 0.
    """

    id: str
    content: str
    source: str = ""
    title: str = ""
    type: DocumentType = DocumentType.TEXT
    language: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    library: str = ""
    left_out: tuple[LeftOut, ...] = ()
    added: float = field(default=0.0, compare=False)

    @classmethod
    def from_text(cls, text: str, doc_id: str | None = None, **metadata: Any) -> Document:
        """Return a document for a string, with `title`, `source`, `language` and `type` from the metadata.

        Raises ValueError if `type` is not a DocumentType or the text has lone surrogates.
        """
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"lone surrogate at character {error.start}: decode it with errors='replace'") from error
        source, title, language = (str(metadata.pop(name, "") or "") for name in ("source", "title", "language"))
        kind = DocumentType(metadata.pop("type", DocumentType.TEXT))
        return cls(doc_id or document_id(source, text), text, source, title, kind, language, metadata)

    @property
    def content_hash(self) -> str:
        """SHA-256, in hexadecimal, of the content, what is left out, and all that affects splitting and indexing."""
        described = (self.title, str(self.type), sorted(self.metadata.items(), key=str), *to_rows(self.left_out))
        return sha256(self.content.encode("utf-8") + repr(described).encode("utf-8")).hexdigest()


def document_id(source: str, content: str) -> str:
    """Return a document's id, stable across processes: 32 hexadecimal digits of SHA-256 of source and content."""
    return sha256(f"{source}\0{content}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Location:
    """The location of a span, for display. Pages and lines count from 1, both ends included.

    `lines` are lines of the source; None if the content was rendered from another format (HTML, e-books). `pages` are
    pages, slides or a notebook's cells, as `unit` says. `place` is the document's own name of the location. In a
    recording, `seconds` are the times at which the first and the last sentence of the span begin.
    """

    lines: tuple[int, int] | None
    pages: tuple[int, int] | None = None
    headings: tuple[str, ...] = ()
    anchor: str | None = None
    times: tuple[datetime, datetime] | None = None
    senders: tuple[str, ...] = ()
    symbol: str | None = None
    unit: PartKind = PartKind.PAGE
    place: str | None = None
    seconds: tuple[float, float] | None = None

    def __str__(self) -> str:
        """Return a short description: `page 3, Setup`, `2024-03-05 21:15, Ana`, `Guide › Setup, line 4`."""
        return self.said({})

    def said(self, words: Mapping[str, str]) -> str:
        """Return a short description in another language; `words` maps "to", "line" and units to its words."""
        until = f" {words.get('to', 'to')} "
        moments = until.join(dict.fromkeys(map(clock, self.seconds))) if self.seconds else ""
        if self.times:
            when = until.join(dict.fromkeys(f"{time:%Y-%m-%d %H:%M}" for time in self.times))
            more = ["…"] if len(self.senders) > 3 else []
            return ", ".join(filter(None, (when, *self.senders[:3], *more, self.place, moments)))
        if self.place:
            return self.place
        if self.pages or moments:
            pages = _range(words.get(self.unit, self.unit), *self.pages) if self.pages else ""
            return ", ".join(filter(None, (moments, pages, " › ".join(self.headings))))
        lines = _range(words.get("line", "line"), *self.lines) if self.lines else ""
        return ", ".join(step for step in (" › ".join(self.headings), self.symbol, lines) if step)


def clock(seconds: float) -> str:
    """Return a time in a recording as `0:42` or `1:02:03`."""
    hours, minutes, rest = int(seconds) // 3600, int(seconds) // 60 % 60, int(seconds) % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _range(unit: str, first: int, last: int) -> str:
    return f"{unit} {first}" if first == last else f"{unit}s {first}-{last}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document: `document.content[start:end] == content`, always.

    `context` is a short line (title › headings, or chat and date) that is indexed with the content but not part of it.
    `parts` are the document's parts that overlap the chunk.
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
    """Return a chunk's id: 32 hexadecimal digits of SHA-256 of document id, offset and content."""
    return sha256(f"{document}\0{start}\0{content}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A chunk that may contain the answer. Higher scores are better; they are comparable only within one search.

    `meaning_rank` and `keyword_rank` are the chunk's ranks, from 1, in the two fused searches; None if it was not a
    candidate. `other_places` is the number of other chunks that pass the search's filter and have the same text.
    """

    chunk: Chunk
    score: float
    document: Document
    meaning_rank: int | None = None
    keyword_rank: int | None = None
    other_places: int = 0


@dataclass(frozen=True, slots=True)
class Citation:
    """A quote and its exact place: `document.content[start:end] == quote`, checked when the answer is made.

    `answer` is the span of the document, within the quote, that answers the question; None if no reader model is sure.
    `web_address` is a saved page's web address, `library` the document's, `other_places` the count of further places.
    """

    quote: str
    document_id: str
    source: str
    title: str
    start: int
    end: int
    location: Location
    link: str
    answer: Span | None = None
    web_address: str = ""
    library: str = ""
    other_places: int = 0
    type: DocumentType = DocumentType.TEXT


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The filter implied by a question that names a person or a time: messages of these senders, in these periods.

    A time without a person leaves out messages of other times, but no other documents. Ends of periods are exclusive;
    `datetime.min` and `datetime.max` are open. If `applied` is false, these didn't answer, and all was searched.
    """

    senders: tuple[str, ...] = ()
    periods: tuple[tuple[datetime, datetime], ...] = ()
    applied: bool = True


class Reason(Name):
    """The reason for an answer or a refusal."""

    ANSWERED = "answered"
    PARTLY = "the documents answer a part of it"
    EMPTY_LIBRARY = "empty library"
    NOTHING_FOUND = "nothing found"
    NEAR = "only something near it was found"
    WEAK_EVIDENCE = "weak evidence"
    UNCLEAR = "it isn't clear what to compute"
    UNSUPPORTED = "nothing that the model wrote stood the check"
    MODEL_REFUSED = "the model found no answer"
    OWN_WORDS = "the model's own words, without a source in the documents"
    SMALL_TALK = "a greeting, or a question about the program"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of model calls as the provider counts them; `cost` in US dollars if the price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        tokens = self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        return Usage(*tokens, sum(known) if known else None)


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """A sentence of a model, its mark and the reason (see `checking.marks`), and its citations' numbers, from 1."""

    text: str
    support: str
    how: str
    citations: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question, the text that was searched for, and the text of the answer."""

    question: str
    searched: str
    answer: str


@dataclass(frozen=True, slots=True)
class Step:
    """A step on the way to an answer: its input, its choice, and the values that decided.

    A deciding value is stored together with its threshold. All are JSON values; empty and unknown ones are left out.
    """

    name: str
    given: Mapping[str, str | float]
    chose: Mapping[str, str | float]
    values: Mapping[str, str | float]

    @classmethod
    def of(cls, name: str, given: Facts | None = None, chose: Facts | None = None, values: Facts | None = None) -> Step:
        """Return a step without empty and unknown values; numbers have few decimals."""
        return cls(name, *map(_known, (given, chose, values)))


def _known(facts: Facts | None) -> dict[str, str | float]:
    known = {name: value for name, value in (facts or {}).items() if value is not None and value != ""}
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in known.items()}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer from the documents, or a refusal. `[n]` in `text` marks a claim and refers to the n-th citation.

    `text` is verbatim what was quoted or what a model wrote: render it safely. `question` is the text that was searched
    for. `timings` are seconds per step. If a model wrote it: `model` is its name, `checks` are the marks of its
    sentences, `usage` is the cost. `problem` is why no model wrote it or, with `checks`, why its end may be missing;
    `problem_code` is its code (`errors.error_code`), or `truncated`. `unavailable` maps failed libraries to the reason,
    `waiting` counts the passages found by words only. `why` has the steps, `figure` what was computed.
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
    checks: tuple[SentenceCheck, ...] = ()
    usage: Usage | None = None
    problem: str = ""
    problem_code: str = ""
    narrowing: Narrowing | None = None
    unavailable: Mapping[str, str] = field(default_factory=dict)
    waiting: int = 0
    why: tuple[Step, ...] = ()
    figure: str = ""

    @property
    def verdict(self) -> Literal["answered", "near", "not found"]:
        """Whether the documents answer; a near answer quotes what comes nearest, and says how it differs."""
        return "answered" if self.answered else "near" if self.reason is Reason.NEAR else "not found"


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """An event while a question is answered: first `searched`, the text that is searched for; then a `step`, which is a
    model's call of a tool, a piece of its `text` unless grounding is strict, or a `mark`, which is a citation's number
    before its first `[n]`; at last the `answer`. One field is set.
    """

    searched: str = ""
    text: str = ""
    mark: tuple[int, Citation] | None = None
    step: Step | None = None
    answer: Answer | None = None
