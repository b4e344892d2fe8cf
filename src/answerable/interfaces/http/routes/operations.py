"""Health, readiness and metrics."""

from __future__ import annotations

from fastapi.responses import Response

from answerable.interfaces.http import metrics
from answerable.interfaces.http.access.callers import Admin
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.responses import PlainResponse, api_router, responses
from answerable.interfaces.http.schemas import StatusOut
from answerable.interfaces.http.service import Serving

router = api_router("operations")


@router.get("/health", responses=responses(StatusOut))
async def get_health() -> Response:
    """Report that the server is running."""
    return PlainResponse({"status": "ok"})


@router.get("/ready", responses=responses(StatusOut))
async def get_readiness(service: Serving) -> Response:
    """Report whether every library is open and its store responds."""

    def count_all() -> None:
        for name in service.libraries.names():
            service.libraries.get(name).count()

    try:
        await service.reads.run(count_all)
    except Exception as error:
        raise Problem(503, "not_ready", "A library is unavailable. See the server's log.") from error
    return PlainResponse({"status": "ready"})


@router.get(
    "/metrics",
    responses={**responses(), 200: {"description": "Figures for Prometheus.", "content": {"text/plain": {}}}},
    response_class=Response,
)
async def get_metrics(caller: Admin, service: Serving) -> Response:
    """Get counts and times of all libraries for Prometheus, without contents of questions or documents."""
    if caller.library:
        raise Problem(403, "forbidden", "Metrics cover all libraries, and this key opens only one.")
    return Response(service.metrics.text(), headers={"Content-Type": metrics.CONTENT_TYPE})
