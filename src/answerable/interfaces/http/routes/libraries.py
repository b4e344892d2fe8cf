"""Libraries: list, make, change and remove them; and how their answers are made, without showing keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from fastapi.responses import Response

from answerable.errors import MissingPackage, ProviderError, SettingsError
from answerable.interfaces.http.bodies import ChangeBody, KeyBody, LibraryBody, ModelBody, ProviderBody
from answerable.interfaces.http.guards.callers import Caller
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.shared import (
    Admin,
    Asker,
    LibraryName,
    Opened,
    PlainResponse,
    Serving,
    api_router,
    responses,
)
from answerable.interfaces.http.schemas import LibrariesOut, LibraryOut, ModelsOut, SettingsOut
from answerable.interfaces.http.service import Service
from answerable.wiring.answering import is_reading
from answerable.wiring.model_setup import changes, keep, overridden
from answerable.wiring.providers import PROVIDERS, is_model, listed_models, ollama_models, providers, sending
from answerable.wiring.stores import changed_settings

# Most libraries of a server: each open library has an index and open files. A round number, not measured.
MOST_LIBRARIES = 200

of_libraries = api_router("libraries", "/api/v1")


@of_libraries.get("/libraries", responses=responses(LibrariesOut))
async def list_libraries(caller: Asker, service: Serving) -> Response:
    """List the libraries the caller may use; if they are several, also `all`, which asks them as one."""
    listed = [_plain(service, name, caller) for name in service.libraries.seen(caller.sees)]
    return PlainResponse({"libraries": listed})


@of_libraries.post("/libraries", status_code=201, responses=responses(LibraryOut, 201))
async def create_library(body: LibraryBody, caller: Admin, service: Serving) -> Response:
    """Make an empty library with the settings of the default one. Its name in URLs is made from its title."""
    if caller.library:
        raise Problem(403, "forbidden", "This key opens one library only. Use a key for all of them.")
    if len(service.libraries.names()) >= MOST_LIBRARIES:
        raise Problem(409, "too_many_libraries", f"There are {MOST_LIBRARIES} libraries already. Remove one first.")
    name = await service.pool.run(service.libraries.create, body.title)
    return PlainResponse(_plain(service, name, caller), 201)


@of_libraries.patch("/{library}", responses=responses(LibraryOut))
async def change_library(library: LibraryName, body: ChangeBody, caller: Admin, service: Serving) -> Response:
    """Change a library's title, or how often its followed sources are synced. Its name in URLs stays."""
    await service.pool.run(service.libraries.choose, library, body.title, body.every)
    return PlainResponse(_plain(service, library, caller))


@of_libraries.delete("/{library}", status_code=204, responses=responses(status=204), response_class=Response)
async def remove_library(library: LibraryName, caller: Admin, service: Serving) -> Response:
    """Remove a library that was made here, with its documents, uploads and conversations; followed files stay."""
    if not service.libraries.is_made(library):
        raise Problem(
            *(409, "library_is_served"),
            "The server was started with this library, so it can't be removed here. Remove its documents, or start the "
            "server without it.",
        )
    await service.pool.run(service.remove_library, library)
    return Response(status_code=204)


def _plain(service: Service, name: str, caller: Caller) -> dict[str, Any]:
    libraries = service.libraries
    is_together = libraries.is_together(name)
    model = libraries.model(name)
    return {
        "name": name,
        "title": name if is_together else libraries.choices(name).title or name,
        "default": name == libraries.default,
        "may_change": caller.role == "admin" and not is_together,
        "model": model,
        "model_is_here": sending(libraries.started_with(name), model).is_here,
        "together": is_together,
        "may_remove": caller.role == "admin" and libraries.is_made(name),
        "may_create": caller.role == "admin" and caller.library is None,
    }


of_settings = api_router("settings", "/api/v1/{library}/settings")

# Most models in a list that people choose from; a round number.
_MOST_LISTED = 300


