"""Documents: what there is, their text, where quotes stand in them, and the files that they were made of."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, Response

from answerable.datatypes import DocumentType
from answerable.interfaces.http.access.keys import Admin
from answerable.interfaces.http.models import DocumentOut, DocumentsOut, PassagesOut, RectanglesOut, StatsOut
from answerable.interfaces.http.routes.described import responses
from answerable.interfaces.http.routes.opened import LibraryName, Opened
from answerable.interfaces.http.routes.plain_response import PlainResponse
from answerable.interfaces.http.scopes import Span, check_span
from answerable.interfaces.http.service import Serving
from answerable.interfaces.plain import chunk_json, document_json, part_json, stored_json
from answerable.library import Library

router = APIRouter(prefix="/api/v1/{library}", tags=["documents"])

_MOST_NEIGHBOURS = 20
_PDF = "application/pdf"
# Nothing of a file may run, and it may load nothing, even where a browser shows it.
_FILE_POLICY = "sandbox; default-src 'none'; object-src 'none'; frame-ancestors 'none'"

Start = Annotated[int, Query(ge=0, description="In characters of the document's content.")]
End = Annotated[int, Query(gt=0, description="Exclusive.")]
Beside = Annotated[int, Query(ge=0, le=_MOST_NEIGHBOURS, description="How many passages more.")]


@router.get(
    "/documents", operation_id="list_documents", responses=responses(DocumentsOut), response_class=PlainResponse
)
async def list_documents(
    opened: Opened,
    service: Serving,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
) -> Response:
    """Lists the documents by source, without their text."""
    stored = await service.pool.run(opened.documents)
    listed = [stored_json(document) for document in stored[offset : offset + limit]]
    return PlainResponse({"documents": listed, "total": len(stored)})


@router.get("/stats", operation_id="get_stats", responses=responses(StatsOut), response_class=PlainResponse)
async def get_stats(opened: Opened, service: Serving) -> Response:
    """Counts what the library holds."""
    found = await service.pool.run(opened.stats)
    return PlainResponse(
        {
            "documents": found.documents,
            "chunks": found.chunks,
            "characters": found.characters,
            "languages": dict(found.languages),
            "types": dict(found.types),
            "embedder": str(found.fingerprint) if found.fingerprint else None,
        }
    )


@router.get(
    "/documents/{document_id}",
    operation_id="get_document",
    responses=responses(DocumentOut),
    response_class=PlainResponse,
)
async def get_document(document_id: str, opened: Opened, service: Serving) -> Response:
    """Gives a document with its text, passages and parts."""

    def found() -> dict[str, Any]:
        document = opened.document(document_id)
        parts = [part_json(part) for part in document.parts]
        return {**document_json(document, opened.chunks(document_id)), "parts": parts}

    return PlainResponse(await service.pool.run(found))


@router.get(
    "/documents/{document_id}/passages",
    operation_id="get_passages",
    responses=responses(PassagesOut),
    response_class=PlainResponse,
)
async def get_passages(
    document_id: str,
    opened: Opened,
    service: Serving,
    start: Start,
    end: End,
    before: Beside = 0,
    after: Beside = 0,
) -> Response:
    """Gives the passages that a span touches, with those before and after them."""

    def found() -> list[dict[str, Any]]:
        check_span(opened, Span(document_id, start, end))
        chunks = opened.chunks(document_id)
        touched = [number for number, chunk in enumerate(chunks) if chunk.start < end and chunk.end > start]
        wanted = chunks[max(touched[0] - before, 0) : touched[-1] + after + 1] if touched else []
        return [chunk_json(chunk) for chunk in wanted]

    return PlainResponse({"document_id": document_id, "passages": await service.pool.run(found)})


@router.get(
    "/documents/{document_id}/rectangles",
    operation_id="get_rectangles",
    responses=responses(RectanglesOut),
    response_class=PlainResponse,
)
async def get_rectangles(
    library: LibraryName, document_id: str, opened: Opened, service: Serving, start: Start, end: End
) -> Response:
    """Gives where a span stands on the pages of a PDF whose file is there, unchanged."""

    def found() -> list[dict[str, float]]:
        check_span(opened, Span(document_id, start, end))
        boxes = service.originals.rectangles(library, opened.document(document_id), [(start, end)])
        return [dict(zip(("page", "left", "bottom", "right", "top"), box, strict=True)) for box in boxes]

    return PlainResponse({"rectangles": await service.pool.run(found)})


@router.get(
    "/documents/{document_id}/file",
    operation_id="get_file",
    responses={
        **responses(),
        200: {"description": "The file.", "content": {_PDF: {}, "application/octet-stream": {}}},
    },
    response_class=FileResponse,
)
async def get_file(library: LibraryName, document_id: str, opened: Opened, service: Serving) -> Response:
    """Gives the file that a document was made of, if it is there and hasn't changed; an archive's member the archive.

    A PDF may be shown, everything else is to be saved: never what a browser would run or render as a page.
    """

    def found() -> tuple[str, bool]:
        document = opened.document(document_id)
        path = service.originals.path(library, document)
        return str(path), document.type is DocumentType.PDF and "!/" not in document.source

    path, is_pdf = await service.pool.run(found)
    return FileResponse(
        path,
        media_type=_PDF if is_pdf else "application/octet-stream",
        filename=path.rpartition("/")[2],
        content_disposition_type="inline" if is_pdf else "attachment",
        headers={
            "Content-Security-Policy": _FILE_POLICY,
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        },
    )


@router.delete(
    "/documents/{document_id}",
    operation_id="delete_document",
    status_code=204,
    responses=responses(status=204),
)
async def delete_document(
    library: LibraryName, document_id: str, opened: Opened, caller: Admin, service: Serving
) -> Response:
    """Removes every trace of a document, and its file if it was uploaded."""
    await service.pool.run(_delete, opened, library, document_id, service)
    return Response(status_code=204)


def _delete(opened: Library, library: str, document_id: str, service: Serving) -> None:
    document = opened.document(document_id)
    opened.remove(document_id)
    service.originals.discard(library, document)
