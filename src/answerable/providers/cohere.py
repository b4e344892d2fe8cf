"""Cohere (API v2) through its official SDK, whose errors become ProviderErrors, and its chat models."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, cast

from answerable.datatypes import Usage
from answerable.errors import (
    ContentFiltered,
    MalformedResponse,
    MissingPackage,
    ModelNotFound,
    ProviderError,
    ProviderOverloaded,
    ProviderRefused,
    ProviderRetired,
    ProviderUnreachable,
    RequestRejected,
    ToolsRefused,
)
from answerable.protocols import Delta, Message, Tool
from answerable.providers.calling import AS_IT_IS, Caller, CallPolicy, bounded, host_of, quoted, retry_after
from answerable.providers.tools import Calls, refuses_tools, sent_message, sent_tools
from answerable.providers.usage import Allowance
from answerable.settings import checked_key
from answerable.text.characters import sendable

if TYPE_CHECKING:
    from cohere.v2.raw_client import RawV2Client

_OWN_ADDRESS = "https://api.cohere.com"
_LONGEST_EVENT = 1_000_000  # characters: far beyond an event of a few words; not measured
# In alphabets a token has up to about five letters; a digit, a punctuation mark or a Chinese character may be a token.
_TOKEN = re.compile(r"[A-Z]?[a-z\u00c0-\u1fff]{1,5}|[A-Z]{1,2}|\d|\S")


class CohereClient:
    """A pool of connections to Cohere; callers retry failed calls. Safe to share between threads.

    `timeout` limits connecting and each wait for data, in seconds. Raises MissingPackage without the SDK,
    ProviderRefused without a key, SettingsError for an invalid key or address, and ProviderErrors; no error contains
    the key, not even in its chain.
    """

    def __init__(self, api_key: str, base_url: str | None, timeout: float) -> None:
        try:
            import httpx
            from cohere import ClientV2
            from cohere.core.api_error import ApiError
            from cohere.core.parse_error import ParsingError
        except ImportError as error:
            raise MissingPackage("Cohere needs the package cohere", "cohere") from error
        self._key = checked_key(api_key, "COHERE_API_KEY")
        if not self._key:
            raise ProviderRefused("Cohere needs a key. Set COHERE_API_KEY.")
        host_of(base_url or _OWN_ADDRESS, "CO_API_URL", f"{_OWN_ADDRESS}, or none")
        self._timeout = timeout
        # The SDK raises the builtin exceptions for responses of an unexpected shape.
        self._failures = (
            *(ApiError, ParsingError, httpx.HTTPError),
            *(ValueError, TypeError, KeyError, AttributeError, RecursionError),
        )
        self._open = ExitStack()
        pool = httpx.Client(
            timeout=timeout,
            headers=AS_IT_IS,
            follow_redirects=True,
            event_hooks={"response": [bounded(httpx, CallPolicy().total)]},
        )
        client = self._open.enter_context(
            ClientV2(self._key, base_url=base_url, timeout=timeout, max_retries=0, httpx_client=pool)
        )
        # Use the raw client: the SDK's own stream reader silently skips events that it can't parse.
        self._client = cast("RawV2Client", client.with_raw_response)
        self._models = client.models

    def embed(self, model: str, texts: Sequence[str], input_type: str, dimension: int | None) -> Any:
        """Return the vectors of at most 96 texts, unchecked."""
        given: dict[str, Any] = {} if dimension is None else {"output_dimension": dimension}
        try:
            response = self._client.embed(
                model=model,
                texts=list(texts),
                input_type=input_type,
                embedding_types=["float"],
                truncate="END",
                **given,
            )
            return getattr(getattr(response.data, "embeddings", None), "float_", None)
        except self._failures as error:
            failure = self._failure(error, model)
        # Raise outside of the `except` block, so that the SDK's error with headers and response isn't chained.
        raise failure

    def chat(
        self,
        model: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        max_tokens: int | None,
    ) -> Generator[dict[str, Any], None, None]:
        """Yield the events of a streamed answer, each with its `type`. Closing it closes the response."""
        given: dict[str, Any] = {} if max_tokens is None else {"max_tokens": max_tokens}
        if tools:
            given["tools"] = tools
        try:
            with self._client.chat_stream(model=model, messages=cast("Any", messages), **given) as response:
                yield from _events(response.response.iter_text())
                return
        except self._failures as error:
            failure = self._failure(error, model)
        raise failure

    def models(self) -> list[str]:
        """Return the names of the models for chats. Raise ProviderError."""
        try:
            listed = self._models.list(endpoint="chat", page_size=100).models
            return sorted({str(each.name) for each in listed or () if each.name})
        except self._failures as error:
            failure = self._failure(error, "")
        raise failure

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._open.close()

    def quoted(self, text: object) -> str:
        """Return a server's text in a form for error messages: one short, printable line without the key."""
        return quoted(str(text), self._key)

    def _failure(self, error: Exception, model: str) -> ProviderError:
        import httpx
        from cohere.core.api_error import ApiError

        if isinstance(error, ApiError) and error.status_code is not None and error.status_code >= 300:
            return self._by_status(error.status_code, error.headers or {}, error.body, model)
        if isinstance(error, httpx.TimeoutException):
            return ProviderUnreachable(
                f"Cohere didn't answer within {self._timeout:g} seconds. Try again later, or allow it more time."
            )
        if isinstance(error, (httpx.ReadError, httpx.RemoteProtocolError)):
            return MalformedResponse("Cohere's response was cut off. Try again.")
        if isinstance(error, httpx.TransportError):
            return ProviderUnreachable(
                f"Cohere can't be reached ({self.quoted(error)}). Check the network and the base URL (CO_API_URL)."
            )
        return MalformedResponse("Cohere's response is invalid. Try again, or check the base URL.")

    def _by_status(self, status: int, headers: Mapping[str, str], body: object, model: str) -> ProviderError:
        said = body.get("message", "") if isinstance(body, Mapping) else str(body or "")
        # Leave out HTML, such as a proxy's error page.
        is_page = str(said).lstrip().startswith("<")
        reason = f"status {status}: {self.quoted(said)}" if said and not is_page else f"status {status}"
        if status in (401, 402, 403):
            return ProviderRefused(f"Cohere refused the key ({reason}). Check COHERE_API_KEY and what the key may do.")
        if status == 404:
            return ModelNotFound(f"Cohere has no model {model!r} ({reason}). Check its name and the base URL.")
        if status == 410:
            return ProviderRetired(f"This service of Cohere no longer exists ({reason}). Choose another model.")
        if status in (408, 409, 429, 499) or status >= 500:
            return ProviderOverloaded(f"Cohere can't answer now ({reason}). Try again later.", retry_after(headers))
        if refuses_tools(str(said)):
            return ToolsRefused(f"Cohere's model {model!r} takes no tools ({reason}). Choose another model.")
        return RequestRejected(f"Cohere rejected the request ({reason}). Check the model's name and its limits.")