@of_settings.get("", responses=responses(SettingsOut))
async def get_settings(library: LibraryName, caller: Admin, opened: Opened, service: Serving) -> Response:
    """Get the model, the providers that are configured, and the settings that differ from their defaults."""
    return PlainResponse(await service.pool.run(_shown, service, library, str(opened.embedder.fingerprint), caller))


@of_settings.put("/model", responses=responses(SettingsOut))
async def choose_model(
    library: LibraryName, body: ModelBody, caller: Admin, opened: Opened, service: Serving
) -> Response:
    """Choose the model that writes the answers from the next question on; `extractive` is none."""

    def choose() -> dict[str, Any]:
        if fixed := service.options.fixed.get("model"):
            raise Problem(409, "setting_fixed", f"The model is set by {fixed}. Change it there and start again.")
        if not is_model(service.libraries.started_with(library), body.model):
            raise Problem(422, "model_unusable", f"There is no provider of {body.model!r}. Choose one that is listed.")
        _explained(lambda: service.libraries.choose_model(library, body.model))
        return _shown(service, library, str(opened.embedder.fingerprint), caller)

    return PlainResponse(await service.pool.run(choose))


@of_settings.put("/key", responses=responses(SettingsOut))
async def set_up_provider(
    library: LibraryName, body: KeyBody, caller: Admin, opened: Opened, service: Serving
) -> Response:
    """Keep a provider's key or address on the server, for all of its libraries from the next question on."""
    if caller.library:
        raise Problem(403, "forbidden", "This key opens one library only. Use a key for all of them.")
    if body.address is not None and not service.options.addresses:
        text = "Addresses can't be changed here. Run `answerable model MODEL --address URL` where the server runs."
        raise Problem(409, "setting_fixed", text)

    def set_up() -> dict[str, Any]:
        settings = service.libraries.started_with(library)
        found = _explained(lambda: changes(settings, body.provider, body.key, body.address))
        for name in found:
            if by := service.options.fixed.get(name) or _explained(partial(overridden, name)):
                raise Problem(409, "setting_fixed", f"{name} is set by {by}. Change it there and start again.")
        _explained(lambda: keep(found))
        service.libraries.set_up(found)
        return _shown(service, library, str(opened.embedder.fingerprint), caller)

    return PlainResponse(await service.pool.run(set_up))


@of_settings.post("/models", responses=responses(ModelsOut))
async def list_provider_models(library: LibraryName, body: ProviderBody, caller: Admin, service: Serving) -> Response:
    """Ask a provider's server which models it has. Nothing else is sent to it than the key."""

    def found() -> dict[str, Any]:
        settings = service.libraries.started_with(library)
        return {"models": _explained(lambda: listed_models(settings, body.provider))[:_MOST_LISTED]}

    return PlainResponse(await service.pool.run(found))


def _explained(call: Callable[[], Any]) -> Any:
    """Call a function; raise a Problem that says why a model can't be used. Its text may name settings, never keys."""
    try:
        return call()
    except (SettingsError, MissingPackage, ProviderError) as error:
        raise Problem(422, "model_unusable", str(error)) from error


def _shown(service: Service, library: str, embedder: str, caller: Caller) -> dict[str, Any]:
    settings = service.libraries.started_with(library)
    model = service.libraries.model(library)
    found = providers(settings)
    models = ollama_models(settings)[:_MOST_LISTED]
    # A built-in provider without a model of its own, as Ollama is, can't be chosen by its name.
    ready = [each.model for each in found if not each.needs and each.model not in PROVIDERS]
    return {
        "model": model,
        "models": models,
        "fixed": service.options.fixed.get("model"),
        "sending": asdict(sending(settings, model)),
        "offered": {each: asdict(sending(settings, each)) for each in (*models, *ready, model)},
        "may_set_up": caller.library is None,
        "may_move": caller.library is None and service.options.addresses,
        "grounding": settings.grounding,
        "reads": is_reading(settings),
        "embedder": embedder,
        "providers": [asdict(each) for each in found],
        "settings": [
            {"name": name, "value": value, "set_by": service.options.fixed.get(name)}
            for name, value in changed_settings(settings).items()
        ],
    }
