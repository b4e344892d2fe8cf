"""Upload documents, and watch and cancel jobs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import closing

from fastapi import Request
from fastapi.responses import Response
from starlette.datastructures import UploadFile

from answerable.indexing.ingest import AddReport, OnProgress
from answerable.interfaces.http import sse
from answerable.interfaces.http.access.callers import Admin
from answerable.interfaces.http.bodies import LONGEST_PASSWORD, ExamplesBody
from answerable.interfaces.http.jobs import Job, Jobs
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.dependencies import LibraryName, Opened
from answerable.interfaces.http.routes.responses import PlainResponse, api_router, responses
from answerable.interfaces.http.schemas import JobOut, JobsOut
from answerable.interfaces.http.service import Service, Serving
from answerable.interfaces.http.uploads import Incoming, receive, receive_examples
from answerable.library import Library

router = api_router("ingestion", "/api/v1/{library}")

_FILES = {"type": "array", "items": {"type": "string", "format": "binary"}, "minItems": 1}
_PASSWORD = {"type": "string", "description": "Opens PDFs among the files, and isn't kept.", "maxLength": 200}
_FIELDS = {"files": _FILES, "password": _PASSWORD}
_FORM = {"schema": {"type": "object", "required": ["files"], "properties": _FIELDS}}
_UPLOAD = {"requestBody": {"required": True, "content": {"multipart/form-data": _FORM}}}


@router.post("/documents", status_code=202, responses=responses(JobOut, 202), openapi_extra=_UPLOAD)
async def upload_documents(
    library: LibraryName, request: Request, caller: Admin, opened: Opened, service: Serving
) -> Response:
    """Upload files and add them in a job. A file with the name of an earlier one replaces it.

    The form's field is `files`; `password` opens encrypted PDFs. A file's name becomes the source of its document.
    """
    # Not a parameter: FastAPI would read it before it is known whether the caller may upload.
    async with request.form(max_files=service.options.max_files, max_fields=1) as form:
        files = [(found.filename or "", found.file) for found in form.getlist("files") if isinstance(found, UploadFile)]
        password = form.get("password", "")
        others = len(form.multi_items()) - len(files) - ("password" in form)
        if not files or others or not isinstance(password, str) or len(password) > LONGEST_PASSWORD:
            raise Problem(422, "invalid_request", "Send one or more files, all in the form field `files`.")
        incoming = await service.pool.run(receive, service.libraries.uploads(library), files)

    return _add(library, incoming, opened, service, password)


@router.post("/examples", status_code=202, responses=responses(JobOut, 202))
async def add_examples(
    library: LibraryName, body: ExamplesBody, caller: Admin, opened: Opened, service: Serving
) -> Response:
    """Add the example documents of a language, as if they were uploaded, in a job."""
    incoming = await service.pool.run(receive_examples, service.libraries.uploads(library), body.language)
    return _add(library, incoming, opened, service)


@router.get("/jobs", responses=responses(JobsOut))
async def list_jobs(library: LibraryName, caller: Admin, service: Serving) -> Response:
    """List the library's jobs, latest first. Finished ones are kept for a while."""
    return PlainResponse({"jobs": [job.json() for job in service.jobs.list(library)]})


@router.get("/jobs/{job_id}", responses=responses(JobOut))
async def get_job(library: LibraryName, job_id: str, caller: Admin, service: Serving) -> Response:
    """Get a job's progress and report."""
    return PlainResponse(_found(service.jobs, library, job_id).json())


@router.get(
    "/jobs/{job_id}/events",
    responses={**responses(), 200: {"description": "The events.", "content": {sse.MEDIA_TYPE: {}}}},
    response_class=Response,
)
async def watch_job(library: LibraryName, job_id: str, caller: Admin, service: Serving) -> Response:
    """Watch a job: a `progress` event per change, and an `ended` event at its end."""
    job = _found(service.jobs, library, job_id)
    return sse.EventStream(_events(service.jobs, job), service)


@router.delete("/jobs/{job_id}", status_code=202, responses=responses(JobOut, 202))
async def cancel_job(library: LibraryName, job_id: str, caller: Admin, service: Serving) -> Response:
    """Cancel a job at its next step. Finished documents stay; a finished job is unchanged."""
    job = _found(service.jobs, library, job_id)
    service.jobs.cancel(job)
    return PlainResponse(job.json(), 202)


def _add(library: str, incoming: Incoming, opened: Library, service: Service, password: str = "") -> Response:
    """Start the job that adds received files, or discard them."""

    def work(report: AddReport, tell: OnProgress) -> None:
        if not password:
            incoming.add(opened, report, tell)
            return
        with closing(service.libraries.reader(library, password)) as reader:
            incoming.add(opened.reading_with(reader), report, tell)

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
