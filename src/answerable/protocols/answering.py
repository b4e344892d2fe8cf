"""Interfaces of answering: reranker, reader model, chat model, answerer."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from answerable.datatypes import Exchange, FloatArray, IntArray, RetrievalResult, Span, Usage


class Reranker(Protocol):
    """Scores how well texts match a question, more accurately than a search. Thread-safe."""

    def judge(self, question: str, words: Mapping[Span, float], texts: Sequence[str]) -> list[float]:
        """Return a score per text: 1 for the best, 0 for irrelevant ones.

        `words` maps the spans of the question's words to their inverse document frequency in the library.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A reader model's result for a window of text: the logit that it answers the question, and its likeliest answer.

    `start` and `end` are character offsets of the answer in the window, `starts` those at which tokens start. `likely`
    has for each of `starts` the probability that the answer starts there, given that the window has an answer.
    """

    logit: float
    start: int
    end: int
    starts: IntArray
    likely: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class TableReading:
    """Logits of what a question does with a table: of the whole, shape (n,), and of each token, shape (tokens, m).

    `starts` are the offsets of the tokens in the table's text. `computing.parse` names the outputs.
    """

    whole: FloatArray
    starts: IntArray
    tokens: FloatArray


class TableReader(Protocol):
    """Reads tables, as texts, beside a question. Safe to share between threads."""

    def read(self, question: str, tables: Sequence[str]) -> list[TableReading]:
        """Read each table together with the question."""


class AnswerReader(Protocol):
    """A model that reads a question together with texts, to find the answer in them. Thread-safe."""

    def read(self, question: str, windows: Sequence[str]) -> list[Reading]:
        """Read each window, a text of a few sentences, together with the question."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call. `parameters` is the JSON Schema of its arguments, an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool. `arguments` is JSON as the model wrote it, which may be malformed."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a chat model.

    `calls` are the tools that a message of the model calls. A message with the role `tool` is the result of the call
    with the id `call_id`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a model's answer. The last piece has no text, but has the usage if the provider reports it.

    `truncated` is true for the last piece if the answer reached its token limit; `calls` are complete tool calls.
    """

    text: str
    usage: Usage | None = None
    truncated: bool = False
    calls: tuple[ToolCall, ...] = ()


@runtime_checkable
class ChatModel(Protocol):
    """A model that writes answers. Thread-safe."""

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


@runtime_checkable
class ToolModel(ChatModel, Protocol):
    """A chat model that may call tools. Thread-safe."""

    def converse(
        self, messages: Sequence[Message], tools: Sequence[Tool], max_tokens: int | None = None
    ) -> Generator[Delta, None, None]:
        """Stream the next message, text or calls of these tools, as `stream` does.

        Raise ToolsRefused before the first piece if the server or the model takes no tools.
        """


class Answerer(Protocol):
    """Writes answers from passages, without this package's prompts. Thread-safe."""

    @property
    def name(self) -> str:
        """The name to show as `Answer.model`."""

    def write(self, question: str, passages: Sequence[RetrievalResult], history: Sequence[Exchange]) -> Iterable[str]:
        """Return the answer in pieces, in which `[n]` cites the n-th passage.

        `question` is what the user wrote. Each sentence of the answer is checked, like those of a chat model.
        """

    def close(self) -> None:
        """Release all resources. Idempotent."""


class AnswererFactory(Protocol):
    """Makes the answerer or chat model for the setting `model`: NAME or NAME:MODEL, where NAME is the entry point's."""

    def __call__(self, model: str) -> Answerer | ChatModel:
        """Return an answerer, or a chat model whose drafts are checked like those of built-in chat models."""
