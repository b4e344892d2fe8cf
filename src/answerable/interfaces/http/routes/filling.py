"""Routes that fill a library: uploads, the jobs that add them, followed sources, and folders that may be followed.

Only paths below a root that the server was started with, and not hidden, may be followed, so that keys, passwords and
other libraries can't be read. Links are resolved first. Without keys every account of the machine can use the server,
so if the system says which account has opened a connection (Linux), only the server's own may name folders.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import Response
from starlette.datastructures import UploadFile

from answerable.errors import NotFollowed
from answerable.indexing.ingest import AddReport, OnProgress
from answerable.interfaces.http import sse
from answerable.interfaces.http.bodies import LONGEST_PASSWORD, ExamplesBody, SourceBody, SyncBody, VerifyBody
from answerable.interfaces.http.guards.callers import LOCAL, Caller
from answerable.interfaces.http.jobs import Job, Jobs
from answerable.interfaces.http.originals import Incoming, receive, receive_examples
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.shared import (
    Admin,
    LibraryName,
    Opened,
    PlainResponse,
    Serving,
    api_router,
    responses,
)
from answerable.interfaces.http.schemas import FoldersOut, FollowedOut, JobOut, JobsOut, ProblemOut
from answerable.interfaces.http.service import Service, start_adding, start_sync, start_verification
from answerable.interfaces.plain import origin_json
from answerable.library import Library
from answerable.sources.site.crawl import parse_start

ingestion = api_router("ingestion", "/api/v1/{library}")

_JOB = sse.reference(JobOut)
_EVENTS = sse.described({"progress": _JOB, "ended": _JOB, "error": sse.reference(ProblemOut)})
_FILES = {"type": "array", "items": {"type": "string", "format": "binary"}, "minItems": 1}
_PASSWORD = {"type": "string", "description": "Opens PDFs among the files, and isn't kept.", "maxLength": 200}
_FIELDS = {"files": _FILES, "password": _PASSWORD}
_FORM = {"schema": {"type": "object", "required": ["files"], "properties": _FIELDS}}
_UPLOAD = {"requestBody": {"required": True, "content": {"multipart/form-data": _FORM}}}


@ingestion.post("/documents", status_code=202, responses=responses(JobOut, 202), openapi_extra=_UPLOAD)
async def upload_documents(
    library: LibraryName, request: Request, caller: Admin, opened: Opened, service: Serving
) -> Response:
    """Upload files and add them in a job. A file with the name of an earlier one replaces it.

    The form's field is `files`; `password` opens encrypted PDFs. A file's name becomes the source of its document.
    """
    # The form isn't a parameter, since FastAPI would read it before it checks whether the caller may upload.
    async with request.form(max_files=service.options.max_files, max_fields=1) as form:
        files = [(found.filename or "", found.file) for found in form.getlist("files") if isinstance(found, UploadFile)]
        password = form.get("password", "")
        others = len(form.multi_items()) - len(files) - ("password" in form)
        if not files or others or not isinstance(password, str) or len(password) > LONGEST_PASSWORD:
            raise Problem(422, "invalid_request", "Send one or more files, all in the form field `files`.")
        incoming = await service.pool.run(receive, service.libraries.uploads(library), files)

    return _add(library, incoming, opened, service, password)


@ingestion.post("/examples", status_code=202, responses=responses(JobOut, 202))
async def add_examples(
    library: LibraryName, body: ExamplesBody, caller: Admin, opened: Opened, service: Serving
) -> Response:
    """Add the example documents of a language, as if they were uploaded, in a job."""
    incoming = await service.pool.run(receive_examples, service.libraries.uploads(library), body.language)
    return _add(library, incoming, opened, service)


@ingestion.get("/jobs", responses=responses(JobsOut))
async def list_jobs(library: LibraryName, caller: Admin, service: Serving) -> Response:
    """List the library's jobs, latest first. Finished ones are kept for a while."""
    return PlainResponse({"jobs": [job.json() for job in service.jobs.list(library)]})


@ingestion.get("/jobs/{job_id}", responses=responses(JobOut))
async def get_job(library: LibraryName, job_id: str, caller: Admin, service: Serving) -> Response:
    """Get a job's progress and report."""
    return PlainResponse(_found(service.jobs, library, job_id).json())


