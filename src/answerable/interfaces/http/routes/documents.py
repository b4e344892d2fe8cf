"""Documents: lists, texts, passages, what their pages show, places on PDF pages, and original files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import FileResponse, Response

from answerable.answering.citations import saved_from
from answerable.datatypes import Document, DocumentType, Part, Span
from answerable.formats.marks import media_type_of
from answerable.interfaces.http.asking import Selection, check_span
from answerable.interfaces.http.routes.shared import (
    Admin,
    LibraryName,
    Opened,
    PlainResponse,
    Responses,
    Serving,
    api_router,
    responses,
)
from answerable.interfaces.http.schemas import (
    ChoicesOut,
    DocumentOut,
    DocumentOverviewOut,
    DocumentsOut,
    PagesOut,
    PassagesOut,
    RectanglesOut,
    StatsOut,
)
from answerable.interfaces.plain import (
    Plain,
    choices_json,
    chunk_json,
    citation_json,
    described_json,
    document_json,
    part_json,
    statistics_json,
    stats_json,
    stored_json,
    unavailable_json,
)
from answerable.library import Library
from answerable.sources.formats import SAMPLE
from answerable.tables.find import find_tables
from answerable.tables.grid import says_total
from answerable.tables.table import Kind, Origin, Row, Table

router = api_router("documents", "/api/v1/{library}")

# Limits on what a response lists. Round numbers, not measured: more than people look through.
_MOST_NEIGHBOURS = 20
_MOST_HEADINGS = 1_000  # of a document
_MOST_TABLES = 50  # of a document
_MOST_ROWS, _MOST_CELLS = 2_000, 20_000  # of all tables of a document together; of each at least some rows
_FEWEST_ROWS = 20
_SHOWN = (Origin.TABLE, Origin.CALENDAR, Origin.CONTACTS)
_PDF = "application/pdf"
_FILE: dict[str, Any] = {_PDF: {}, "application/octet-stream": {}}
# Starlette refuses ranges, as text.
_NO_RANGE: Responses = {416: {"description": "There is no such range.", "content": {"text/plain": {}}}}
_FILE_HEADERS = {
    # A file that a browser shows must not run scripts or load other files.
    "Content-Security-Policy": "sandbox; default-src 'none'; object-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-store",
}

Start = Annotated[int, Query(ge=0, description="In characters of the document's content.")]
End = Annotated[int, Query(gt=0, description="Exclusive.")]
Neighbours = Annotated[int, Query(ge=0, le=_MOST_NEIGHBOURS, description="Number of further passages.")]


@router.get("/documents", responses=responses(DocumentsOut))
async def list_documents(
    opened: Opened,
    service: Serving,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
) -> Response:
    """List the documents by source, without their text."""
    stored, waiting = await service.reads.run(lambda: (opened.documents(), opened.waiting()))
    listed = [stored_json(document) for document in stored[offset : offset + limit]]
    left_out = unavailable_json(opened.unavailable, waiting)
    return PlainResponse({"documents": listed, "total": len(stored), **left_out})


@router.get("/stats", responses=responses(StatsOut))
async def get_stats(opened: Opened, service: Serving) -> Response:
    """Count the library's documents, passages and characters."""
    return PlainResponse(stats_json(await service.reads.run(opened.stats)))


@router.get("/filters", responses=responses(ChoicesOut))
async def get_filters(opened: Opened, service: Serving) -> Response:
    """List what a search can be filtered by: types, languages, people and days."""
    return PlainResponse(choices_json(await service.reads.run(opened.choices)))


@router.get("/documents/{document_id}", responses=responses(DocumentOut))
async def get_document(document_id: str, opened: Opened, service: Serving) -> Response:
    """Get a document with its text, passages and parts."""

    def found() -> dict[str, Any]:
        document = opened.document(document_id)
        parts = [part_json(part) for part in document.parts]
        return {**document_json(document, opened.chunks(document_id)), "parts": parts}

    return PlainResponse(await service.reads.run(found))


@router.get("/documents/{document_id}/overview", responses=responses(DocumentOverviewOut))
async def get_document_overview(document_id: str, opened: Opened, service: Serving) -> Response:
    """Get what a document holds: extracts, headings, tables, and the statistics of a chat."""
    return PlainResponse(await service.pool.run(document_overview, opened, document_id))


@router.get("/documents/{document_id}/passages", responses=responses(PassagesOut))
async def get_passages(
    document_id: str,
    opened: Opened,
    service: Serving,
    start: Start,
    end: End,
    before: Neighbours = 0,
    after: Neighbours = 0,
) -> Response:
    """Get the passages a span touches, with their neighbours."""

    def found() -> list[dict[str, Any]]:
        check_span(opened, Selection(document_id, start, end))
        chunks = opened.chunks(document_id)
        touched = [number for number, chunk in enumerate(chunks) if chunk.start < end and chunk.end > start]
        wanted = chunks[max(touched[0] - before, 0) : touched[-1] + after + 1] if touched else []
        return [chunk_json(chunk) for chunk in wanted]

    return PlainResponse({"document_id": document_id, "passages": await service.reads.run(found)})


@router.get("/documents/{document_id}/rectangles", responses=responses(RectanglesOut))
async def get_rectangles(
    library: LibraryName, document_id: str, opened: Opened, service: Serving, start: Start, end: End
) -> Response:
    """Get the rectangles of a span on a picture, or on the pages of a PDF whose file is unchanged."""

    def found() -> list[dict[str, float]]:
        check_span(opened, Selection(document_id, start, end))
        document = opened.document(document_id)
        boxes = service.originals.rectangles(document.library or library, document, [(start, end)])
        return [dict(zip(("page", "left", "bottom", "right", "top"), box, strict=True)) for box in boxes]

    return PlainResponse({"rectangles": await service.pool.run(found)})


