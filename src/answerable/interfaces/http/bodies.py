"""Request bodies, validated."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, RootModel, model_validator

LONGEST_QUESTION = 4_000  # characters: a page of text; a round number, not measured
LONGEST_SELECTION = 20_000  # characters: a chapter; a round number, not measured
LONGEST_PASSWORD = 200  # characters: more than any PDF's; a round number, not measured
# Seconds between syncs: sites must not be visited too often, and a sync of a large folder takes a while.
SHORTEST_INTERVAL = 600


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty: ask something")
    return text


def _one_line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("it must be one line of text")
    return text.strip()


Question = Annotated[
    str,
    Field(max_length=LONGEST_QUESTION, min_length=1, examples=["When is the library open on Sundays?"]),
    AfterValidator(_not_blank),
]


# The schema of a filter is only described: `parse_filter` checks filters, and its messages say more.
_VALUE = {"type": ["string", "number", "boolean"]}
_MOMENT = {"type": "string", "anyOf": [{"format": "date"}, {"format": "date-time"}]}
_CLOSED = {"type": "object", "additionalProperties": False, "minProperties": 1}
_ONE_OF_A_SIDE = [{"not": {"required": ["gt", "gte"]}}, {"not": {"required": ["lt", "lte"]}}]
_BOUNDS = [dict.fromkeys(("gt", "gte", "lt", "lte"), bound) for bound in ({"type": "number"}, _MOMENT)]
_CONDITIONS = [
    _VALUE,
    {"type": "array", "items": _VALUE, "minItems": 1},
    *({**_CLOSED, "properties": bounds, "allOf": _ONE_OF_A_SIDE} for bounds in _BOUNDS),
    {**_CLOSED, "properties": {"exists": {"type": "boolean"}}},
]


class Filter(RootModel[dict[str, JsonValue]]):
    """Conditions on passages by field: a value, one of several values, a range, or whether there is a value."""


class _Filtered:
    def __get_pydantic_json_schema__(self, _: Any, handler: Any) -> dict[str, Any]:
        own = handler(Filter.__pydantic_core_schema__)
        inner = {**own, "minProperties": 1}
        several = {"type": "array", "items": inner, "minItems": 1}
        combined = {"and": several, "or": several, "not": inner}
        handler.resolve_ref_schema(own).update(properties=combined, additionalProperties={"anyOf": _CONDITIONS})
        return {"anyOf": [own, {"type": "null"}]}


Where = Annotated[
    dict[str, JsonValue] | None,
    Field(description="A filter on passages.", examples=[{"type": "pdf", "page": {"gte": 3}}]),
    _Filtered(),
]
Narrow = Annotated[
    bool,
    Field(description="Whether a question that names a person or a time searches only the messages of these."),
]


class Sent(BaseModel):
    """A request body; unknown fields are refused, since they are probably misspelt."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Hint(Sent):
    """The span of text that a question is about."""

    document_id: str = Field(max_length=200)
    start: int = Field(ge=0, description="In characters of the document's content.")
    end: int = Field(gt=0)


class AskBody(Sent):
    """A question."""

    question: Question
    where: Where = None
    narrow: Narrow = True
    session: str | None = Field(None, max_length=64, description="Continues this conversation.")
    selected_text: str = Field("", max_length=LONGEST_SELECTION, description="The text that the question is about.")
    hint: Hint | None = None
    keep: bool = Field(True, description="Whether to save the turn in a session.")
    instead_of: str | None = Field(
        None,
        max_length=64,
        description="A turn of the session whose place this one takes. With another question, the turns after it go.",
    )


class SearchBody(Sent):
    """A search."""

    question: Question
    k: int = Field(10, ge=1, le=100, description="Number of passages.")
    where: Where = None
    narrow: Narrow = True


class PlacesBody(Sent):
    """A text to find, word for word. White space, case and the form of quotation marks make no difference."""

    quote: str = Field(min_length=1, max_length=20_000, examples=["The ferry to the island leaves at nine."])
    where: Where = None


class ExamplesBody(Sent):
    """The language of the example documents."""

    language: Literal["en", "es", "pt"] = "en"


Title = Annotated[str, Field(min_length=1, max_length=80, examples=["My notes"]), AfterValidator(_one_line)]
Url = Annotated[str, Field(max_length=2_000, pattern=r"^[hH][tT][tT][pP][sS]?://\S+$")]


class SourceBody(Sent):
    """What to follow: either a site, part of a site or page, or a folder or file of the server's machine."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["url"]}, {"required": ["path"]}]})

    url: Url | None = Field(None, examples=["https://example.org/docs/"])
    path: str | None = Field(None, min_length=1, max_length=4_000, examples=["/home/ana/notes"])

    @model_validator(mode="after")
    def _has_one(self) -> SourceBody:
        if (self.url is None) == (self.path is None):
            raise ValueError("send either `url` or `path`")
        return self


class SyncBody(Sent):
    """Which followed sources to visit again."""

    origins: list[Annotated[str, Field(max_length=4_000)]] = Field(
        [], max_length=1_000, description="Names from GET sources; none: all."
    )
    password: str = Field("", max_length=LONGEST_PASSWORD, description="Opens encrypted PDFs, and isn't kept.")


class VerifyBody(Sent):
    """How to verify."""

    repair: bool = Field(False, description="Whether to fix the differences.")


def _not_too_often(every: int | None) -> int | None:
    if every and every < SHORTEST_INTERVAL:
        raise ValueError(f"at least {SHORTEST_INTERVAL} seconds, or 0 for none")
    return every


class LibraryBody(Sent):
    """A new library."""

    title: Title


class ChangeBody(Sent):
    """Changes to a library; omitted fields stay unchanged."""

    title: Title | None = None
    every: Annotated[int | None, AfterValidator(_not_too_often)] = Field(
        None, ge=0, le=31_536_000, description="Seconds between syncs of everything followed, from 600; 0: none."
    )


class ModelBody(Sent):
    """The model that writes answers."""

    model: str = Field(min_length=1, max_length=200, examples=["extractive", "openai:gpt-5-nano"])


class ProviderBody(Sent):
    """A provider to ask for its models."""

    provider: str = Field(min_length=1, max_length=100, examples=["ollama"])


class KeyBody(Sent):
    """A provider's key or address. What is omitted stays; an empty key removes the one that is kept."""

    provider: str = Field(min_length=1, max_length=100, examples=["openai"])
    key: str | None = Field(None, max_length=1_000, repr=False, description="Kept on the server, and never returned.")
    address: str | None = Field(
        None,
        max_length=2_000,
        description="Of a server of its protocol; empty: the usual one. Without a key it removes the one that is kept.",
    )


class TitleBody(Sent):
    """A name for a conversation."""

    title: str = Field(max_length=200, description="Empty: the first question again.", examples=["Trip to Oaxaca"])


class VoteBody(Sent):
    """A judgement of an answer."""

    vote: Literal["up", "down"] | None = Field(description="null takes it back.")
