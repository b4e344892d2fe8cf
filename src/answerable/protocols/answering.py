"""Interfaces of answering: reranker, reader of passages, chat model, answerer."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from answerable.datatypes import Answer, AnswerEvent, Exchange, FloatArray, IntArray, RetrievalResult, Span, Usage
from answerable.filters import Filter
from answerable.protocols.stores import IndexedChunk


class Reranker(Protocol):
    """Scores texts for a question more exactly than a search can. Thread-safe."""

    def judge(self, question: str, words: Mapping[Span, float], texts: Sequence[str]) -> list[float]:
        """Return a score per text: 1 for the best, 0 for irrelevant ones.

        `words` maps the spans of the question's words to their rarity in the library.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What a reader finds in a window: the logit that the window answers, and the most likely answer in it.

    `start` and `end` are the answer's characters in the window. `starts` are the characters at which tokens start, and
    `likely` the probability of each that the answer starts there, given that there is one.
    """

    logit: float
    start: int
    end: int
    starts: IntArray
    likely: FloatArray

    def share(self, start: int, end: int) -> float:
        """Return the probability that the answer starts between these characters, given that there is one."""
        first, last = self.starts.searchsorted((start, end)).tolist()
        return float(self.likely[first:last].sum())


class AnswerReader(Protocol):
    """Reads a question and texts together. Thread-safe."""

    def read(self, question: str, windows: Sequence[str]) -> list[Reading]:
        """Read each window, a text of a few sentences, together with the question."""


class StatementJudge(Protocol):
    """Reads statements together with texts. Thread-safe."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return, for each statement and text, the logit that the text supports the whole statement."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a chat model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a model's answer. The last one has no text, but the usage if the provider reports it.

    `truncated` on the last piece: the answer reached its token limit.
    """

    text: str
    usage: Usage | None = None
    truncated: bool = False


class ChatModel(Protocol):
    """Writes answers. Thread-safe."""

    @property
    def name(self) -> str:
        """`provider:model`."""

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        """Stream the answer. Closing the generator stops the model, also on the server.

        Raise a ProviderError before or between pieces. Calls are retried only before the first piece.
        """

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens per text, estimated if the model's vocabulary isn't available."""

    def close(self) -> None:
        """Close connections. Idempotent."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question and the passages retrieved for it.

    `word_weights` maps each word of the question, given as the set of its stems, to its rarity in the library.
    `chunks` has the order of `results`. `where` is the filter of the search; of a chat, only messages that pass it may
    be quoted. `topic` is the question without the names and times that became part of the filter; it may be empty.
    `about` is the topic also where such a filter found nothing and everything was searched. `message` is what the user
    wrote, of which the question was made. `computed` is the answer if the question asks for a computation.
    """

    question: str
    language: str
    vector: FloatArray
    word_weights: Mapping[frozenset[str], float]
    results: tuple[RetrievalResult, ...]
    chunks: tuple[IndexedChunk, ...]
    where: Filter | None = None
    topic: str | None = None
    about: str = ""
    message: str = ""
    computed: Answer | None = None


class Answerer(Protocol):
    """Turns evidence into an answer with citations, or into a refusal."""

    def standalone(self, question: str, history: Sequence[Exchange]) -> tuple[str, Usage | None]:
        """Return the question rewritten to make sense without the history, and the usage of a model."""

    def stream(self, evidence: Evidence, history: Sequence[Exchange]) -> Generator[AnswerEvent, None, None]:
        """Yield events, the last with the answer, whose citations are verbatim in their documents."""

    def close(self) -> None:
        """Release all resources. Idempotent."""


@runtime_checkable
class Quoting(Protocol):
    """An answerer with a chat model that can also do without it."""

    @property
    def quoting(self) -> Answerer:
        """The answerer that only quotes."""
