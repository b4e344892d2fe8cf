"""From documents to passages and their vectors: what splits, and what embeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from answerable.datatypes import Chunk, Document, FloatArray, Span


class TextSplitter(Protocol):
    """Cuts a document into chunks."""

    def split(self, document: Document) -> list[Chunk]:
        """Chunks in order; `document.content[chunk.start:chunk.end] == chunk.content`, only white space is left out."""
        ...


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Which embedder made a vector. Vectors of two fingerprints are never compared."""

    provider: str
    model: str
    dimension: int
    revision: str = ""

    def __str__(self) -> str:
        return (
            f"{self.provider}:{self.model} ({self.dimension} dimensions{', ' + self.revision if self.revision else ''})"
        )


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to embed, and the spans in it (its sentences) that want a vector of their own."""

    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """`whole` has shape (dimension,), `spans` (number of spans, dimension); float32, L2-normalised."""

    whole: FloatArray
    spans: FloatArray


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how alike they are."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What identifies the vectors."""
        ...

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Vectors of texts that are searched, in the order given."""
        ...

    def embed_query(self, text: str) -> FloatArray:
        """The vector of a question, shape (dimension,)."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text costs."""
        ...

    def cost(self, tokens: int) -> float | None:
        """What embedding so many tokens costs in US dollars: 0 on this machine, None where the price isn't known."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """Gives a vector for each token of a text, in its context. Rows have length 1; raises EmbeddingError."""

    def embed_passage_tokens(self, texts: Sequence[str]) -> list[FloatArray]:
        """Of each text that is searched its tokens' vectors, shape (tokens, dimension)."""
        ...

    def embed_query_tokens(self, text: str, spans: Sequence[Span]) -> list[FloatArray]:
        """Of each span of a question (in order, not overlapping) its tokens' vectors, shape (tokens, dimension)."""
        ...
