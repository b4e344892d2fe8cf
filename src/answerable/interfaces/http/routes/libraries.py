"""List libraries, make one, change its title or schedule, and remove one that was made here."""

from __future__ import annotations

from typing import Any

from fastapi.responses import Response

from answerable.interfaces.http.access.callers import Admin, Asker, Caller
from answerable.interfaces.http.bodies import ChangeBody, LibraryBody
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.dependencies import LibraryName
from answerable.interfaces.http.routes.responses import PlainResponse, api_router, responses
from answerable.interfaces.http.schemas import LibrariesOut, LibraryOut
from answerable.interfaces.http.service import Service, Serving

# Each open library holds an embedder and an index.
MOST_LIBRARIES = 200

router = api_router("libraries", "/api/v1")


@router.get("/libraries", responses=responses(LibrariesOut))
async def list_libraries(caller: Asker, service: Serving) -> Response:
    """List the libraries the caller may use; if they are several, also `all`, which asks them as one."""
    listed = [_plain(service, name, caller) for name in service.libraries.seen(caller.sees)]
    return PlainResponse({"libraries": listed})


@router.post("/libraries", status_code=201, responses=responses(LibraryOut, 201))
async def create_library(body: LibraryBody, caller: Admin, service: Serving) -> Response:
    """Make an empty library with the settings of the default one. Its name in URLs is made from its title."""
    if caller.library:
        raise Problem(403, "forbidden", "This key opens one library only. Use a key for all of them.")
    if len(service.libraries.names()) >= MOST_LIBRARIES:
        raise Problem(409, "too_many_libraries", f"There are {MOST_LIBRARIES} libraries already. Remove one first.")
    name = await service.pool.run(service.libraries.create, body.title)
    return PlainResponse(_plain(service, name, caller), 201)


@router.patch("/{library}", responses=responses(LibraryOut))
async def change_library(library: LibraryName, body: ChangeBody, caller: Admin, service: Serving) -> Response:
    """Change a library's title, or how often its followed sources are synced. Its name in URLs stays."""
    await service.pool.run(service.libraries.choose, library, body.title, body.every)
    return PlainResponse(_plain(service, library, caller))


@router.delete("/{library}", status_code=204, responses=responses(status=204), response_class=Response)
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
    return {
        "name": name,
        "title": name if is_together else libraries.choices(name).title or name,
        "default": name == libraries.default,
        "may_change": caller.role == "admin" and not is_together,
        "together": is_together,
        "may_remove": caller.role == "admin" and libraries.is_made(name),
        "may_create": caller.role == "admin" and caller.library is None,
    }
