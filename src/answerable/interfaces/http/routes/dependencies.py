"""What routes depend on: the open library in a path, and the owner of a caller's sessions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path

from answerable.interfaces.http.access.callers import Asker, Caller
from answerable.interfaces.http.service import Service, Serving
from answerable.interfaces.http.session_store import Owner
from answerable.library import Library

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
