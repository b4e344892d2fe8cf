"""Document → chunks, on the engine's splitters."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from answerable import splitting
from answerable.text import document_language
from codomyrmex.llm.rag._documents import Chunk, Document, from_engine, to_engine
from codomyrmex.llm.rag._settings import CHUNK_OVERLAP, CHUNK_SIZE, Default, resolve

SEPARATORS = ("\n\n", "\n", ". ", " ", "")


class TextSplitter(ABC):
    """Cuts documents into chunks."""

    @abstractmethod
    def split(self, document: Document) -> list[Chunk]:
        """The chunks in order, each with the offsets of its content and an id that no other chunk has."""


class RecursiveTextSplitter(TextSplitter):
    """Chunks of at most `chunk_size` characters, neighbours sharing up to `chunk_overlap` of them.

    A cut falls behind the strongest separator within reach, the first of `separators` being the strongest, and between
    any two characters ("") where there is none. What fits between two separators isn't cut at finer ones. Left to
    themselves they are what "\\n\\n", "\\n", ". ", " " and "" stand for: the end of a paragraph, a line, a sentence,
    a word. Nothing but white space is left out.
    An overlap that isn't given is a fifth of a chunk too small for the default. Raises ValueError when the sizes make
    no sense.
    """

    def __init__(
        self,
        chunk_size: int = CHUNK_SIZE,
        chunk_overlap: int = CHUNK_OVERLAP,
        separators: list[str] | None = None,
    ) -> None:
        self.chunk_size = resolve(chunk_size)
        self.chunk_overlap = _overlap(chunk_overlap, self.chunk_size)
        self.separators = list(SEPARATORS if separators is None else separators)
        sizes = self.chunk_size, self.chunk_overlap
        if separators is None:
            self._engine = splitting.RecursiveSplitter(*sizes, whole_pieces=True)
        else:
            self._engine = splitting.RecursiveSplitter(*sizes, _literal(separators), whole_pieces=True)

    def split(self, document: Document) -> list[Chunk]:
        """The chunks in order, each with the exact offsets of its content."""
        return from_engine(self._engine.split(to_engine(document)))


class SentenceSplitter(TextSplitter):
    """Chunks of `sentences_per_chunk` whole sentences, neighbours sharing `overlap` of them.

    Sentences are those of the document's language, told by its metadata or from its words. Raises ValueError when the
    numbers make no sense.
    """

    def __init__(self, sentences_per_chunk: int = 5, overlap: int = 1) -> None:
        self.sentences_per_chunk = sentences_per_chunk
        self.overlap = overlap
        self._engine = splitting.SentenceSplitter(sentences_per_chunk, overlap)

    def split(self, document: Document) -> list[Chunk]:
        """The chunks in order, each with the exact offsets of its content."""
        return from_engine(self._engine.split(to_engine(document, language_of(document))))


def language_of(document: Document) -> str:
    """The two-letter code of a document's language: what its metadata says, otherwise as its words tell."""
    return str(document.metadata.get("language") or "") or document_language(document.content)


def _literal(separators: Sequence[str]) -> list[str]:
    # Between any two characters is where the engine cuts by itself once no separator is within reach.
    return [re.escape(separator) for separator in separators if separator]


def _overlap(given: int, chunk_size: int) -> int:
    overlap = resolve(given)
    if not isinstance(given, Default) or overlap < chunk_size:
        return overlap
    if given.text:
        raise ValueError(f"{given.variable} is {overlap}: it must be below chunk_size ({chunk_size})")
    return chunk_size // 5