@ingestion.get("/jobs/{job_id}/events", responses=responses(content=_EVENTS), response_class=Response)
async def watch_job(library: LibraryName, job_id: str, caller: Admin, service: Serving) -> Response:
    """Watch a job: a `progress` event per change, and an `ended` event at its end."""
    job = _found(service.jobs, library, job_id)
    return sse.EventStream(_events(service.jobs, job), service)


@ingestion.delete("/jobs/{job_id}", status_code=202, responses=responses(JobOut, 202))
async def cancel_job(library: LibraryName, job_id: str, caller: Admin, service: Serving) -> Response:
    """Cancel a job at its next step. Finished documents stay; a finished job is unchanged."""
    job = _found(service.jobs, library, job_id)
    service.jobs.cancel(job)
    return PlainResponse(job.json(), 202)


def _add(library: str, incoming: Incoming, opened: Library, service: Service, password: str = "") -> Response:
    """Start the job that adds received files, or discard them."""

    def work(report: AddReport, on_progress: OnProgress) -> None:
        if not password:
            incoming.add(opened, report, on_progress)
            return
        with closing(service.libraries.reader(library, password)) as reader:
            incoming.add(opened.reading_with(reader), report, on_progress)

    try:
        job = service.jobs.start(library, list(incoming.names), work, incoming.discard)
    except BaseException:
        incoming.discard()
        raise
    return PlainResponse(job.json(), 202)


def _found(jobs: Jobs, library: str, job_id: str) -> Job:
    job = jobs.get(job_id, library)
    if job is None:
        raise Problem(404, "job_not_found", "There is no such job, or it ended long ago.")
    return job


async def _events(jobs: Jobs, job: Job) -> AsyncGenerator[sse.Event, None]:
    async for state in jobs.watch(job):
        yield sse.Event("ended" if state["ended"] else "progress", state)


following = api_router("following", "/api/v1/{library}")

# Most folders in a list that people choose from; a round number.
_MOST_LISTED = 500
_CONNECTIONS = ("/proc/net/tcp", "/proc/net/tcp6")

PathText = Annotated[str, Query(max_length=4_000, description="A folder of the server's machine; empty: the first.")]
OriginName = Annotated[str, Query(max_length=4_000, description="A followed source, from GET sources.")]


@following.get("/sources", responses=responses(FollowedOut))
async def list_sources(library: LibraryName, caller: Admin, opened: Opened, service: Serving) -> Response:
    """List the followed sources, what the last sync of each found and couldn't read, and the storage used."""

    def found() -> dict[str, Any]:
        libraries = service.libraries
        reports = service.reports.read(libraries.identity(library))
        last = reports["sources"]
        return {
            "sources": [{**origin_json(each), "report": last.get(each.name)} for each in opened.origins()],
            "every": libraries.choices(library).every,
            "tried": reports["tried"] or None,
            "may_follow_folders": bool(service.options.folders),
            "library_bytes": _size(libraries.started_with(library).library_address),
            "upload_bytes": _size(str(libraries.uploads(library))),
        }

    return PlainResponse(await service.reads.run(found))


@following.post("/sources", status_code=202, responses=responses(JobOut, 202))
async def add_source(
    library: LibraryName, body: SourceBody, request: Request, caller: Admin, service: Serving
) -> Response:
    """Add or update a site, part of a site or page, or a folder or file of the server's machine, in a job."""
    if body.url is not None:
        # Refuse an invalid address in this response rather than in the job.
        parse_start(body.url)
        source = body.url
    else:
        _check_caller(request, caller)
        source = str(await service.reads.run(_folders(service).allowed, body.path or ""))
    return PlainResponse(start_adding(service, library, source).json(), 202)


@following.delete("/sources", status_code=204, responses=responses(status=204), response_class=Response)
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


@following.post("/sync", status_code=202, responses=responses(JobOut, 202))
async def sync(library: LibraryName, body: SyncBody, caller: Admin, service: Serving) -> Response:
    """Visit followed sources again, all of them or these, in a job. What failed before is tried again."""
    return PlainResponse(start_sync(service, library, body.origins, body.password).json(), 202)


