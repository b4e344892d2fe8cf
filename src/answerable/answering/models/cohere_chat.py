"""Chat models of Cohere (API v2)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from typing import Any, NoReturn

from answerable.datatypes import Usage
from answerable.errors import ContentFiltered, MalformedResponse, ProviderOverloaded, RequestRejected
from answerable.protocols import Delta, Message
from answerable.providers.allowance import Allowance
from answerable.providers.calling import Caller, CallPolicy
from answerable.providers.cohere_client import CohereClient, count_tokens
from answerable.text.characters import sendable

_AT_LIMIT = "MAX_TOKENS"


class CohereChatModel:
    """A `ChatModel` of Cohere. Raise MissingPackage without the SDK, and ProviderErrors.

    `base_url` replaces Cohere's own URL; `max_output_tokens` limits every answer. Usage counts billed tokens.
    """

    def __init__(
        self,
        model: str,
        api_key: str,
        base_url: str | None = None,
        policy: CallPolicy | None = None,
        max_output_tokens: int | None = None,
    ) -> None:
        self._model = model
        self._max_output_tokens = max_output_tokens
        self._caller = Caller(policy or CallPolicy())
        self._client = CohereClient(api_key, base_url, self._caller.policy.timeout)

    @property
    def name(self) -> str:
        """The model's name: `cohere:model`."""
        return f"cohere:{self._model}"

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        """Stream the answer. Closing the generator closes the connection, which stops the model."""
        turns = [{"role": message.role, "content": sendable(message.content)} for message in messages]
        limit = min((limit for limit in (max_tokens, self._max_output_tokens) if limit is not None), default=None)

        def attempt() -> tuple[Delta, Generator[Delta, None, None]]:
            deltas = self._deltas(turns, limit)
            return next(deltas), deltas

        with self._caller.slot():
            # Before the first piece a call can be retried.
            first, others = self._caller.call(attempt)
            with closing(others):
                yield first
                yield from others

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate the number of tokens of each text; see `cohere_client.count_tokens`.

        For prose, the estimate is rather too high than too low.
        """
        return [count_tokens(text) for text in texts]

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    def _deltas(self, turns: Sequence[Mapping[str, str]], limit: int | None) -> Generator[Delta, None, None]:
        """Yield at least one piece of text and finally the usage, or raise a ProviderError."""
        is_empty = True
        allowance = Allowance(limit)
        with closing(self._client.chat(self._model, turns, limit)) as events:
            for event in events:
                allowance.count_piece()
                delta = _mapping(event.get("delta"))
                if event.get("type") == "message-end":
                    self._check_end(delta, is_empty)
                    yield Delta("", _usage(delta.get("usage")), delta.get("finish_reason") == _AT_LIMIT)
                    return
                if event.get("type") in ("content-start", "content-delta"):
                    # Content of a model's reasoning has no text.
                    text = _mapping(_mapping(delta.get("message")).get("content")).get("text")
                    if isinstance(text, str) and (allowed := allowance.take(text)):
                        is_empty = False
                        yield Delta(allowed)
                else:
                    allowance.take("")
                if allowance.is_used_up:
                    self._check_end({"finish_reason": _AT_LIMIT}, is_empty)
                    yield Delta("", truncated=True)
                    return
        raise MalformedResponse("Cohere's answer was cut off before its end. Ask again.")

    def _check_end(self, delta: Mapping[str, Any], is_empty: bool) -> None:
        """Raise an error unless the answer is complete or reached its token limit."""
        reason = str(delta.get("finish_reason", "COMPLETE"))
        if reason.startswith("ERROR") or reason == "TIMEOUT":
            self._raise_stopped(reason, delta.get("error"))
        if is_empty and reason == _AT_LIMIT:
            raise RequestRejected("Cohere's model used up its tokens before it wrote anything. Raise answer_tokens.")
        if is_empty:
            raise MalformedResponse(f"Cohere's answer is empty ({self._client.quoted(reason)}). Ask again.")

    def _raise_stopped(self, reason: str, said: object) -> NoReturn:
        why = self._client.quoted(f"{reason}: {said}" if said else reason)
        if reason == "ERROR_TOXIC":
            raise ContentFiltered(f"Cohere's filter stopped the answer ({why}). Ask in other words.")
        if reason == "ERROR_LIMIT":
            raise RequestRejected(f"The conversation is too long for the model ({why}). Begin a new one.")
        raise ProviderOverloaded(f"Cohere broke off its answer ({why}). Ask again.")


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
