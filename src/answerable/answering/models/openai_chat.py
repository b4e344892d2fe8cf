"""Chat models that speak OpenAI's protocol: OpenAI, Ollama, llama.cpp, vLLM and many more."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from answerable.datatypes import Usage
from answerable.errors import ContentFiltered, ProviderError
from answerable.protocols import Delta, Message
from answerable.providers.allowance import Allowance
from answerable.providers.calling import Caller, CallPolicy
from answerable.providers.openai_client import LIMITS, OpenAIClient, ParameterRefused
from answerable.providers.prices import cost
from answerable.providers.token_counts import count_tokens, vocabulary
from answerable.text.characters import encodable


class OpenAIChatModel:
    """A `ChatModel` on OpenAI's chat completions API.

    `max_output_tokens` limits answers unless a call has its own limit; reasoning counts towards the limit. A parameter
    that the server rejects (temperature, stream options, the name of the limit, the role system) is omitted or replaced
    in all later calls. Raise SettingsError for an invalid URL or key, ProviderRefused for a missing key,
    MissingPackage.
    """

    def __init__(
        self,
        model: str,
        api_key: str | None,
        base_url: str | None = None,
        policy: CallPolicy | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
        provider: str = "openai",
    ) -> None:
        policy = policy or CallPolicy()
        self._client = OpenAIClient(provider, model, "OPENAI_CHAT_MODEL", api_key, base_url, policy)
        self._caller = Caller(policy)
        self._model = model
        self._max_output_tokens = max_output_tokens
        self._temperature = temperature
        self._refused: frozenset[str] = frozenset()
        # OpenAI's own models require the newer name; others may ignore it (Ollama), and with it the limit.
        self._limits = LIMITS if vocabulary(model) in ("o200k_base", "cl100k_base") else LIMITS[::-1]

    @property
    def name(self) -> str:
        """The model's name: `provider:model`."""
        return f"{self._client.provider}:{self._model}"

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        """Stream the answer; the last piece has the usage, with the cost for known models of OpenAI."""
        with self._caller.slot():
            first, rest = self._caller.call(lambda: self._begun(messages, max_tokens or self._max_output_tokens))
            try:
                yield first
                yield from rest
            finally:
                # Closing the connection stops the server.
                rest.close()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text: exactly for OpenAI's models, otherwise by an estimate.

        The estimate is 1 token per 3.5 characters, or per character in scripts without spaces.
        """
        return count_tokens(texts, self._model)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    def _begun(self, messages: Sequence[Message], limit: int | None) -> tuple[Delta, Generator[Delta, None, None]]:
        """Start the answer: return its first piece, and a generator of the rest, once the server accepts the call."""
        while True:
            refused = self._refused
            pieces = self._pieces(self._request(messages, limit, refused), Allowance(limit))
            try:
                return next(pieces), pieces
            except ParameterRefused as refusal:
                if refusal.parameter in refused:
                    raise
                self._refused |= {refusal.parameter}

    def _request(self, messages: Sequence[Message], limit: int | None, refused: frozenset[str]) -> dict[str, Any]:
        named = next((name for name in self._limits if name not in refused), None)
        request: dict[str, Any] = {"stream_options": {"include_usage": True}, "temperature": self._temperature}
        if limit is not None and named is not None:
            request[named] = limit
        request = {name: value for name, value in request.items() if value is not None and name not in refused}
        turns = _without_system(messages) if "system" in refused else messages
        return {"messages": [{"role": turn.role, "content": encodable(turn.content)} for turn in turns], **request}

    def _pieces(self, request: dict[str, Any], allowance: Allowance) -> Generator[Delta, None, None]:
        usage: Usage | None = None
        finish = ""
        with self._client.errors():
            stream = self._client.sdk.chat.completions.create(model=self._model, stream=True, **request)
        try:
            with stream, self._client.errors(reading=True):
                for chunk in stream:
                    allowance.count_piece()
                    usage = self._usage(chunk) or usage
                    choices = _choices(chunk)
                    if not choices:
                        allowance.take("")
                    for choice in choices:
                        finish = getattr(choice, "finish_reason", None) or finish
                        text = getattr(getattr(choice, "delta", None), "content", None)
                        if isinstance(text, str) and (allowed := allowance.take(text)):
                            yield Delta(encodable(allowed))
                    if allowance.is_used_up:
                        finish = finish or "length"
                        break
        except ProviderError:
            # After the end of the answer only the usage is missing.
            if not finish:
                raise
        if not finish:
            raise self._client.malformed("ends in mid-answer")
        if finish == "content_filter":
            raise ContentFiltered(f"The filter of {self._client.host} stopped the answer. Ask in other words.")
        yield Delta("", usage, truncated=finish == "length")

    def _usage(self, chunk: object) -> Usage | None:
        usage = getattr(chunk, "usage", None)
        given, written = (getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
        if not isinstance(given, int) or not isinstance(written, int):
            return None
        return Usage(given, written, cost(self._model, given, written) if self._client.provider == "openai" else None)


def _choices(chunk: object) -> list[object]:
    """Return a chunk's choices; check their type, because the SDK doesn't."""
    choices = getattr(chunk, "choices", None)
    return choices if isinstance(choices, list) else []


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """Return the messages, with the system's text put before the first user message."""
    rules = [message.content for message in messages if message.role == "system"]
    turns = [message for message in messages if message.role != "system"]
    if not turns or turns[0].role != "user":
        turns.insert(0, Message("user", ""))
    turns[0] = Message("user", "\n\n".join(part for part in (*rules, turns[0].content) if part))
    return turns
