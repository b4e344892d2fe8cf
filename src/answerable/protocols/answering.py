"""From what was found to an answer: what reranks, what writes, and what answers."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from answerable.datatypes import AnswerEvent, Exchange, FloatArray, RetrievalResult, Span, Usage
from answerable.filters import Filter
from answerable.protocols.stores import IndexedChunk


class Reranker(Protocol):
    """Judges what texts say on a question, by a second, dearer look. Safe to share between threads."""

    def judge(self, question: str, words: Mapping[Span, float], texts: Sequence[str]) -> list[float]:
        """A score of each text: 1 of the best, 0 of one that says nothing beside it.

        `words` are the question's words, by where they stand in it, with their rarity in the library.
        """
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of what a chat model is given; `role` is system, user or assistant."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a model's answer. The last one has no text, but the usage, where the provider tells.

    `truncated` is said by the last one: the answer reached its limit of tokens and stops in mid-flight.
    """

    text: str
    usage: Usage | None = None
    truncated: bool = False


class ChatModel(Protocol):
    """Writes answers. Safe to share between threads."""

    @property
    def name(self) -> str:
        """`provider:model`."""
        ...

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        """The answer, piece by piece, as it comes. Closing the generator stops the model, on the server too.

        Raises a ProviderError, before the first piece or between two. What can be tried again was, unless a piece
        had come already.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text costs; an estimate where the model's own vocabulary isn't at hand."""
        ...

    def close(self) -> None:
        """Frees connections. Closing twice is fine."""
        ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question with all that retrieval found for it.

    `word_weights` are the question's words, each as the set of its stems, with their rarity in the library; `chunks`
    belong to `results` one by one. `where` is the filter that they passed; of a chat window that passed it, only the
    messages that do by themselves may be quoted. `topic` is the question without what the filter already sees to; it
    may have no words left.
    """

    question: str
    language: str
    vector: FloatArray
    word_weights: Mapping[frozenset[str], float]
    results: tuple[RetrievalResult, ...]
    chunks: tuple[IndexedChunk, ...]
    where: Filter | None = None
    topic: str | None = None


class Answerer(Protocol):
    """Turns evidence into an answer with citations, or a refusal."""

    def standalone(self, question: str, history: Sequence[Exchange]) -> tuple[str, Usage | None]:
        """The question with what it leaves to the exchanges before it, and what finding that out cost."""
        ...

    def stream(self, evidence: Evidence, history: Sequence[Exchange]) -> Generator[AnswerEvent, None, None]:
        """What happens, up to the answer, whose every citation stands verbatim in its document."""
        ...

    def close(self) -> None:
        """Frees everything. Closing twice is fine."""
        ...
