"""How answers are made: the model, what is configured for others, and the settings. Keys are never shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

from fastapi.responses import Response

from answerable.errors import MissingPackage, ProviderError, SettingsError
from answerable.interfaces.http.access.callers import Admin
from answerable.interfaces.http.bodies import ModelBody, ProviderBody
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.dependencies import LibraryName, Opened
from answerable.interfaces.http.routes.responses import PlainResponse, api_router, responses
from answerable.interfaces.http.schemas import ModelsOut, SettingsOut
from answerable.interfaces.http.service import Service, Serving
from answerable.settings import SECRETS, Settings
from answerable.wiring.answering import is_reading
from answerable.wiring.models import is_model, listed_models, providers
from answerable.wiring.stores import without_password

router = api_router("settings", "/api/v1/{library}/settings")

_MOST_LISTED = 300


@router.get("", responses=responses(SettingsOut))
async def get_settings(library: LibraryName, caller: Admin, opened: Opened, service: Serving) -> Response:
    """Get the model, the providers that are configured, and the settings that differ from their defaults."""
    return PlainResponse(await service.pool.run(_shown, service, library, str(opened.embedder.fingerprint)))


@router.put("/model", responses=responses(SettingsOut))
async def choose_model(
    library: LibraryName, body: ModelBody, caller: Admin, opened: Opened, service: Serving
) -> Response:
    """Choose the model that writes the answers from the next question on; `extractive` is none."""

    def choose() -> dict[str, Any]:
        if fixed := service.options.fixed.get("model"):
            raise Problem(409, "setting_fixed", f"The model is set by {fixed}. Change it there and start again.")
        if not is_model(service.libraries.started_with(library), body.model):
            raise Problem(422, "model_unusable", f"There is no provider of {body.model!r}. Choose one that is listed.")
        _telling(lambda: service.libraries.choose_model(library, body.model))
        return _shown(service, library, str(opened.embedder.fingerprint))

    return PlainResponse(await service.pool.run(choose))


@router.post("/models", responses=responses(ModelsOut))
async def list_provider_models(library: LibraryName, body: ProviderBody, caller: Admin, service: Serving) -> Response:
    """Ask a provider's server which models it has. Nothing else is sent to it than the key."""

    def found() -> dict[str, Any]:
        settings = service.libraries.started_with(library)
        return {"models": _telling(lambda: listed_models(settings, body.provider))[:_MOST_LISTED]}

    return PlainResponse(await service.pool.run(found))


def _telling(call: Callable[[], Any]) -> Any:
    """Tell an admin why a model can't be used; these messages name settings, and never keys."""
    try:
        return call()
    except (SettingsError, MissingPackage, ProviderError) as error:
        raise Problem(422, "model_unusable", str(error)) from error


def _shown(service: Service, library: str, embedder: str) -> dict[str, Any]:
    settings = service.libraries.started_with(library)
    return {
        "model": service.libraries.model(library),
        "fixed": service.options.fixed.get("model"),
        "grounding": settings.grounding,
        "reads": is_reading(settings),
        "embedder": embedder,
        "providers": [asdict(each) for each in providers(settings)],
        "settings": [_setting(service, settings, name) for name in _changed(settings)],
    }


def _changed(settings: Settings) -> list[str]:
    return [each.name for each in fields(settings) if getattr(settings, each.name) != each.default]


def _setting(service: Service, settings: Settings, name: str) -> dict[str, str | None]:
    value = str(getattr(settings, name))
    shown = None if name in SECRETS else without_password(value) if name in ("library", *_ADDRESSES) else value
    return {"name": name, "value": shown, "set_by": service.options.fixed.get(name)}


# They may be written with a user and password.
_ADDRESSES = ("openai_base_url", "cohere_base_url", "github_base_url", "ollama_base_url", "site_public_url", "ray")
