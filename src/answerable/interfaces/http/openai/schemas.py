"""Request bodies of OpenAI's protocol, validated, and the schemas of its responses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from answerable.datatypes import Exchange
from answerable.interfaces.http import sse
from answerable.interfaces.http.bodies import LONGEST_QUESTION
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.schemas import output
from answerable.interfaces.http.session_store import LONGEST_HISTORY

# Round numbers, not measured: clients send fewer.
MOST_INPUTS = 256
LONGEST_INPUT = 32_000  # characters
MOST_TOKENS = 8_192  # of one input, as OpenAI's embedders take
LAST_TOKEN = 100_276  # of cl100k_base, OpenAI's vocabulary for embeddings
MOST_MESSAGES = 1_000  # the model gets the last 50 exchanges


class ClientBody(BaseModel):
    """A body with validated known fields; unknown ones are ignored, since clients send many."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Part(ClientBody):
    """A part of a message; only text is supported."""

    type: str
    text: str = ""


_TEXTS = ("text", "input_text", "output_text", "refusal")
_Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class Turn(ClientBody):
    """A turn. System and developer messages are ignored: only the documents decide."""

    kept_in: ClassVar[str] = "messages"
    role: _Role | None = None
    content: str | list[Part] | None = None

    def full_text(self) -> str:
        """Return the message's text. Raise Problem if it contains anything else, such as an image."""
        if not isinstance(self.content, list):
            return self.content or ""
        if unread := next((part.type for part in self.content if part.type not in _TEXTS), None):
            raise unsupported(self.kept_in, f"Only text is supported, not {unread[:40]!r}.")
        return "\n".join(part.text for part in self.content)


class ChatMessage(Turn):
    """A turn of a chat."""

    role: _Role


class InputItem(Turn):
    """An item of a response's input. Items that aren't messages, such as calls of tools, are ignored."""

    kept_in: ClassVar[str] = "input"


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
        return _asked(self.messages)


class ResponsesBody(ClientBody):
    """A question with the conversation before it; the model is the name of a library. Nothing is kept."""

    model: str = Field(max_length=200, examples=["library"])
    input: str | Annotated[list[InputItem], Field(min_length=1, max_length=MOST_MESSAGES)] = Field(
        examples=["When is it open on Sundays?"]
    )
    stream: bool | None = None
    background: bool | None = Field(None, description="Only false.")
    previous_response_id: str | None = Field(None, description="Not supported: nothing is kept.")
    text: dict[str, Any] | None = Field(None, description="Only the format text.")

    def check(self) -> None:
        """Raise Problem for options that the engine doesn't support."""
        if self.background:
            raise unsupported("background", "Answers aren't kept to be fetched later: leave background out.")
        if self.previous_response_id:
            raise unsupported("previous_response_id", "Responses aren't kept. Send the conversation as input.")
        form = (self.text or {}).get("format")
        if form and (not isinstance(form, dict) or form.get("type") != "text"):
            raise unsupported("text", "Answers are text: leave text.format out.")

    def asked(self) -> tuple[str, list[Exchange]]:
        """Return the question and the exchanges before it. Raise Problem if the last message isn't a question."""
        return _asked([InputItem(role="user", content=self.input)] if isinstance(self.input, str) else self.input)


_Text = Annotated[str, Field(min_length=1, max_length=LONGEST_INPUT)]
_Tokens = Annotated[list[Annotated[int, Field(ge=0, le=LAST_TOKEN)]], Field(min_length=1, max_length=MOST_TOKENS)]


class EmbeddingsBody(ClientBody):
    """Texts to embed, or their tokens; the model is the name of a library, whose embedder is used."""

    model: str = Field(max_length=200, examples=["library"])
    input: (
        _Text
        | _Tokens
        | Annotated[list[_Text], Field(min_length=1, max_length=MOST_INPUTS)]
        | Annotated[list[_Tokens], Field(min_length=1, max_length=MOST_INPUTS)]
    ) = Field(examples=["Opening hours"])
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(None, description="Only the embedder's own number.")
    input_type: Literal["passage", "query"] = Field(
        "passage", description="Whether the text is a passage to find, or a query."
    )

    def texts(self) -> list[str]:
        """Return the inputs as a list of texts. Raise Problem for tokens on Python 3.10."""
        given = self.input if isinstance(self.input, list) and not isinstance(self.input[0], int) else [self.input]
        return [each if isinstance(each, str) else _decoded(each) for each in given]


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


class ResponseOut(BaseModel):
    """A response. The annotations of the output's text and `sources` hold the citations."""

    id: str
    object: str = Field(examples=["response"])
    created_at: int
    status: str = Field(examples=["completed"])
    model: str
    output: list[dict[str, Any]]
    usage: dict[str, Any]
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

_CHOICES = {"type": "array", "items": sse.fields(index="integer", delta="object")}
_CHUNK = sse.fields(id="string", object="string", created="integer", model="string", choices=_CHOICES)
# These events have no names.
CHUNKS = sse.stream(
    sse.fields(data={"anyOf": [sse.encoded(_CHUNK), sse.encoded(sse.reference(ErrorBody)), {"const": "[DONE]"}]})
)
_STEPS = (
    *("created", "in_progress", "completed", "output_text.delta", "output_text.annotation.added", "output_text.done"),
    *(f"{part}.{state}" for part in ("output_item", "content_part") for state in ("added", "done")),
)
_NAMES = ("error", *(f"response.{step}" for step in _STEPS))
RESPONSE_EVENTS = sse.described({name: sse.fields(type={"const": name}, sequence_number="integer") for name in _NAMES})


def unsupported(param: str, detail: str) -> Problem:
    """Return the error for an option that isn't supported."""
    return Problem(400, f"unsupported_{param}", detail)


def _exchanges(turns: Sequence[Turn]) -> list[Exchange]:
    """Return the latest questions that got an answer, with their answers."""
    found = []
    for asked, answered in pairwise(turns):
        if (asked.role, answered.role) == ("user", "assistant") and (question := asked.full_text().strip()):
            found.append(Exchange(question, question, answered.full_text()))
    return found[-LONGEST_HISTORY:]


def _asked(messages: Sequence[Turn]) -> tuple[str, list[Exchange]]:
    turns = [message for message in messages if message.role in ("user", "assistant")]
    question = turns[-1].full_text().strip() if turns and turns[-1].role == "user" else ""
    if not question:
        raise Problem(400, "invalid_request", "The last message must be a question of the role user. Ask something.")
    if len(question) > LONGEST_QUESTION:
        raise Problem(400, "invalid_request", f"The question is over {LONGEST_QUESTION:,} characters. Ask shorter.")
    return question, _exchanges(turns[:-1])


def _decoded(tokens: list[int]) -> str:
    try:
        text: str = _tokenizer().decode(tokens)
    except ImportError as error:
        raise unsupported("input", "This server can't read tokens. Send texts.") from error
    return text


@cache
def _tokenizer() -> Any:
    from toktok._toktok import Tokenizer

    # Kept, since to load its vocabulary takes a third of a second for each text.
    return Tokenizer("cl100k_base", "")
