"""What whoever runs the server asks it, and which libraries there are."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from answerable.interfaces.http import metrics
from answerable.interfaces.http.access.keys import Admin, Asker
from answerable.interfaces.http.models import LibrariesOut, StatusOut
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.described import responses
from answerable.interfaces.http.routes.plain_response import PlainResponse
from answerable.interfaces.http.service import Service, Serving

router = APIRouter(tags=["operations"])


@router.get("/health", operation_id="get_health", responses=responses(StatusOut), response_class=PlainResponse)
async def get_health() -> Response:
    """Says that the server runs."""
    return PlainResponse({"status": "ok"})


@router.get("/ready", operation_id="get_readiness", responses=responses(StatusOut), response_class=PlainResponse)
async def get_readiness(service: Serving) -> Response:
    """Says whether every library is open and its store answers."""
    try:
        await service.pool.run(_count_all, service)
    except Exception as error:
        raise Problem(503, "not_ready", "A library can't be used. The server's log says why.") from error
    return PlainResponse({"status": "ready"})


@router.get(
    "/metrics",
    operation_id="get_metrics",
    responses={**responses(), 200: {"description": "Figures for Prometheus.", "content": {"text/plain": {}}}},
    response_class=Response,
)
async def get_metrics(caller: Admin, service: Serving) -> Response:
    """Gives counts and times of all libraries for Prometheus, without anything of questions and documents."""
    if caller.library:
        raise Problem(403, "forbidden", "These are the figures of all libraries, and the key opens one of them.")
    return Response(service.metrics.text(), headers={"Content-Type": metrics.CONTENT_TYPE})


@router.get(
    "/api/v1/libraries", operation_id="list_libraries", responses=responses(LibrariesOut), response_class=PlainResponse
)
async def list_libraries(caller: Asker, service: Serving) -> Response:
    """Lists the libraries that the caller may use."""
    listed = [
        {"name": name, "default": name == service.libraries.default, "may_change": caller.role == "admin"}
        for name in service.libraries.names()
        if caller.sees(name)
    ]
    return PlainResponse({"libraries": listed})


def _count_all(service: Service) -> None:
    for name in service.libraries.names():
        service.libraries.get(name).count()