def count_tokens(text: str) -> int:
    """Estimate the number of tokens, since the vocabularies would have to be downloaded.

    With two vocabularies of 200,000 and 250,000 tokens the estimate was 1.0 to 1.3 times the true number for prose in
    English, Spanish, Portuguese and for code, .9 to 1.2 times for tables, .7 to 1.5 times for other scripts and emoji.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


def windows(text: str, most: int) -> list[tuple[str, int]]:
    """Cut a text into pieces of at most `most` tokens as `count_tokens` counts, between words if possible."""
    starts = [match.start() for match in _TOKEN.finditer(text)]
    pieces: list[tuple[str, int]] = []
    # Make pieces of equal size, rather than full pieces and a short last piece.
    size = math.ceil(len(starts) / max(1, math.ceil(len(starts) / most)))
    first = begin = 0
    while len(starts) - first > size:
        last = first + size
        words = (token for token in range(last, first + size // 2, -1) if text[starts[token] - 1].isspace())
        last = next(words, last)
        pieces.append((text[begin : starts[last]], last - first))
        first, begin = last, starts[last]
    return [*pieces, (text[begin:], len(starts) - first)]


def _events(pieces: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Parse server-sent events, each a JSON object."""
    # Don't use httpx's `iter_lines`, which also splits at U+2028 and other characters that JSON may contain.
    waiting = ""
    for piece in pieces:
        waiting += piece
        *lines, waiting = waiting.split("\n")
        if len(waiting) > _LONGEST_EVENT:
            raise ValueError("an event without an end")
        for line in lines:
            name, _, value = line.partition(":")
            if name == "data" and value.strip() not in ("", "[DONE]"):
                event = json.loads(value)
                if not isinstance(event, dict):
                    raise ValueError("an event that is not an object")
                yield event


_AT_LIMIT = "MAX_TOKENS"


