"""The library that a path names, open, for a caller who may use it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path

from answerable.interfaces.http.access.keys import Asker, Caller
from answerable.interfaces.http.service import Service, Serving
from answerable.interfaces.http.sessions import Owner
from answerable.library import Library

LibraryName = Annotated[str, Path(description="A library, as GET /api/v1/libraries names it.", examples=["library"])]


async def _opened(library: LibraryName, caller: Asker, service: Serving) -> Library:
    """Opening takes a while the first time, so that a worker does it."""
    opened = service.libraries.opened(library)
    return await service.pool.run(service.libraries.get, library) if opened is None else opened


Opened = Annotated[Library, Depends(_opened)]


def owner(service: Service, library: str, caller: Caller) -> Owner:
    """Whose the sessions of a request are."""
    return Owner(service.libraries.identity(library), caller.id)
