"""Adding documents and sites, which takes a while: each is a job that can be watched and cancelled."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import UploadFile

from answerable.indexing.ingest import AddReport, OnProgress
from answerable.interfaces.http import sse
from answerable.interfaces.http.access.keys import Admin
from answerable.interfaces.http.jobs import Job, Jobs
from answerable.interfaces.http.models import JobOut, JobsOut, SiteBody
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.described import responses
from answerable.interfaces.http.routes.opened import LibraryName, Opened
from answerable.interfaces.http.routes.plain_response import PlainResponse
from answerable.interfaces.http.service import Serving
from answerable.interfaces.http.uploads import receive
from answerable.sources.site.start import parse_start

router = APIRouter(prefix="/api/v1/{library}", tags=["ingestion"])

_FILES = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}, "minItems": 1}
                    },
                }
            }
        },
    }
}


@router.post(
    "/documents",
    operation_id="upload_documents",
    status_code=202,
    responses=responses(JobOut, 202),
    response_class=PlainResponse,
    openapi_extra=_FILES,
)
async def upload_documents(
    library: LibraryName, request: Request, caller: Admin, opened: Opened, service: Serving
) -> Response:
    """Takes files, to be added by a job. One with the name of an earlier one is its new version.

    The form's field is `files`. Each file's own name becomes the source of its document.
    """
    # Read here and not as a parameter: that would be done before it is known whether the caller may upload.
    async with request.form(max_files=service.options.max_files, max_fields=1) as form:
        files = [(found.filename or "", found.file) for found in form.getlist("files") if isinstance(found, UploadFile)]
        if not files or len(files) != len(form.multi_items()):
            raise Problem(422, "invalid_request", "Send at least one file, all of them in the form's field `files`.")
        incoming = await service.pool.run(receive, service.libraries.uploads(library), files)

    def work(report: AddReport, tell: OnProgress) -> None:
        incoming.add(opened, report, tell)

    try:
        job = service.jobs.start(library, list(incoming.names), work, incoming.discard)
    except BaseException:
        incoming.discard()
        raise
    return PlainResponse(job.json(), 202)


@router.post(
    "/sources",
    operation_id="add_source",
    status_code=202,
    responses=responses(JobOut, 202),
    response_class=PlainResponse,
)
async def add_source(library: LibraryName, body: SiteBody, caller: Admin, opened: Opened, service: Serving) -> Response:
    """Adds a site, a part of one or a page by a job, or brings it up to date."""

    # What can't be an address is said now.
    parse_start(body.url)

    def work(report: AddReport, tell: OnProgress) -> None:
        report.merge(opened.add(body.url, tell))

    return PlainResponse(service.jobs.start(library, [body.url], work).json(), 202)


@router.get("/jobs", operation_id="list_jobs", responses=responses(JobsOut), response_class=PlainResponse)
async def list_jobs(library: LibraryName, caller: Admin, service: Serving) -> Response:
    """Lists the library's jobs, the latest first; those that are over only for a while."""
    return PlainResponse({"jobs": [job.json() for job in service.jobs.list(library)]})


@router.get("/jobs/{job_id}", operation_id="get_job", responses=responses(JobOut), response_class=PlainResponse)
async def get_job(library: LibraryName, job_id: str, caller: Admin, service: Serving) -> Response:
    """Gives how far a job has come, and its report."""
    return PlainResponse(_found(service.jobs, library, job_id).json())


@router.get(
    "/jobs/{job_id}/events",
    operation_id="watch_job",
    responses={**responses(), 200: {"description": "The events.", "content": {sse.MEDIA_TYPE: {}}}},
    response_class=Response,
)
async def watch_job(library: LibraryName, job_id: str, caller: Admin, service: Serving) -> Response:
    """Gives the job as `progress` events while it changes, and as an `ended` event when it is over."""
    job = _found(service.jobs, library, job_id)
    return sse.EventStream(_events(service.jobs, job), service)


@router.delete(
    "/jobs/{job_id}",
    operation_id="cancel_job",
    status_code=202,
    responses=responses(JobOut, 202),
    response_class=PlainResponse,
)
async def cancel_job(library: LibraryName, job_id: str, caller: Admin, service: Serving) -> Response:
    """Cancels a job: it ends at its next step, and what it has finished stays. One that is over stays as it is."""
    job = _found(service.jobs, library, job_id)
    service.jobs.cancel(job)
    return PlainResponse(job.json(), 202)


def _found(jobs: Jobs, library: str, job_id: str) -> Job:
    job = jobs.get(job_id, library)
    if job is None:
        raise Problem(404, "job_not_found", "There is no such job here, or it has been over for long.")
    return job


async def _events(jobs: Jobs, job: Job) -> AsyncGenerator[sse.Event, None]:
    async for told in jobs.watch(job):
        yield sse.Event("ended" if told["ended"] else "progress", told)
