"""Request bodies of OpenAI's protocol, validated, and the schemas of its responses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from answerable.datatypes import Exchange
from answerable.interfaces.http.bodies import LONGEST_QUESTION
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.schemas import output
from answerable.interfaces.http.session_store import LONGEST_HISTORY

# Round numbers, not measured: clients send fewer.
MOST_INPUTS = 256
LONGEST_INPUT = 32_000  # characters
MOST_MESSAGES = 1_000  # the model gets the last 50 exchanges


class ClientBody(BaseModel):
    """A body with validated known fields; unknown ones are ignored, since clients send many."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Part(ClientBody):
    """A part of a message; only text is supported."""

    type: str
    text: str = ""


class ChatMessage(ClientBody):
    """A turn. System and developer messages are ignored: only the documents decide."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    def full_text(self) -> str:
        """Return the message's text. Raise Problem if it contains anything else, such as an image."""
        if not isinstance(self.content, list):
            return self.content or ""
        if unread := next((part.type for part in self.content if part.type not in ("text", "refusal")), None):
            raise unsupported("messages", f"Only text is supported, not {unread[:40]!r}.")
        return "\n".join(part.text for part in self.content)


class StreamOptions(ClientBody):
    """Additions to a stream."""

    include_usage: bool | None = None


class ChatBody(ClientBody):
    """A question with the conversation before it; the model is the name of a library."""

    model: str = Field(max_length=200, examples=["library"])
    messages: list[ChatMessage] = Field(
        min_length=1, max_length=MOST_MESSAGES, examples=[[{"role": "user", "content": "When is it open on Sundays?"}]]
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    stop: str | Annotated[list[str], Field(max_length=4)] | None = None
    n: int | None = Field(None, description="Only 1.")
    logprobs: bool | None = Field(None, description="Only false.")
    response_format: dict[str, Any] | None = Field(None, description="Only text.")

    def check(self) -> None:
        """Raise Problem for options that the engine doesn't support."""
        if self.n not in (None, 1):
            raise unsupported("n", "There is one answer: leave n out.")
        if self.logprobs:
            raise unsupported("logprobs", "There are no log probabilities: leave logprobs out.")
        if self.response_format and self.response_format.get("type") != "text":
            raise unsupported("response_format", "Answers are text: leave response_format out.")

    def stops(self) -> list[str]:
        """Return the strings before which an answer must end."""
        return [text for text in ([self.stop] if isinstance(self.stop, str) else self.stop or []) if text]

    def asked(self) -> tuple[str, list[Exchange]]:
        """Return the question and the exchanges before it. Raise Problem if the last message isn't a question."""
        turns = [message for message in self.messages if message.role in ("user", "assistant")]
        question = turns[-1].full_text().strip() if turns and turns[-1].role == "user" else ""
        if not question:
            raise Problem(
                400, "invalid_request", "The last message must be a question of the role user. Ask something."
            )
        if len(question) > LONGEST_QUESTION:
            raise Problem(400, "invalid_request", f"The question is over {LONGEST_QUESTION:,} characters. Ask shorter.")
        return question, _exchanges(turns[:-1])


class EmbeddingsBody(ClientBody):
    """Texts to embed; the model is the name of a library, whose embedder is used."""

    model: str = Field(max_length=200, examples=["library"])
    input: (
        Annotated[str, Field(min_length=1, max_length=LONGEST_INPUT)]
        | Annotated[
            list[Annotated[str, Field(min_length=1, max_length=LONGEST_INPUT)]],
            Field(min_length=1, max_length=MOST_INPUTS),
        ]
    ) = Field(examples=["Opening hours"])
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(None, description="Only the embedder's own number.")
    input_type: Literal["passage", "query"] = Field(
        "passage", description="Whether the text is a passage to find, or a query."
    )

    def texts(self) -> list[str]:
        """Return the inputs as a list."""
        return [self.input] if isinstance(self.input, str) else self.input


class ErrorOut(BaseModel):
    """An error in OpenAI's form."""

    message: str
    type: str = Field(examples=["invalid_request_error"])
    param: str | None
    code: str | None = Field(examples=["model_not_found"])


class ModelOut(BaseModel):
    """A library, as a model."""

    id: str
    object: str = Field(examples=["model"])
    created: int
    owned_by: str


class ChatOut(BaseModel):
    """A completion. `message.annotations` and `sources` hold the citations."""

    id: str
    object: str = Field(examples=["chat.completion"])
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, int]
    sources: list[dict[str, Any]]


ErrorBody = output("ErrorBody", "An error.", error=ErrorOut)
ModelsOut = output("ModelsOut", "The libraries the key opens.", object=str, data=list[ModelOut])
EmbeddingsOut = output(
    "EmbeddingsOut",
    "Vectors, in the order of the texts.",
    object=str,
    data=list[dict[str, Any]],
    model=str,
    usage=dict[str, int],
)


def unsupported(param: str, detail: str) -> Problem:
    """Return the error for an option that isn't supported."""
    return Problem(400, f"unsupported_{param}", detail)


def _exchanges(turns: Sequence[ChatMessage]) -> list[Exchange]:
    """Return the latest questions that got an answer, with their answers."""
    found = []
    for asked, answered in pairwise(turns):
        if (asked.role, answered.role) == ("user", "assistant") and (question := asked.full_text().strip()):
            found.append(Exchange(question, question, answered.full_text()))
    return found[-LONGEST_HISTORY:]
