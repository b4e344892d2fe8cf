"""OpenAI's protocol through the official `openai` client, with its errors translated to ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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
)
from answerable.providers.calling import CallPolicy, host_of, quoted, retry_after
from answerable.providers.responses import AS_IT_IS, bounded
from answerable.settings import checked_key

if TYPE_CHECKING:
    import openai

_OWN_HOST = "api.openai.com"
_OLLAMA_ADDRESS = "ANSWERABLE_OLLAMA_BASE_URL"
# Ollama needs no key: if access is denied, the address is that of another server.
_KEY_SETTINGS = {"github": "GITHUB_TOKEN", "ollama": _OLLAMA_ADDRESS}
_ADDRESS_SETTINGS = {"github": "GH_MODELS_BASE_URL", "ollama": _OLLAMA_ADDRESS}

_NO_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_FILTERED = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
_NO_MODEL = {"model_not_found", "unknown_model", "deploymentnotfound"}
_NO_MODEL_SAID = re.compile(r"\bmodel\b.{0,100}(not found|does not exist|doesn't exist)|(unknown|no such) model", re.I)
_TOO_LONG = {"context_length_exceeded", "exceed_context_size_error", "tokens_limit_reached"}
_TOO_LONG_SAID = re.compile(r"context (length|size|window)|too (long|many tokens)|max(imum)? input", re.I)
# In order of preference: an error may also name the parameter to send instead.
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
        self._key = self._checked(api_key)
        try:
            import httpx2
            import openai
        except ImportError as error:
            raise MissingPackage("Models of OpenAI's protocol need the package openai", "openai") from error
        self._openai = openai
        self._httpx = httpx2
        self.sdk = openai.OpenAI(
            api_key=self._key or "no-key",
            # Always set, since the client would otherwise read it from the environment.
            base_url=base_url or f"https://{_OWN_HOST}/v1",
            timeout=self._timeout,
            max_retries=0,
            default_headers=AS_IT_IS,
            http_client=openai.DefaultHttpxClient(
                timeout=self._timeout, event_hooks={"response": [bounded(httpx2, policy.total)]}
            ),
        )
        # The client reads these from the environment; they are meant for OpenAI only.
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
        """Translate the client's errors to ProviderErrors; `reading`: the answer has begun.

        The client's error is not in the traceback: a server may have put the key into it.
        """
        try:
            yield
        except self._openai.OpenAIError as error:
            raise self._translated(error, reading) from None
        except self._httpx.HTTPError:
            # The client does not translate this one if the body of an error is cut off.
            raise self.malformed("was cut off") from None
        except (ValueError, RecursionError):
            raise self.malformed("isn't JSON of the protocol") from None

    def malformed(self, how: str) -> MalformedResponse:
        """Return an error for an invalid response; `how` is a predicate, such as "isn't JSON"."""
        return MalformedResponse(
            f"The response of {self.host} {how}. Try again; if that does not help, check that {self._address_setting} "
            "is a server of OpenAI's protocol."
        )

    def _checked(self, api_key: str | None) -> str:
        key = checked_key(api_key or "", self._key_setting)
        if not key and self.host == _OWN_HOST:
            raise ProviderRefused(f"{_OWN_HOST} needs a key. Set {self._key_setting}.")
        return key

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
            # Sent in a stream, after the status; some servers send the status as the code.
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
        # FastAPI's validation errors.
        where = body.get("loc")
        steps = [*(where if isinstance(where, list) else ()), body.get("msg", "")]
        return " ".join(step for step in steps if isinstance(step, str))
    if isinstance(body, str):
        # An HTML page of a proxy is useless in one line.
        return "" if body.lstrip().startswith("<") else body
    if isinstance(body, list):
        return "; ".join(filter(None, map(_said, body)))
    return json.dumps(body) if body is not None else ""


def _refused_parameter(error: openai.APIError, said: str) -> str | None:
    """Return the parameter that the provider does not support; None if only its value is wrong.

    A limit of tokens that is too large for a model counts as not supported: without it, the model's own applies.
    """
    param: Any = error.param if isinstance(error.param, str) else ""
    found = {name: said.find(name) for name in _PARAMETERS if name in said}
    named = str(param) if param in _PARAMETERS else min(found, key=found.__getitem__) if found else None
    if _OUT_OF_RANGE.search(said):
        return named if named in LIMITS and "too large" in said else None
    if not _REFUSING.search(f"{error.code or ''} {said}"):
        return None
    return "system" if _SYSTEM_ROLE.search(said) else named
