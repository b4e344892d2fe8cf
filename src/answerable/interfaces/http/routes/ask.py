"""Ask and search."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import Response

from answerable.interfaces.http import sse
from answerable.interfaces.http.asking import Answering
from answerable.interfaces.http.bodies import AskBody, PlacesBody, SearchBody
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.shared import (
    Asker,
    LibraryName,
    Opened,
    PlainResponse,
    Serving,
    api_router,
    owner,
    responses,
)
from answerable.interfaces.http.schemas import AnswerOut, CitationOut, FoundOut, PlacesOut, ProblemOut
from answerable.interfaces.plain import citation_json, narrowing_json, result_json, unavailable_json

router = api_router("asking", "/api/v1/{library}")

_EVENTS = sse.described(
    {
        "searched": sse.fields(question="string", scope={"enum": ["section", "document", "library"]}),
        "step": sse.fields(tool="string", asked="string"),
        "text": sse.fields(text="string"),
        "mark": {"allOf": [sse.fields(number="integer"), sse.reference(CitationOut)]},
        "answer": sse.reference(AnswerOut),
        "error": sse.reference(ProblemOut),
    }
)


@router.post("/ask", responses=responses(AnswerOut, content=_EVENTS))
async def ask(
    library: LibraryName, body: AskBody, request: Request, opened: Opened, caller: Asker, service: Serving
) -> Response:
    """Answer a question from the documents, or report that they don't answer it.

    With `Accept: text/event-stream` the answer comes as events: `searched` (the question as searched, and the part of
    the library; it voids all text before it); of a model `step` (what it asks a tool for), `text`, and `mark` (a
    citation, before its number is in the text); then `answer`, the same as the JSON answer, or `error`, a problem.
    """
    answering = Answering(opened, owner(service, library, caller), service.sessions, service.metrics)
    events = service.pool.stream(lambda work: answering.events(body, work))
    if sse.MEDIA_TYPE in request.headers.get("accept", ""):
        return sse.EventStream(events, service)
    return PlainResponse((await sse.last_of(events, request.receive, service)).data)


@router.post("/search", responses=responses(FoundOut))
async def search(body: SearchBody, opened: Opened, service: Serving) -> Response:
    """Find the most relevant passages for a question."""

    def found() -> dict[str, Any]:
        results = opened.search(body.question, body.k, body.where, body.narrow)
        listed = [result_json(result) for result in results]
        narrowing = narrowing_json(results.narrowing)
        return {"results": listed, "narrowing": narrowing, **unavailable_json(results.unavailable, results.waiting)}

    return PlainResponse(await service.pool.run(found))


@router.post("/places", responses=responses(PlacesOut))
async def find_places(body: PlacesBody, opened: Opened, service: Serving) -> Response:
    """Find where exactly this text appears, in up to 512 passages of each language."""
    try:
        found = await service.pool.run(opened.places, body.quote, body.where)
    except ValueError as error:
        raise Problem(422, "invalid_request", f"{error}.") from error
    return PlainResponse({"places": [citation_json(place) for place in found]})
