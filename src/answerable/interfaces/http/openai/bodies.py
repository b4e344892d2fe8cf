"""What clients of OpenAI's protocol send, and what they get, described."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal, Optional, Union

from pydantic import BaseModel, ConfigDict, Field

from answerable.datatypes import Exchange
from answerable.interfaces.http.models import LONGEST_QUESTION
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.sessions import LONGEST_HISTORY

MOST_INPUTS = 256
LONGEST_INPUT = 32_000
MOST_MESSAGES = 1_000


class Taken(BaseModel):
    """A body whose known fields must be right; unknown ones are let be, since clients send many."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Part(Taken):
    """A part of a message. Only texts are understood."""

    type: str
    text: str = ""


class ChatMessage(Taken):
    """A turn. Of system and developer nothing is followed: the documents decide, and the check."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Union[str, list[Part], None] = None

    def said(self) -> str:
        """The message's text. Raises Problem where it has something else."""
        if not isinstance(self.content, list):
            return self.content or ""
        if unread := next((part.type for part in self.content if part.type not in ("text", "refusal")), None):
            raise unsupported("messages", f"Only text can be asked, not {unread[:40]!r}.")
        return "\n".join(part.text for part in self.content)


class StreamOptions(Taken):
    """What a stream has besides the answer."""

    include_usage: Optional[bool] = None


class ChatBody(Taken):
    """A question with the conversation before it; the model is the name of a library."""

    model: str = Field(max_length=200, examples=["library"])
    messages: list[ChatMessage] = Field(
        min_length=1, max_length=MOST_MESSAGES, examples=[[{"role": "user", "content": "When is it open on Sundays?"}]]
    )
    stream: Optional[bool] = None
    stream_options: Optional[StreamOptions] = None
    stop: Union[str, Annotated[list[str], Field(max_length=4)], None] = None
    n: Optional[int] = Field(None, description="1; there is one answer.")
    logprobs: Optional[bool] = Field(None, description="Not true: there are none.")
    response_format: Optional[dict[str, Any]] = Field(None, description="Text; JSON can't be had.")

    def check(self) -> None:
        """Raises Problem for what would be answered otherwise than it was asked."""
        if self.n not in (None, 1):
            raise unsupported("n", "There is one answer: leave n out.")
        if self.logprobs:
            raise unsupported("logprobs", "There are no log probabilities: leave logprobs out.")
        if self.response_format and self.response_format.get("type") != "text":
            raise unsupported("response_format", "Answers are text: leave response_format out.")

    def stops(self) -> list[str]:
        """The texts that an answer ends before."""
        return [text for text in ([self.stop] if isinstance(self.stop, str) else self.stop or []) if text]

    def asked(self) -> tuple[str, list[Exchange]]:
        """The question, and the exchanges before it. Raises Problem where the last message is no question."""
        turns = [message for message in self.messages if message.role in ("user", "assistant")]
        question = turns[-1].said().strip() if turns and turns[-1].role == "user" else ""
        if not question:
            raise Problem(
                400, "invalid_request", "The last message must be a question of the role user. Ask something."
            )
        if len(question) > LONGEST_QUESTION:
            raise Problem(400, "invalid_request", f"The question is over {LONGEST_QUESTION:,} characters. Ask shorter.")
        return question, _exchanges(turns[:-1])


class EmbeddingsBody(Taken):
    """Texts to embed; the model is the name of a library, whose embedder does it."""

    model: str = Field(max_length=200, examples=["library"])
    input: Union[
        Annotated[str, Field(min_length=1, max_length=LONGEST_INPUT)],
        Annotated[
            list[Annotated[str, Field(min_length=1, max_length=LONGEST_INPUT)]],
            Field(min_length=1, max_length=MOST_INPUTS),
        ],
    ] = Field(examples=["Opening hours"])
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Optional[int] = Field(None, description="The embedder's own, if given.")
    input_type: Literal["passage", "query"] = Field(
        "passage", description="Whether it is something to be found, or a question that looks for it."
    )

    def texts(self) -> list[str]:
        """What to embed, in order."""
        return [self.input] if isinstance(self.input, str) else self.input


class ErrorOut(BaseModel):
    """What went wrong, as OpenAI says it."""

    message: str
    type: str = Field(examples=["invalid_request_error"])
    param: Optional[str]
    code: Optional[str] = Field(examples=["model_not_found"])


class ErrorBody(BaseModel):
    """An error."""

    error: ErrorOut


class ModelOut(BaseModel):
    """A library, as a model."""

    id: str
    object: str = Field(examples=["model"])
    created: int
    owned_by: str


class ModelsOut(BaseModel):
    """The libraries that the key opens."""

    object: str = Field(examples=["list"])
    data: list[ModelOut]


class ChatOut(BaseModel):
    """A completion. `message.annotations` and `sources` hold the citations."""

    id: str
    object: str = Field(examples=["chat.completion"])
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, int]
    sources: list[dict[str, Any]]


class EmbeddingsOut(BaseModel):
    """Vectors, in the order of the texts."""

    object: str = Field(examples=["list"])
    data: list[dict[str, Any]]
    model: str
    usage: dict[str, int]


def unsupported(param: str, detail: str) -> Problem:
    """The problem with a parameter that can't be heeded."""
    return Problem(400, f"unsupported_{param}", detail)


def _exchanges(turns: Sequence[ChatMessage]) -> list[Exchange]:
    """The last questions that were answered, each with its answer."""
    found = []
    for asked, answered in pairwise(turns):
        if (asked.role, answered.role) == ("user", "assistant") and (question := asked.said().strip()):
            found.append(Exchange(question, question, answered.said()))
    return found[-LONGEST_HISTORY:]
