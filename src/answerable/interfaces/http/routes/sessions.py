"""Conversations, of which callers see only their own; and votes on their answers.

Votes are kept as a question list that `answerable eval` reads (docs/evaluation.md). The line of an answer voted up has
its documents and the words that answer, or says that there is no answer. The line of an answer voted down has no
expected answer until somebody writes one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import Response

from answerable.disk.files import is_full, make_folder, no_room, replace_file
from answerable.errors import LibraryError
from answerable.interfaces.http.bodies import TitleBody, VoteBody
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.shared import (
    Asker,
    LibraryName,
    PlainResponse,
    Serving,
    api_router,
    owner,
    responses,
)
from answerable.interfaces.http.schemas import SessionsOut, TurnsOut

_lock = threading.Lock()

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
        _keep_vote(service.libraries.votes(library), found, body.vote)
        return service.sessions.vote(session, whose, turn, body.vote or "")

    if not await service.reads.run(keep):
        raise Problem(404, "turn_not_found", "There is no such answer. It may have been asked again, or deleted.")
    return Response(status_code=204)


def _nothing_there() -> Problem:
    return Problem(404, "session_not_found", "There is no such session. It may have expired.")


def _keep_vote(path: Path, turn: Mapping[str, Any], vote: str | None) -> None:
    """Write the vote on a turn to a list, replacing an earlier vote; None removes the vote. Other lines stay unchanged.

    Raise LibraryError or DiskFull if the file can't be written.
    """
    line = [json.dumps(_line(turn, vote), ensure_ascii=False)] if vote else []
    try:
        with _lock:
            make_folder(path.parent)
            # Not `splitlines`, which also splits at characters that a text may contain, such as U+2028.
            lines = [each for each in path.read_text("utf-8-sig").split("\n") if each.strip()] if path.exists() else []
            kept = [each for each in lines if _id(each) != turn["turn"]]
            if line or len(kept) < len(lines):
                replace_file(path, "".join(f"{each}\n" for each in (*kept, *line)))
    except (OSError, ValueError) as error:
        if is_full(error, path):
            raise no_room(path) from error
        raise LibraryError(f"Can't write votes to {path} ({error}). Check its permissions and content.") from error


def _id(line: str) -> str | None:
    """Return the id in a line; None for a line that isn't valid any more after people have edited it."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found.get("id") if isinstance(found, dict) else None


def _line(turn: Mapping[str, Any], vote: str) -> dict[str, Any]:
    answer = turn["answer"]
    citations = answer["citations"]
    about = {
        "id": turn["turn"],
        "question": answer["question"],
        "judgement": vote,
        # What the user typed, if a follow-up question was completed from the conversation.
        **({"asked": turn["question"]} if turn["question"] != answer["question"] else {}),
        "given": answer["text"],
        "quotes": [{"document": each["source"], "quote": each["quote"]} for each in citations],
    }
    if vote == "down":
        return about
    if not answer["answered"]:
        return {**about, "unanswerable": True}
    documents = list(dict.fromkeys(_name(each) for each in citations))
    words = next(filter(None, map(_answering, citations)), None)
    return {**about, "document": documents, **({"answer": [words]} if words else {})}


def _name(citation: Mapping[str, Any]) -> str:
    """Return the source of a citation, or the document's id if a list would change the source's white space."""
    source: str = citation["source"]
    return source if source and " ".join(source.split()) == source else str(citation["document_id"])


def _answering(citation: Mapping[str, Any]) -> str:
    if not citation.get("answer"):
        return ""
    first, last = (place - citation["start"] for place in citation["answer"])
    return " ".join(str(citation["quote"])[first:last].split())
