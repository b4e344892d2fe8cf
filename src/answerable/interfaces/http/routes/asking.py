"""Asking and searching."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from answerable.interfaces.http import sse
from answerable.interfaces.http.access.keys import Asker
from answerable.interfaces.http.asking import Ask, Asking
from answerable.interfaces.http.models import AnswerOut, AskBody, FoundOut, SearchBody
from answerable.interfaces.http.routes.described import responses
from answerable.interfaces.http.routes.opened import LibraryName, Opened, owner
from answerable.interfaces.http.routes.plain_response import PlainResponse
from answerable.interfaces.http.scopes import Span
from answerable.interfaces.http.service import Serving
from answerable.interfaces.plain import narrowing_json, result_json

router = APIRouter(prefix="/api/v1/{library}", tags=["asking"])


@router.post("/ask", operation_id="ask", responses=responses(AnswerOut, events=True), response_class=PlainResponse)
async def ask(
    library: LibraryName, body: AskBody, request: Request, opened: Opened, caller: Asker, service: Serving
) -> Response:
    """Answers a question from the documents, or says that they don't say.

    With `Accept: text/event-stream` the answer comes as events: `searched` (the question as it is searched for, and in
    which part of the library; what came before it is void), `text` and `mark` as a model writes, and `answer`, which
    is all that the JSON answer is; or `error`, a problem. What a model wrote is checked only in `answer`.
    """
    asking = Asking(opened, owner(service, library, caller), service.sessions, service.metrics)
    asked = _parsed(body)
    events = service.pool.stream(lambda: asking.events(asked))
    if sse.MEDIA_TYPE in request.headers.get("accept", ""):
        return sse.EventStream(events, service)
    return PlainResponse((await sse.last_of(events, request.receive, service)).data)


@router.post("/search", operation_id="search", responses=responses(FoundOut), response_class=PlainResponse)
async def search(body: SearchBody, opened: Opened, service: Serving) -> Response:
    """Finds the passages that have most to say on a question."""

    def found() -> dict[str, Any]:
        results = opened.search(body.question, body.k, body.where)
        return {"results": [result_json(result) for result in results], "narrowing": narrowing_json(results.narrowing)}

    return PlainResponse(await service.pool.run(found))


def _parsed(body: AskBody) -> Ask:
    span = Span(body.hint.document_id, body.hint.start, body.hint.end) if body.hint else None
    return Ask(body.question, body.where, body.session, body.selected_text, span, body.keep)