@following.post("/verify", status_code=202, responses=responses(JobOut, 202))
async def verify(library: LibraryName, body: VerifyBody, caller: Admin, service: Serving) -> Response:
    """Compare the library with its sources and its index in a job; its `result` lists the differences.

    With `repair` they are fixed as far as possible. Nothing is sent over the network.
    """
    return PlainResponse(start_verification(service, library, body.repair).json(), 202)


@following.get("/folders", responses=responses(FoldersOut))
async def list_folders(
    library: LibraryName, request: Request, caller: Admin, service: Serving, path: PathText = ""
) -> Response:
    """List the folders in a folder of the server's machine, as far as they may be followed."""
    _check_caller(request, caller)
    return PlainResponse(await service.reads.run(_folders(service).listing, path))


def _check_caller(request: Request, caller: Caller) -> None:
    """Raise Problem for another account of the machine, if the server has no keys."""
    client = request.scope.get("client")
    # Addresses that a trusted proxy forwards have no port; the proxy decides which clients it lets in.
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
        # The file was removed since it was listed.
        return 0


def _folders(service: Service) -> Folders:
    return Folders(service.options.folders, service.options.data_folder)


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders that may be followed: those below `roots`, except `own`, the server's data folder."""

    roots: Sequence[Path]
    own: Path

    def allowed(self, path: str) -> Path:
        """Return the real path of a folder or file that may be followed. Raise Problem."""
        try:
            real = Path(os.path.expanduser(path)).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            # Give the same error for a missing path and for one that the caller must not see.
            raise _refused() from None
        if not Path(os.path.expanduser(path)).is_absolute() or not self._is_below(real) or self._holds_own(real):
            raise _refused()
        return real

    def listing(self, path: str) -> dict[str, Any]:
        """Return the folders in a folder, or the roots if the path is empty. Raise Problem."""
        roots = [root.resolve() for root in self.roots]
        if not path and len(roots) != 1:
            return {"path": "", "parent": None, "folders": sorted(map(str, roots)), "files": 0}
        here = self.allowed(path) if path else self.allowed(str(roots[0]))
        try:
            with os.scandir(here) as found:
                entries = [each for each in found if not each.name.startswith(".")]
            folders = sorted((each.path for each in entries if each.is_dir(follow_symlinks=False)), key=str.casefold)
            files = sum(each.is_file() for each in entries)
        except OSError:
            raise _refused() from None
        shown = [each for each in folders if each.isprintable()][:_MOST_LISTED]
        above = (None if len(roots) == 1 else "") if here in roots else str(here.parent)
        return {"path": str(here), "parent": above, "folders": shown, "files": files}

    def _is_below(self, real: Path) -> bool:
        for root in (root.resolve() for root in self.roots):
            if real.is_relative_to(root):
                return not any(part.startswith(".") for part in real.relative_to(root).parts)
        return False

    def _holds_own(self, real: Path) -> bool:
        """Whether a path is in the server's data folder, or a walk through the path would reach this folder."""
        own = self.own.resolve()
        if real.is_relative_to(own):
            return True
        return own.is_relative_to(real) and not any(part.startswith(".") for part in own.relative_to(real).parts)


def is_own_account(client: Sequence[Any] | None, server: Sequence[Any] | None) -> bool:
    """Return whether a connection from this machine is of the server's account or of root; True if this is unknown."""
    if client is None or server is None or not hasattr(os, "getuid") or not os.path.exists(_CONNECTIONS[0]):
        return True
    ports = (int(client[1]), int(server[1]))
    owners = [uid for path in _CONNECTIONS for uid in _owners(path, ports)]
    # No owner is listed if the client is in another network namespace: refuse it.
    return bool(owners) and all(uid in (0, os.getuid()) for uid in owners)


def _owners(path: str, ports: tuple[int, int]) -> list[int]:
    try:
        lines = Path(path).read_text("ascii").splitlines()[1:]
    except OSError:
        return []
    found = (line.split() for line in lines)
    return [int(each[7]) for each in found if tuple(int(each[at].rpartition(":")[2], 16) for at in (1, 2)) == ports]


def _refused() -> Problem:
    return Problem(
        403,
        "folder_refused",
        "This folder may not be followed. Choose one of those listed, or ask the server's administrator to allow it.",
    )
