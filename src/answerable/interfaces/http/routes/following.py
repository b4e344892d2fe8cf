"""The followed sources of a library: list them, sync, stop following, verify; and which folders may be followed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import Response

from answerable.errors import NotFollowed
from answerable.interfaces.http.access.callers import LOCAL, Admin, Caller
from answerable.interfaces.http.bodies import SourceBody, SyncBody, VerifyBody
from answerable.interfaces.http.folders import is_own_account
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.dependencies import LibraryName, Opened
from answerable.interfaces.http.routes.responses import PlainResponse, api_router, responses
from answerable.interfaces.http.schemas import FoldersOut, FollowedOut, JobOut
from answerable.interfaces.http.service import Serving
from answerable.interfaces.http.syncing import start_adding, start_sync, start_verification
from answerable.interfaces.plain import origin_json
from answerable.sources.site.start import parse_start

router = api_router("following", "/api/v1/{library}")

PathText = Annotated[str, Query(max_length=4_000, description="A folder of the server's machine; empty: the first.")]
OriginName = Annotated[str, Query(max_length=4_000, description="A followed source, from GET sources.")]


@router.get("/sources", responses=responses(FollowedOut))
async def list_sources(library: LibraryName, caller: Admin, opened: Opened, service: Serving) -> Response:
    """List what the library follows, what the last sync of each found and couldn't read, and the storage used."""

    def found() -> dict[str, Any]:
        libraries = service.libraries
        reports = service.reports.read(libraries.identity(library))
        last = reports["sources"]
        return {
            "sources": [{**origin_json(each), "report": last.get(each.name)} for each in opened.origins()],
            "every": libraries.choices(library).every,
            "tried": reports["tried"] or None,
            "may_follow_folders": bool(service.folders.roots),
            "library_bytes": _size(libraries.started_with(library).library_address),
            "upload_bytes": _size(str(libraries.uploads(library))),
        }

    return PlainResponse(await service.reads.run(found))


@router.post("/sources", status_code=202, responses=responses(JobOut, 202))
async def add_source(
    library: LibraryName, body: SourceBody, request: Request, caller: Admin, service: Serving
) -> Response:
    """Add or update a site, part of a site or page, or a folder or file of the server's machine, in a job."""
    if body.url is not None:
        # Refuse an invalid address now rather than in the job.
        parse_start(body.url)
        source = body.url
    else:
        _check_caller(request, caller)
        source = str(await service.reads.run(service.folders.allowed, body.path or ""))
    return PlainResponse(start_adding(service, library, source).json(), 202)


@router.delete("/sources", status_code=204, responses=responses(status=204), response_class=Response)
async def unfollow_source(
    library: LibraryName, caller: Admin, opened: Opened, service: Serving, origin: OriginName
) -> Response:
    """Stop following a source, and remove its documents that no other source has. Its files stay."""

    def unfollow() -> None:
        try:
            opened.unfollow(origin)
        except NotFollowed as error:
            raise Problem(404, "not_followed", "The library doesn't follow this. Load the list again.") from error
        service.reports.record(service.libraries.identity(library), {}, opened.origins())

    await service.pool.run(unfollow)
    return Response(status_code=204)


@router.post("/sync", status_code=202, responses=responses(JobOut, 202))
async def sync(library: LibraryName, body: SyncBody, caller: Admin, service: Serving) -> Response:
    """Visit followed sources again, all of them or these, in a job. What failed before is tried again."""
    return PlainResponse(start_sync(service, library, body.origins, body.password).json(), 202)


@router.post("/verify", status_code=202, responses=responses(JobOut, 202))
async def verify(library: LibraryName, body: VerifyBody, caller: Admin, service: Serving) -> Response:
    """Compare the library with its sources and its index in a job; its `result` lists the differences.

    With `repair` they are fixed as far as possible. Nothing is sent over the network.
    """
    return PlainResponse(start_verification(service, library, body.repair).json(), 202)


@router.get("/folders", responses=responses(FoldersOut))
async def list_folders(
    library: LibraryName, request: Request, caller: Admin, service: Serving, path: PathText = ""
) -> Response:
    """List the folders in a folder of the server's machine, as far as they may be followed."""
    _check_caller(request, caller)
    return PlainResponse(await service.reads.run(service.folders.listing, path))


def _check_caller(request: Request, caller: Caller) -> None:
    """Refuse other accounts of the machine where there are no keys. Raise Problem."""
    client = request.scope.get("client")
    # A proxy that the server trusts gives addresses of clients without a port; it decides who may come in.
    is_forwarded = client is not None and not client[1]
    if caller == LOCAL and not is_forwarded and not is_own_account(client, request.scope.get("server")):
        raise Problem(403, "forbidden", "Without keys only the account that runs the server may name its folders.")


def _size(address: str) -> int | None:
    """Return the size of all files in a folder in bytes; None for a library on another server."""
    if "://" in address:
        return None
    walked = os.walk(os.path.expanduser(address))
    return sum(_size_of(Path(folder, name)) for folder, _, names in walked for name in names)


def _size_of(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        # Gone since it was listed.
        return 0
