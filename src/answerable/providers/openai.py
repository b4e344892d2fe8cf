"""OpenAI's protocol through the official `openai` client: OpenAI, Ollama, llama.cpp, vLLM and many more."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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
from answerable.providers.usage import Allowance, cost, count_tokens, vocabulary
from answerable.settings import checked_key
from answerable.text.characters import encodable

if TYPE_CHECKING:
    import openai

_OWN_HOST = "api.openai.com"
_OLLAMA_ADDRESS = "ANSWERABLE_OLLAMA_BASE_URL"
# The setting to name if access is denied: Ollama needs no key, so the address must be of another server.
_KEY_SETTINGS = {"github": "GITHUB_TOKEN", "ollama": _OLLAMA_ADDRESS}
_ADDRESS_SETTINGS = {"github": "GH_MODELS_BASE_URL", "ollama": _OLLAMA_ADDRESS}

_NO_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_FILTERED = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
_NO_MODEL = {"model_not_found", "unknown_model", "deploymentnotfound"}
_NO_MODEL_SAID = re.compile(r"\bmodel\b.{0,100}(not found|does not exist|doesn't exist)|(unknown|no such) model", re.I)
_TOO_LONG = {"context_length_exceeded", "exceed_context_size_error", "tokens_limit_reached"}
_TOO_LONG_SAID = re.compile(r"context (length|size|window)|too (long|many tokens)|max(imum)? input", re.I)
# Names of the token limit, the preferred name first. A refusal may name both, the refused name and the other.
LIMITS = ("max_completion_tokens", "max_tokens")
_PARAMETERS = ("stream_options", "temperature", "encoding_format", *LIMITS)
_REFUSING = re.compile(
    r"support|unknown|unrecogni[sz]ed|unexpected|extra|permitted|allowed|not accept|unavailable|deprecated"
    r"|invalid (parameter|argument|field)|only the default",
    re.I,
)
_OUT_OF_RANGE = re.compile(r"too (large|small|high|low)|at (most|least)|exceed|greater|less than|between|range", re.I)
_SYSTEM_ROLE = re.compile(r"(system|developer).{0,40}role|role.{0,40}(system|developer)", re.I)


class ParameterRefused(RequestRejected):
    """The provider rejects one parameter, or (as the parameter "system") messages with the role `system`."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class OpenAIClient:
    """A provider of OpenAI's protocol. Safe to share between threads.

    `model_setting` is the setting that names the model, for error messages. `base_url` is OpenAI's by default; other
    servers may need no key. Raises SettingsError for an invalid address or key, ProviderRefused for a missing key,
    MissingPackage.
    """

    def __init__(
        self,
        provider: str,
        model: str,
        model_setting: str,
        api_key: str | None,
        base_url: str | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        self.provider = provider
        self.model = model
        self._model_setting = model_setting
        self._key_setting = _KEY_SETTINGS.get(provider, "OPENAI_API_KEY")
        self._address_setting = _ADDRESS_SETTINGS.get(provider, "OPENAI_BASE_URL")
        policy = policy or CallPolicy()
        self._timeout = policy.timeout
        self.host = host_of(base_url or f"https://{_OWN_HOST}", self._address_setting, "http://localhost:11434/v1")
        self._key = checked_key(api_key or "", self._key_setting)
        if not self._key and self.host == _OWN_HOST:
            raise ProviderRefused(f"{_OWN_HOST} needs a key. Set {self._key_setting}.")
        try:
            import httpx2
            import openai
        except ImportError as error:
            raise MissingPackage("Models of OpenAI's protocol need the package openai", "openai") from error
        self._openai = openai
        self._httpx = httpx2
        self.sdk = openai.OpenAI(
            api_key=self._key or "no-key",
            # Always pass an URL: otherwise the client reads it from the environment.
            base_url=base_url or f"https://{_OWN_HOST}/v1",
            timeout=self._timeout,
            max_retries=0,
            default_headers=AS_IT_IS,
            http_client=openai.DefaultHttpxClient(
                timeout=self._timeout, event_hooks={"response": [bounded(httpx2, policy.total)]}
            ),
        )
        # The client reads organization and project from the environment; they must be sent to OpenAI only.
        self.sdk.organization = self.sdk.project = None

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self.sdk.close()

    def models(self) -> list[str]:
        """Return the names of the models that the server lists. Raise ProviderError."""
        with self.errors():
            listed = self.sdk.models.list().data
            return sorted({str(each.id) for each in listed or () if each.id})

    @contextmanager
    def errors(self, reading: bool = False) -> Iterator[None]:
        """Translate the client's errors to ProviderErrors; `reading` is true once the answer has begun.

        The client's error isn't chained, since a server may have put the key into it.
        """
        try:
            yield
        except self._openai.OpenAIError as error:
            raise self._translated(error, reading) from None
        except self._httpx.HTTPError:
            # The client doesn't translate this exception if the body of an error is cut off.
            raise self.malformed("was cut off") from None
        except (ValueError, RecursionError):
            raise self.malformed("isn't JSON of the protocol") from None

    def malformed(self, how: str) -> MalformedResponse:
        """Return an error for an invalid response; `how` is a predicate, such as "isn't JSON"."""
        return MalformedResponse(
            f"The response of {self.host} {how}. Try again; if that does not help, check that {self._address_setting} "
            "is a server of OpenAI's protocol."
        )

    def _translated(self, error: openai.OpenAIError, reading: bool) -> ProviderError:
        if isinstance(error, self._openai.APITimeoutError):
            return ProviderUnreachable(
                f"{self.host} sent nothing for {self._timeout:g} seconds. Try again later, or allow it more time."
            )
        if isinstance(error, self._openai.APIConnectionError):
            if reading:
                return self.malformed("was cut off")
            cause = quoted(str(error.__cause__ or error), self._key)
            if self.provider == "ollama":
                return ProviderUnreachable(
                    f"Ollama doesn't answer at {self.host} ({cause}). Start it with `ollama serve`, or set "
                    f"{self._address_setting} to where it runs."
                )
            return ProviderUnreachable(
                f"{self.host} can't be reached ({cause}). Check the connection and {self._address_setting}."
            )
        if isinstance(error, self._openai.APIStatusError):
            return self._refusal(error, error.status_code, error.response.headers)
        if isinstance(error, self._openai.APIError):
            # The error was sent in a stream, after the HTTP status; some servers send a status as its code.
            code = error.code or ""
            return self._refusal(error, int(code) if re.fullmatch("[45][0-9]{2}", code) else 500, {})
        return ProviderError(f"{self.host} can't be asked ({quoted(str(error), self._key)}). Check the settings.")

    def _refusal(self, error: openai.APIError, status: int, headers: Mapping[str, str]) -> ProviderError:
        said = quoted(_said(error.body), self._key)
        reply = f"{self.host} says {status}" + (f": {said}" if said else "")
        reply = reply.rstrip(".")
        kinds = {str(kind).lower() for kind in (error.code, error.type) if kind}
        if kinds & _NO_MONEY or status == 402:
            return ProviderRefused(f"{reply}. Check plan and balance of the account of {self._key_setting}.")
        if kinds & _FILTERED:
            return ContentFiltered(f"{reply}. Ask in other words.")
        if kinds & _NO_MODEL or (status in (400, 404) and _NO_MODEL_SAID.search(said)):
            if self.provider == "ollama":
                return ModelNotFound(f"{reply}. Fetch it with `ollama pull {self.model}`, or name another model.")
            return ModelNotFound(
                f"{reply}. {self._model_setting} is {self.model!r}: name a model that the provider has."
            )
        if status in (401, 403, 407):
            return ProviderRefused(f"{reply}. Check {self._key_setting}.")
        if status == 410:
            return ProviderRetired(f"{reply}. The service no longer exists: choose another provider.")
        # Versions of llama.cpp refuse tools with status 500.
        if (
            status in (400, 404, 422, 500, 501)
            and refuses_tools(f"{error.param} {said}")
            and not _refused_parameter(error, said)
        ):
            return ToolsRefused(f"{reply}. Choose a model or a server that takes tools.")
        if status in (404, 405) or status < 400:
            return RequestRejected(f"{reply}. Check {self._address_setting}; most addresses end in /v1.")
        if status in (408, 409, 429) or status >= 500:
            return ProviderOverloaded(f"{reply}. Try again later.", retry_after(headers))
        refused = _refused_parameter(error, said)
        if refused:
            return ParameterRefused(f"{reply}. Choose a model or a server that takes {refused!r}.", refused)
        if kinds & _TOO_LONG or status == 413 or _TOO_LONG_SAID.search(said):
            return RequestRejected(
                f"{reply}. The text is too long for {self.model!r}: send less, or choose another model."
            )
        return RequestRejected(f"{reply}. Check the settings of {self.model!r}.")


def _said(body: object) -> str:
    """Return a server's description of an error, in any of the usual formats."""
    if isinstance(body, Mapping):
        for name in ("message", "detail", "error"):
            value = body.get(name)
            if value:
                return _said(value)
        # The format of FastAPI's validation errors.
        where = body.get("loc")
        steps = [*(where if isinstance(where, list) else ()), body.get("msg", "")]
        return " ".join(step for step in steps if isinstance(step, str))
    if isinstance(body, str):
        # Leave out HTML, such as a proxy's error page.
        return "" if body.lstrip().startswith("<") else body
    if isinstance(body, list):
        return "; ".join(filter(None, map(_said, body)))
    return json.dumps(body) if body is not None else ""


def _refused_parameter(error: openai.APIError, said: str) -> str | None:
    """Return the parameter that the provider doesn't support; None if only a parameter's value is wrong.

    A token limit that is too large for a model counts as not supported: without it, the model's own limit applies.
    """
    param: Any = error.param if isinstance(error.param, str) else ""
    found = {name: said.find(name) for name in _PARAMETERS if name in said}
    named = str(param) if param in _PARAMETERS else min(found, key=found.__getitem__) if found else None
    if _OUT_OF_RANGE.search(said):
        return named if named in LIMITS and "too large" in said else None
    if not _REFUSING.search(f"{error.code or ''} {said}"):
        return None
    return "system" if _SYSTEM_ROLE.search(said) else named


class OpenAIChatModel:
    """A `ToolModel` on OpenAI's chat completions API.

    Reasoning counts towards the limit of an answer. A parameter that the server rejects (temperature, stream options,
    the name of the limit, the role system) is omitted or replaced in all later calls; tools aren't offered again. Raise
    SettingsError for an invalid URL or key, ProviderRefused for a missing key, MissingPackage.
    """

    def __init__(
        self,
        model: str,
        api_key: str | None,
        base_url: str | None = None,
        policy: CallPolicy | None = None,
        temperature: float | None = None,
        provider: str = "openai",
    ) -> None:
        policy = policy or CallPolicy()
        self._client = OpenAIClient(provider, model, "OPENAI_CHAT_MODEL", api_key, base_url, policy)
        self._caller = Caller(policy)
        self._model = model
        self._temperature = temperature
        self._refused: frozenset[str] = frozenset()
        self._refusal = ""
        # OpenAI's own models require the newer name of the limit; other servers, such as Ollama, may ignore it.
        self._limits = LIMITS if vocabulary(model) in ("o200k_base", "cl100k_base") else LIMITS[::-1]

    @property
    def name(self) -> str:
        """The model's name: `provider:model`."""
        return f"{self._client.provider}:{self._model}"

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        """Stream the answer; the last piece has the usage, with the cost for known models of OpenAI."""
        yield from self.converse(messages, (), max_tokens)

    def converse(
        self, messages: Sequence[Message], tools: Sequence[Tool], max_tokens: int | None = None
    ) -> Generator[Delta, None, None]:
        """Stream the answer as `stream` does; its tool calls are in one piece, before the last."""
        if tools and self._refusal:
            raise ToolsRefused(self._refusal)
        try:
            yield from self._caller.stream(lambda: self._begun(messages, tools, max_tokens))
        except ToolsRefused as refusal:
            self._refusal = str(refusal)
            raise

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text: exactly for OpenAI's models, otherwise by an estimate.

        The estimate is 1 token per 3.5 characters, or per character in scripts without spaces.
        """
        return count_tokens(texts, self._model)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    def _begun(
        self, messages: Sequence[Message], tools: Sequence[Tool], limit: int | None
    ) -> tuple[Delta, Generator[Delta, None, None]]:
        """Start the answer: return its first piece, and a generator of the rest, once the server accepts the call."""
        while True:
            refused = self._refused
            request = self._request(messages, limit, refused)
            if tools:
                request["tools"] = sent_tools(tools)
            pieces = self._pieces(request, Allowance(limit))
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
        return {"messages": [sent_message(turn, encodable) for turn in turns], **request}

    def _pieces(self, request: dict[str, Any], allowance: Allowance) -> Generator[Delta, None, None]:
        usage: Usage | None = None
        finish = ""
        calls = Calls(allowance)
        with self._client.errors():
            stream = self._client.sdk.chat.completions.create(model=self._model, stream=True, **request)
        try:
            with stream, self._client.errors(reading=True):
                for chunk in stream:
                    allowance.count_piece()
                    usage = self._usage(chunk) or usage
                    for choice in _listed(chunk, "choices"):
                        finish = getattr(choice, "finish_reason", None) or finish
                        delta = getattr(choice, "delta", None)
                        text = getattr(delta, "content", None)
                        if isinstance(text, str) and (allowed := allowance.take(text)):
                            yield Delta(encodable(allowed))
                        for part in _listed(delta, "tool_calls"):
                            function = getattr(part, "function", None)
                            index, id = (getattr(part, name, None) for name in ("index", "id"))
                            calls.add(index, id, *(getattr(function, name, None) for name in ("name", "arguments")))
                    if allowance.is_used_up:
                        finish = finish or "length"
                        break
        except ProviderError:
            # Ignore an error after the end of the answer: only the usage is missing.
            if not finish:
                raise
        if not finish:
            raise self._client.malformed("ends in mid-answer")
        if finish == "content_filter":
            raise ContentFiltered(f"The filter of {self._client.host} stopped the answer. Ask in other words.")
        if complete := calls.complete(finish == "length"):
            yield Delta("", calls=complete)
        yield Delta("", usage, truncated=finish == "length")

    def _usage(self, chunk: object) -> Usage | None:
        usage = getattr(chunk, "usage", None)
        given, written = (getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
        if not isinstance(given, int) or not isinstance(written, int):
            return None
        return Usage(given, written, cost(self._model, given, written) if self._client.provider == "openai" else None)


def _listed(part: object, name: str) -> list[object]:
    """Return a list of a part of a chunk; check its type, because the SDK doesn't."""
    value = getattr(part, name, None)
    return value if isinstance(value, list) else []


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with the system message's text moved to the beginning of the first user message."""
    rules = [message.content for message in messages if message.role == "system"]
    turns = [message for message in messages if message.role != "system"]
    if not turns or turns[0].role != "user":
        turns.insert(0, Message("user", ""))
    turns[0] = Message("user", "\n\n".join(part for part in (*rules, turns[0].content) if part))
    return turns