@router.get("/documents/{document_id}/pages", responses=responses(PagesOut))
async def get_pages(library: LibraryName, document_id: str, opened: Opened, service: Serving) -> Response:
    """Get the size of each page of a PDF whose file is unchanged."""

    def found() -> list[dict[str, float]]:
        document = opened.document(document_id)
        sizes = service.originals.page_sizes(document.library or library, document)
        return [{"width": width, "height": height} for width, height in sizes]

    return PlainResponse({"pages": await service.pool.run(found)})


@router.get(
    "/documents/{document_id}/file",
    responses={**responses(content=_FILE), **responses(status=206, content=_FILE), **_NO_RANGE},
    response_class=Response,
)
async def get_file(library: LibraryName, document_id: str, opened: Opened, service: Serving) -> Response:
    """Get a document's original file, if it is unchanged; for a file in an archive, the archive.

    A browser may show a PDF; it saves everything else, and never runs or renders it.
    """

    def found() -> tuple[str, bool]:
        document = opened.document(document_id)
        path = service.originals.path(document.library or library, document)
        return str(path), document.type is DocumentType.PDF and "!/" not in document.source

    path, is_pdf = await service.reads.run(found)
    return FileResponse(
        path,
        media_type=_PDF if is_pdf else "application/octet-stream",
        filename=path.rpartition("/")[2],
        content_disposition_type="inline" if is_pdf else "attachment",
        headers=_FILE_HEADERS,
    )


@router.get("/documents/{document_id}/recording", responses=responses(content={"audio/*": {}}), response_class=Response)
async def get_recording(
    library: LibraryName, document_id: str, opened: Opened, service: Serving, start: Start = 0
) -> Response:
    """Get the recording in which the text at `start` is said, if it is unchanged: the document, or a voice note."""

    def found() -> bytes:
        document = opened.document(document_id)
        return service.originals.recording(document.library or library, document, start)

    data = await service.pool.run(found)
    return Response(
        data,
        media_type=media_type_of(data[:SAMPLE]) or "application/octet-stream",
        headers={**_FILE_HEADERS, "Content-Disposition": "inline"},
    )


@router.delete("/documents/{document_id}", status_code=204, responses=responses(status=204))
async def delete_document(
    library: LibraryName, document_id: str, opened: Opened, caller: Admin, service: Serving
) -> Response:
    """Remove a document without a trace, and its file if it was uploaded."""

    def delete() -> None:
        document = opened.document(document_id)
        opened.remove(document_id)
        service.originals.discard(library, document)

    await service.pool.run(delete)
    return Response(status_code=204)


def document_overview(library: Library, document_id: str) -> Plain:
    """Return a document's extracts, headings, tables and statistics. Raise DocumentNotFound."""
    document = library.document(document_id)
    tables = [table for table in find_tables(document) if table.origin in _SHOWN]
    return {
        **described_json(document),
        "web_address": saved_from(document),
        "chunks": len(library.chunks(document_id)),
        "characters": len(document.content),
        "pages": max((part.page or 0 for part in document.parts), default=0),
        "extracts": [citation_json(each) for each in library.summary(document_id)],
        "outline": list(islice(_outline(document), _MOST_HEADINGS)),
        "statistics": statistics_json(document),
        "tables": list(_tables(tables[:_MOST_TABLES])),
    }


def _outline(document: Document) -> Iterator[Plain]:
    """Yield the headings of a document, or the names in its code, in order, without the document's title."""
    before: tuple[str, ...] = ()
    for part in document.parts:
        path = part.headings or tuple((part.symbol or "").split(".")) * bool(part.symbol)
        if path[:1] == (document.title,):
            path = path[1:]
        for level, title in enumerate(path):
            if path[: level + 1] != before[: level + 1]:
                start, end = _first_line(document.content, part)
                yield {"title": title, "level": level, "start": start, "end": end, "page": part.page}
        before = path or before


def _first_line(content: str, part: Part) -> Span:
    """Return the span of a part's first line with text, without Markdown's heading marks, which the page hides."""
    text = content[part.start : part.end]
    start = part.start + len(text) - len(text.lstrip(" \t\r\n#"))
    end = content.find("\n", start, part.end)
    return start, part.end if end < 0 else end


def _tables(tables: Sequence[Table]) -> Iterator[Plain]:
    left = _MOST_CELLS
    for table in tables:
        most = min(max(left // max(len(table.columns), 1), _FEWEST_ROWS), _MOST_ROWS)
        yield _table(table, table.rows[:most])
        left -= most * len(table.columns)


def _table(table: Table, rows: Sequence[Row]) -> Plain:
    start, end = table.span
    return {
        "title": table.title,
        "columns": [column.name for column in table.columns],
        "kinds": [column.kind.value for column in table.columns],
        "units": [each.unit if each.kind is Kind.NUMBER and each.is_quantity else None for each in table.columns],
        "rows": [[value.text for value in row.values] for row in rows],
        "values": [_numbers(row) for row in rows],
        "spans": [(row.start, row.end) for row in rows],
        "total_rows": len(table.rows),
        "start": start,
        "end": end,
    }


def _numbers(row: Row) -> list[float | None]:
    """Return the numbers of a row's cells, or times in seconds since 1970; a row of totals isn't sorted or added."""
    if says_total([value.text for value in row.values]):
        return [None] * len(row.values)
    first = datetime(1970, 1, 1)
    return [(value.time - first).total_seconds() if value.time else value.number for value in row.values]
