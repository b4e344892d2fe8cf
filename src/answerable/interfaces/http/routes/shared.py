"""Shared by all routes: routers, responses, and a request's dependencies (its service, caller and open library)."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from answerable.interfaces.http import problems, sse
from answerable.interfaces.http.guards.callers import Caller, no_key
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.schemas import ProblemOut
from answerable.interfaces.http.service import Service
from answerable.interfaces.http.session_store import Owner
from answerable.library import Library

Responses = dict[int | str, dict[str, Any]]

# Statuses of problems that any route may return, from guards or the engine.
_ALWAYS = (400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 421, 422, 429, 431, 500, 502, 503, 507)


def responses(model: type[BaseModel] | None = None, status: int = 200, content: sse.Schema | None = None) -> Responses:
    """Return a route's responses: a result of a model, others by media type, and every problem."""
    good: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if model is not None:
        good["model"] = model
    if content:
        good["content"] = content
    wrong = {problems.MEDIA_TYPE: {"schema": sse.reference(ProblemOut)}}
    return {
        status: good,
        **{code: {"description": HTTPStatus(code).phrase, "content": wrong} for code in _ALWAYS},
    }


class PlainResponse(JSONResponse):
    """A JSON response of plain values. Dates in a document's metadata become text."""

    def render(self, content: Any) -> bytes:
        """Return the content as JSON."""
        return json.dumps(content, ensure_ascii=False, default=str, separators=(",", ":")).encode("utf-8")


def api_router(tag: str, prefix: str = "") -> APIRouter:
    """Return a router of JSON routes, whose operation ids are the names of their functions."""
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        default_response_class=PlainResponse,
        generate_unique_id_function=lambda route: route.name,
    )


def _service(request: Request) -> Service:
    """Return the service of a request."""
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(_service)]


def _asker(request: Request, service: Serving) -> Caller:
    """Return the caller if it may ask questions of the library in the path (`{library}`).

    Raise Problem 401 without a caller, and UnknownLibrary both for an unknown library and for one that the caller's key
    doesn't open.
    """
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is None:
        raise no_key()
    library = request.path_params.get("library")
    if library is not None:
        # No library has an empty name: raise the same UnknownLibrary as for an unknown library.
        service.libraries.settings(library if caller.sees(library) else "")
    return caller


def _admin(caller: Annotated[Caller, Depends(_asker)], request: Request, service: Serving) -> Caller:
    """Return the caller if it may change the library in the path.

    Raise Problem 403 for a key that may only ask, and 409 for all libraries together.
    """
    if caller.role != "admin":
        raise Problem(403, "forbidden", "This key may only ask, search and read. Use a key made with --role admin.")
    if service.libraries.is_together(request.path_params.get("library", "")):
        raise Problem(409, "many_libraries", "All libraries together can only be asked. Choose the one to change.")
    return caller


Asker = Annotated[Caller, Depends(_asker)]
Admin = Annotated[Caller, Depends(_admin)]

LibraryName = Annotated[
    str, Path(description="The name of a library, from GET /api/v1/libraries.", examples=["library"])
]


async def _opened(library: LibraryName, caller: Asker, service: Serving) -> Library:
    """Open the library in a worker, because the first opening takes a while."""
    opened = service.libraries.opened(library)
    return await service.pool.run(service.libraries.get, library) if opened is None else opened


Opened = Annotated[Library, Depends(_opened)]


def owner(service: Service, library: str, caller: Caller) -> Owner:
    """Return the owner of a caller's sessions in a library."""
    return Owner(service.libraries.identity(library), caller.id)
