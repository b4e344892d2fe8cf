"""Conversations; callers see only their own."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.responses import Response

from answerable.interfaces.http.access.callers import Asker
from answerable.interfaces.http.bodies import TitleBody, VoteBody
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.dependencies import LibraryName, owner
from answerable.interfaces.http.routes.responses import PlainResponse, api_router, responses
from answerable.interfaces.http.schemas import SessionsOut, TurnsOut
from answerable.interfaces.http.service import Serving
from answerable.interfaces.http.votes import keep_vote

router = api_router("sessions", "/api/v1/{library}/sessions")

Words = Annotated[str, Query(max_length=200, description="Only conversations that have all of these words.")]
Limit = Annotated[int, Query(ge=1, le=10_000)]


@router.get("", responses=responses(SessionsOut))
async def list_sessions(
    library: LibraryName, caller: Asker, service: Serving, words: Words = "", limit: Limit = 100
) -> Response:
    """List or search the caller's conversations in this library, the last used first."""
    found = await service.reads.run(service.sessions.list, owner(service, library, caller), limit, words)
    return PlainResponse({"sessions": found})


@router.get("/{session}", responses=responses(TurnsOut))
async def get_session(library: LibraryName, session: str, caller: Asker, service: Serving) -> Response:
    """Get a conversation's questions and answers, oldest first."""
    whose = owner(service, library, caller)
    turns = await service.reads.run(service.sessions.turns, session, whose)
    title = await service.reads.run(service.sessions.title, session, whose)
    if turns is None or title is None:
        raise _nothing_there()
    return PlainResponse({"session": session, "title": title, "turns": turns})


@router.patch("/{session}", status_code=204, responses=responses(status=204), response_class=Response)
async def rename_session(
    library: LibraryName, session: str, body: TitleBody, caller: Asker, service: Serving
) -> Response:
    """Give a conversation a title."""
    title = " ".join(body.title.split())
    if not await service.reads.run(service.sessions.rename, session, owner(service, library, caller), title):
        raise _nothing_there()
    return Response(status_code=204)


@router.delete("/{session}", status_code=204, responses=responses(status=204), response_class=Response)
async def delete_session(library: LibraryName, session: str, caller: Asker, service: Serving) -> Response:
    """Delete a conversation with its questions and answers."""
    if not await service.reads.run(service.sessions.delete, session, owner(service, library, caller)):
        raise _nothing_there()
    return Response(status_code=204)


@router.put("/{session}/turns/{turn}/vote", status_code=204, responses=responses(status=204), response_class=Response)
async def vote(
    library: LibraryName, session: str, turn: str, body: VoteBody, caller: Asker, service: Serving
) -> Response:
    """Say whether an answer is right. The server keeps it, with the question, in a list for `answerable eval`."""
    whose = owner(service, library, caller)

    def keep() -> bool:
        found = service.sessions.turn(session, whose, turn)
        if found is None:
            return False
        keep_vote(service.libraries.votes(library), found, body.vote)
        return service.sessions.vote(session, whose, turn, body.vote or "")

    if not await service.reads.run(keep):
        raise Problem(404, "turn_not_found", "There is no such answer. It may have been asked again, or deleted.")
    return Response(status_code=204)


def _nothing_there() -> Problem:
    return Problem(404, "session_not_found", "There is no such session. It may have expired.")
