"""Read the keys and addresses of model providers from the settings."""

from __future__ import annotations

from typing import NamedTuple

from answerable.errors import SettingsError
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
        raise SettingsError(f"{provider} needs a key. Set the environment variable {variable}.")


def provider_addresses(settings: Settings) -> dict[str, str]:
    """Return the base URL of each provider; `default` means the provider's own URL."""
    given = {
        "openai": settings.openai_base_url,
        "github": settings.github_base_url,
        "ollama": settings.ollama_base_url,
        "cohere": settings.cohere_base_url,
    }
    return {provider: address.rstrip("/") or "default" for provider, address in given.items()}


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
