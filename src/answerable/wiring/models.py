"""What could write answers: which models are configured, and which ones a provider's server lists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec

from answerable.errors import SettingsError
from answerable.plugins import ANSWERERS, installed
from answerable.providers.calling import CallPolicy
from answerable.settings import Settings
from answerable.wiring.answering import EXTRACTIVE
from answerable.wiring.providers import missing_key, openai_endpoint, require_key

_COHERE = "cohere"
_DEFAULT_OF_COHERE = "command-a-03-2025"
_PROVIDERS = ("openai", "ollama", "github", _COHERE)
# Somebody waits for the list.
_PATIENCE = CallPolicy(timeout=8, total=15, retries=0)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models. `model` is what `model` would be set to; `needs` is what is missing, empty if nothing."""

    name: str
    model: str
    needs: str = ""


def providers(settings: Settings) -> list[Provider]:
    """Return the built-in providers and the installed plug-ins. Nothing is sent to any of them."""
    return [*_built_in(settings), *(Provider(each.name, each.name) for each in installed(ANSWERERS))]


def is_model(settings: Settings, model: str) -> bool:
    """Return whether a name is that of no model, or begins with a provider."""
    provider = model.partition(":")[0]
    return model == EXTRACTIVE or provider in {each.name for each in providers(settings)}


def listed_models(settings: Settings, provider: str) -> list[str]:
    """Ask a provider's server for its models, by the names that `model` takes; a plug-in lists none.

    Raise SettingsError, MissingPackage and ProviderError.
    """
    require_key(settings, provider)
    if provider == _COHERE:
        from answerable.providers.cohere_client import CohereClient

        base_url = settings.cohere_base_url or None
        with closing(CohereClient(settings.cohere_api_key, base_url, _PATIENCE.timeout)) as cohere:
            return [f"{provider}:{name}" for name in cohere.models()]
    endpoint = openai_endpoint(settings, provider)
    if endpoint is None:
        if any(each.name == provider for each in installed(ANSWERERS)):
            return []
        raise SettingsError(f"There is no provider {provider!r}. Choose one of: {', '.join(_PROVIDERS)}.")
    from answerable.providers.openai_client import OpenAIClient

    client = OpenAIClient(provider, endpoint.chat_model, "model", endpoint.api_key, endpoint.base_url, _PATIENCE)
    with closing(client):
        return [f"{provider}:{name}" for name in client.models()]


def _built_in(settings: Settings) -> Iterator[Provider]:
    for name in _PROVIDERS:
        endpoint = openai_endpoint(settings, name)
        model = endpoint.chat_model if endpoint else _DEFAULT_OF_COHERE
        package = _COHERE if name == _COHERE else "openai"
        needs = missing_key(settings, name) or ("" if find_spec(package) else f"answerable[{package}]")
        yield Provider(name, f"{name}:{model}".removesuffix(":"), needs)
