"""Conversations: each caller sees those of their own."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from answerable.interfaces.http.access.keys import Asker
from answerable.interfaces.http.models import SessionsOut, TurnsOut
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.described import responses
from answerable.interfaces.http.routes.opened import LibraryName, owner
from answerable.interfaces.http.routes.plain_response import PlainResponse
from answerable.interfaces.http.service import Serving

router = APIRouter(prefix="/api/v1/{library}/sessions", tags=["sessions"])


@router.get("", operation_id="list_sessions", responses=responses(SessionsOut), response_class=PlainResponse)
async def list_sessions(library: LibraryName, caller: Asker, service: Serving) -> Response:
    """Lists the caller's conversations in this library, the latest first, at most 100."""
    found = await service.pool.run(service.sessions.list, owner(service, library, caller))
    listed = [
        {"session": each.id, "title": each.title, "turns": each.turns, "made": each.made, "used": each.used}
        for each in found
    ]
    return PlainResponse({"sessions": listed})


@router.get("/{session}", operation_id="get_session", responses=responses(TurnsOut), response_class=PlainResponse)
async def get_session(library: LibraryName, session: str, caller: Asker, service: Serving) -> Response:
    """Gives a conversation's questions and answers, oldest first."""
    turns = await service.pool.run(service.sessions.turns, session, owner(service, library, caller))
    if turns is None:
        raise _nothing_there()
    listed = [{"asked": turn.asked, "question": turn.question, "answer": turn.answer} for turn in turns]
    return PlainResponse({"session": session, "turns": listed})


@router.delete(
    "/{session}",
    operation_id="delete_session",
    status_code=204,
    responses=responses(status=204),
    response_class=Response,
)
async def delete_session(library: LibraryName, session: str, caller: Asker, service: Serving) -> Response:
    """Deletes a conversation with all that was said in it."""
    if not await service.pool.run(service.sessions.delete, session, owner(service, library, caller)):
        raise _nothing_there()
    return Response(status_code=204)


def _nothing_there() -> Problem:
    return Problem(404, "session_not_found", "There is no such session. It may have expired.")
