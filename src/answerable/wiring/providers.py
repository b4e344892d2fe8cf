"""Providers of models: their keys and addresses in the settings, and the models that can write answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from typing import NamedTuple

from answerable.errors import MissingPackage, ProviderError, SettingsError
from answerable.plugins import ANSWERERS, installed
from answerable.providers.calling import CallPolicy, host_of
from answerable.settings import Settings


def missing_key(settings: Settings, provider: str) -> str:
    """Return the environment variable of the key that a provider needs and the settings lack, otherwise ""."""
    needed = {
        "openai": ("OPENAI_API_KEY", settings.openai_api_key or settings.openai_base_url),
        "github": ("GITHUB_TOKEN", settings.github_token),
        "cohere": ("COHERE_API_KEY", settings.cohere_api_key),
    }
    variable, given = needed.get(provider, ("", provider))
    return "" if given else variable


def require_key(settings: Settings, provider: str) -> None:
    """Raise SettingsError if a provider needs a key and the settings have none."""
    if variable := missing_key(settings, provider):
        raise SettingsError(
            f"{provider} needs a key. Set the environment variable {variable}, or keep the key with "
            f"`answerable model {provider} --key`."
        )


def provider_addresses(settings: Settings) -> dict[str, str]:
    """Return the base URL of each provider; `default` means the provider's own URL."""
    return {name: getattr(settings, f"{name}_base_url").rstrip("/") or "default" for name in PROVIDERS}


class Endpoint(NamedTuple):
    """A server that speaks the OpenAI protocol, and its default models."""

    api_key: str
    base_url: str | None
    chat_model: str = ""
    embedding_model: str = ""


def openai_endpoint(settings: Settings, provider: str) -> Endpoint | None:
    """Return the endpoint of a provider that speaks the OpenAI protocol, or None."""
    endpoints = {
        "openai": Endpoint(
            settings.openai_api_key,
            settings.openai_base_url or None,
            settings.openai_chat_model,
            settings.openai_embedding_model,
        ),
        "ollama": Endpoint("", settings.ollama_base_url),
        "github": Endpoint(
            settings.github_token,
            settings.github_base_url,
            "openai/gpt-4o-mini",
            f"openai/{settings.openai_embedding_model}",
        ),
    }
    return endpoints.get(provider)


EXTRACTIVE = "extractive"
"""The value of the setting `model` for answers without a model."""
_COHERE = "cohere"
_DEFAULT_OF_COHERE = "command-a-03-2025"
PROVIDERS = ("openai", "ollama", "github", _COHERE)
KEY_OF = {"openai": "openai_api_key", "github": "github_token", _COHERE: "cohere_api_key"}
"""The setting of each provider's key."""
_OWN = {"openai": "https://api.openai.com", _COHERE: "https://api.cohere.com"}
_HERE = re.compile(r"(localhost|127(\.\d+){3}|::1)(:\d+)?")
# Tokens, the unit in which providers state their prices.
_MILLION = 1_000_000
# Short limits in seconds, and no retries, since a person waits for the list.
_PATIENCE = CallPolicy(timeout=8, total=15, retries=0)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models. `model` is the value for the setting `model`; `needs` says what is missing, if anything.

    `host` is where questions and passages are sent, empty if that isn't known; `is_here` says that it is this machine.
    `has_key` is None for a provider that takes no key; `price` is as in `Sending`.
    """

    name: str
    model: str
    needs: str = ""
    host: str = ""
    is_here: bool = False
    has_key: bool | None = None
    price: tuple[float, float] | None = None


def providers(settings: Settings) -> list[Provider]:
    """Return the built-in providers and the installed plug-ins. Nothing is sent to any of them."""
    return [*_built_in(settings), *(Provider(each.name, each.name) for each in installed(ANSWERERS))]


def is_model(settings: Settings, model: str) -> bool:
    """Return whether a value of `model` is `extractive`, or begins with the name of a provider."""
    provider = model.partition(":")[0]
    return model == EXTRACTIVE or provider in {each.name for each in providers(settings)}


@dataclass(frozen=True, slots=True)
class Sending:
    """Where a model's questions and passages go, and dollars per million tokens read and written (None: unknown).

    `host` is empty if nothing is sent, or if a plug-in decides. `is_here` says that the host is this machine.
    """

    host: str = ""
    is_here: bool = False
    price: tuple[float, float] | None = None


def sending(settings: Settings, model: str) -> Sending:
    """Return where a value of `model` or `embedder` sends texts."""
    provider, _, name = model.partition(":")
    address = provider_addresses(settings).get(provider)
    if address is None:
        return Sending()
    if provider == "ollama" and name.endswith("cloud"):
        # Ollama passes what it gets for these models on.
        return Sending("ollama.com")
    try:
        host = host_of(_OWN.get(provider, "") if address == "default" else address, f"{provider}_base_url", "")
    except SettingsError:
        return Sending()
    from answerable.providers.usage import cost

    name = name or settings.openai_chat_model
    read, written = cost(name, _MILLION, 0), cost(name, 0, _MILLION)
    # Other servers that speak OpenAI's protocol have other prices.
    is_priced = read is not None and written is not None and host == "api.openai.com"
    return Sending(host, bool(_HERE.fullmatch(host)), (read or 0, written or 0) if is_priced else None)


def listed_models(settings: Settings, provider: str) -> list[str]:
    """Ask a provider's server for its models, by the names that `model` takes; a plug-in lists none.

    Raise SettingsError, MissingPackage and ProviderError.
    """
    require_key(settings, provider)
    if provider == _COHERE:
        from answerable.providers.cohere import CohereClient

        base_url = settings.cohere_base_url or None
        with closing(CohereClient(settings.cohere_api_key, base_url, _PATIENCE.timeout)) as cohere:
            return [f"{provider}:{name}" for name in cohere.models()]
    endpoint = openai_endpoint(settings, provider)
    if endpoint is None:
        if any(each.name == provider for each in installed(ANSWERERS)):
            return []
        raise SettingsError(f"There is no provider {provider!r}. Choose one of: {', '.join(PROVIDERS)}.")
    from answerable.providers.openai import OpenAIClient

    client = OpenAIClient(provider, endpoint.chat_model, "model", endpoint.api_key, endpoint.base_url, _PATIENCE)
    with closing(client):
        return [f"{provider}:{name}" for name in client.models()]


def ollama_models(settings: Settings) -> list[str]:
    """Return the models of an Ollama on this machine, none if it doesn't answer."""
    try:
        return listed_models(settings, "ollama") if sending(settings, "ollama").is_here else []
    except (MissingPackage, ProviderError):
        return []


def _built_in(settings: Settings) -> Iterator[Provider]:
    for name in PROVIDERS:
        endpoint = openai_endpoint(settings, name)
        model = endpoint.chat_model if endpoint else _DEFAULT_OF_COHERE
        package = _COHERE if name == _COHERE else "openai"
        needs = missing_key(settings, name) or ("" if find_spec(package) else f"answerable[{package}]")
        has_key = bool(getattr(settings, KEY_OF[name])) if name in KEY_OF else None
        chosen = f"{name}:{model}".removesuffix(":")
        sent = sending(settings, chosen)
        yield Provider(name, chosen, needs, sent.host, sent.is_here, has_key, sent.price)
