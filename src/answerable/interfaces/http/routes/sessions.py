"""Conversations; callers see only their own."""

from __future__ import annotations

from fastapi.responses import Response

from answerable.interfaces.http.access.callers import Asker
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.dependencies import LibraryName, owner
from answerable.interfaces.http.routes.responses import PlainResponse, api_router, responses
from answerable.interfaces.http.schemas import SessionsOut, TurnsOut
from answerable.interfaces.http.service import Serving

router = api_router("sessions", "/api/v1/{library}/sessions")


@router.get("", responses=responses(SessionsOut))
async def list_sessions(library: LibraryName, caller: Asker, service: Serving) -> Response:
    """List the caller's latest 100 conversations in this library."""
    found = await service.pool.run(service.sessions.list, owner(service, library, caller))
    return PlainResponse({"sessions": found})


@router.get("/{session}", responses=responses(TurnsOut))
async def get_session(library: LibraryName, session: str, caller: Asker, service: Serving) -> Response:
    """Get a conversation's questions and answers, oldest first."""
    turns = await service.pool.run(service.sessions.turns, session, owner(service, library, caller))
    if turns is None:
        raise _nothing_there()
    return PlainResponse({"session": session, "turns": turns})


@router.delete("/{session}", status_code=204, responses=responses(status=204), response_class=Response)
async def delete_session(library: LibraryName, session: str, caller: Asker, service: Serving) -> Response:
    """Delete a conversation with its questions and answers."""
    if not await service.pool.run(service.sessions.delete, session, owner(service, library, caller)):
        raise _nothing_there()
    return Response(status_code=204)


def _nothing_there() -> Problem:
    return Problem(404, "session_not_found", "There is no such session. It may have expired.")