class CohereChatModel:
    """A `ToolModel` of Cohere. Raise MissingPackage without the SDK, and ProviderErrors.

    `base_url` replaces Cohere's own URL. Usage counts billed tokens.
    """

    def __init__(
        self,
        model: str,
        api_key: str,
        base_url: str | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        self._model = model
        self._caller = Caller(policy or CallPolicy())
        self._client = CohereClient(api_key, base_url, self._caller.policy.timeout)

    @property
    def name(self) -> str:
        """The model's name: `cohere:model`."""
        return f"cohere:{self._model}"

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        """Stream the answer. Closing the generator closes the connection, which stops the model."""
        yield from self.converse(messages, (), max_tokens)

    def converse(
        self, messages: Sequence[Message], tools: Sequence[Tool], max_tokens: int | None = None
    ) -> Generator[Delta, None, None]:
        """Stream the answer as `stream` does; its tool calls are in one piece, before the last."""
        turns = [sent_message(message, sendable) for message in messages]

        def attempt() -> tuple[Delta, Generator[Delta, None, None]]:
            deltas = self._deltas(turns, sent_tools(tools), max_tokens)
            return next(deltas), deltas

        yield from self._caller.stream(attempt)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate the number of tokens of each text; see the function `count_tokens`.

        For prose, the estimate is rather too high than too low.
        """
        return [count_tokens(text) for text in texts]

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    def _deltas(
        self, turns: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], limit: int | None
    ) -> Generator[Delta, None, None]:
        """Yield at least one piece of text or a call, and finally the usage, or raise a ProviderError."""
        is_empty = True
        allowance = Allowance(limit)
        calls = Calls(allowance)
        with closing(self._client.chat(self._model, turns, tools, limit)) as events:
            for event in events:
                allowance.count_piece()
                kind, delta = event.get("type"), _mapping(event.get("delta"))
                if kind in ("content-start", "content-delta"):
                    # A piece of a model's reasoning has no `text`.
                    text = _mapping(_mapping(delta.get("message")).get("content")).get("text")
                    if isinstance(text, str) and (allowed := allowance.take(text)):
                        is_empty = False
                        yield Delta(allowed)
                elif kind in ("tool-call-start", "tool-call-delta"):
                    is_empty = False
                    call = _mapping(_mapping(delta.get("message")).get("tool_calls"))
                    function = _mapping(call.get("function"))
                    calls.add(event.get("index"), call.get("id"), function.get("name"), function.get("arguments"))
                if kind != "message-end" and allowance.is_used_up:
                    kind, delta = "message-end", {"finish_reason": _AT_LIMIT}
                if kind == "message-end":
                    self._check_end(delta, is_empty)
                    truncated = delta.get("finish_reason") == _AT_LIMIT
                    if complete := calls.complete(truncated):
                        yield Delta("", calls=complete)
                    yield Delta("", _usage(delta.get("usage")), truncated)
                    return
        raise MalformedResponse("Cohere's answer was cut off before its end. Ask again.")

    def _check_end(self, delta: Mapping[str, Any], is_empty: bool) -> None:
        """Raise an error unless the answer is complete or reached its token limit."""
        reason = str(delta.get("finish_reason", "COMPLETE"))
        if reason.startswith("ERROR") or reason == "TIMEOUT":
            said = delta.get("error")
            why = self._client.quoted(f"{reason}: {said}" if said else reason)
            if reason == "ERROR_TOXIC":
                raise ContentFiltered(f"Cohere's filter stopped the answer ({why}). Ask in other words.")
            if reason == "ERROR_LIMIT":
                raise RequestRejected(f"The conversation is too long for the model ({why}). Begin a new one.")
            raise ProviderOverloaded(f"Cohere broke off its answer ({why}). Ask again.")
        if is_empty and reason == _AT_LIMIT:
            raise RequestRejected("Cohere's model used up its tokens before it wrote anything. Raise answer_tokens.")
        if is_empty:
            raise MalformedResponse(f"Cohere's answer is empty ({self._client.quoted(reason)}). Ask again.")


def _mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping unchanged, and {} for None; raise MalformedResponse for another type."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise MalformedResponse("Cohere's response is invalid. Ask again.")
    return value


def _usage(value: object) -> Usage | None:
    usage = _mapping(value)
    counts = _mapping(usage.get("billed_units")) or _mapping(usage.get("tokens"))
    given = [counts.get(name) for name in ("input_tokens", "output_tokens")]
    if all(count is None for count in given):
        return None
    numbers = [int(count) if isinstance(count, (int, float)) and 0 <= count < 1e12 else 0 for count in given]
    return Usage(*numbers)
