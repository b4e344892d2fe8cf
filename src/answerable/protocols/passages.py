"""Interfaces of splitters, which cut documents into chunks, and of embedders, which convert passages to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from answerable.datatypes import Chunk, Document, FloatArray, Span


class TextSplitter(Protocol):
    """Cuts a document into chunks."""

    def split(self, document: Document) -> list[Chunk]:
        """Return chunks in order: `document.content[chunk.start:chunk.end] == chunk.content`; omit only white space."""
        ...


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The embedder that made a vector. Vectors with different fingerprints are never compared."""

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
    """A text to embed, and the spans in it (its sentences) that get separate vectors."""

    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """Float32 vectors, L2-normalised: `whole` has shape (dimension,), `spans` (number of spans, dimension)."""

    whole: FloatArray
    spans: FloatArray


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their similarity."""

    @property
    def fingerprint(self) -> Fingerprint:
        """The model that makes the vectors."""
        ...

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Embed texts to be searched, in this order."""
        ...

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question, shape (dimension,)."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""
        ...

    def cost(self, tokens: int) -> float | None:
        """Return the price of embedding this number of tokens in US dollars; 0 if local, None if unknown."""
        ...


@runtime_checkable
class Forgetting(Protocol):
    """An embedder that caches vectors, and can erase them."""

    def forget(self, passages: Sequence[Passage]) -> None:
        """Erase the cached vectors of these passages."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """Returns a vector of length 1 for each token of a text, in its context. Raises EmbeddingError."""

    def embed_passage_tokens(self, texts: Sequence[str]) -> list[FloatArray]:
        """Return the token vectors of each text to be searched, shape (tokens, dimension)."""
        ...

    def embed_query_tokens(self, text: str, spans: Sequence[Span]) -> list[FloatArray]:
        """Return the token vectors of each span of a question (in order, disjoint), shape (tokens, dimension)."""
        ...


class SplitterFactory(Protocol):
    """Makes the splitter of a format or document type, which is the entry point's name."""

    def __call__(self, chunk_size: int, chunk_overlap: int) -> TextSplitter:
        """Return a splitter; the sizes are in characters."""


class EmbedderFactory(Protocol):
    """Makes the embedder for the setting `embedder`: NAME or NAME:MODEL, where NAME is the entry point's name."""

    def __call__(self, model: str) -> Embedder:
        """Return the embedder with this model, "" for its default. Raise SettingsError."""
