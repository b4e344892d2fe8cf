"""What goes through the pipeline, and what is reported of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from uuid import NAMESPACE_URL, uuid5


class Heading(str):
    """A heading's words, with the offset in the page's content where its section begins, and its id on the page."""

    start: int
    anchor: str

    def __new__(cls, words: str, start: int = 0, anchor: str = "") -> Heading:
        """A heading; `anchor` is empty where the page gives it none."""
        heading = super().__new__(cls, words)
        heading.start = start
        heading.anchor = anchor
        return heading


@dataclass
class ContentPage:
    """A page as Markdown. `headings` of the type Heading know their place; plain strings will do where none is known.

    `chapter` is empty where the page names none.
    """

    url: str
    title: str
    content: str
    headings: list[str]
    chapter: str


@dataclass
class ContentChunk:
    """A piece of a page. `chunk_index` counts from 0; section and anchor are those of the heading it begins under."""

    url: str
    title: str
    chunk_index: int
    text: str
    token_count: int
    section: str
    anchor: str

    @property
    def chunk_id(self) -> str:
        """The id of its point in Qdrant, which follows from URL and index."""
        return point_id(self.url, self.chunk_index)

    @property
    def content_hash(self) -> str:
        """SHA-256 of all that is stored of it, in hexadecimal."""
        return sha256(repr((self.title, self.text, self.token_count, self.section, self.anchor)).encode()).hexdigest()


@dataclass
class VectorEmbedding:
    """The vector of the chunk with that id."""

    chunk_id: str
    vector: list[float]


@dataclass
class StorageResult:
    """`skipped_duplicates` were stored before with the same content; `errors` say what couldn't be stored."""

    stored: int
    skipped_duplicates: int
    errors: list[str]


@dataclass
class IngestionResult:
    """What a run did. `success` means that nothing failed.

    `errors` say what failed, and which pages of the sitemap were left out and why, which is no failure.
    `pages_scraped` were read, or are unchanged by the site's own word. `chunks_created` counts the chunks of all of
    these; those that were stored before are `duplicates_skipped`.
    """

    success: bool = False
    pages_discovered: int = 0
    pages_scraped: int = 0
    chunks_created: int = 0
    embeddings_generated: int = 0
    vectors_stored: int = 0
    duplicates_skipped: int = 0
    errors: list[str] = field(default_factory=list)
    duration_seconds: float = 0.0


@dataclass
class IngestionPlan:
    """What a run over a book that isn't stored yet would do. `cost` is in US dollars, an estimate.

    `success` and `errors` are as those of an IngestionResult.
    """

    pages_discovered: int = 0
    pages_scraped: int = 0
    chunks: int = 0
    tokens: int = 0
    cost: float = 0.0
    success: bool = False
    errors: list[str] = field(default_factory=list)


@dataclass
class RetrievalResult:
    """A chunk that was found. `score` is the cosine of its vector and the question's."""

    text: str
    url: str
    title: str
    chunk_index: int
    score: float


@dataclass
class QueryValidation:
    """What was found for one query; `score` is the best result's, 0 where there is none."""

    query: str
    passed: bool
    score: float
    results: list[RetrievalResult]


@dataclass
class ValidationReport:
    """`pass_rate` is between 0 and 1: how many of the queries have a result that reaches the threshold."""

    pass_rate: float
    passed: int
    total: int
    threshold: float
    results: list[QueryValidation]


def point_id(url: str, chunk_index: int) -> str:
    """The id of a chunk's point, the same in every process."""
    return str(uuid5(NAMESPACE_URL, f"{url}#{chunk_index}"))
