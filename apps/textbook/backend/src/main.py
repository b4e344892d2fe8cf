"""The textbook's service: `uvicorn src.main:app`, from the folder `backend`."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, Request, Response
from fastapi.responses import JSONResponse

from answerable.datatypes import Exchange
from answerable.interfaces.http.guards.request_bodies import Bodies, BodyLimits
from answerable.interfaces.http.problems import Problem, add_handlers, problem
from src.cors import UNSUPPORTED, BookPages
from src.errors import OpenAIAPIError, QdrantOperationError
from src.models import ChatRequest, ChatResponse, IngestRequest, IngestResponse
from src.services import chat_service
from src.services.history import History
from src.services.ingestion import Ingestion, Outcome
from src.settings import load
from src.starting import PlainStart, warn

_LONGEST_BODY = 200_000
# For what asks no model: conversations, searches, an ingestion.
_OTHER_THREADS = 16


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[dict[str, Ingestion]]:
    settings = load()
    warn(settings)
    # A message that a model answers holds a thread: Python's own number of them is a few more than the processors.
    threads = ThreadPoolExecutor(settings.engine.provider_concurrency + _OTHER_THREADS, "textbook")
    asyncio.get_running_loop().set_default_executor(threads)
    app.state.history = History(settings.sessions_path)
    ingestion = Ingestion()
    try:
        yield {"ingestion": ingestion}
    finally:
        await ingestion.close()
        app.state.history.close()


app = FastAPI(
    title="Physical AI & Humanoid Robotics",
    summary="Answers from the textbook, with where in it they come from.",
    lifespan=_lifespan,
    # Their pages load scripts from elsewhere.
    docs_url=None,
    redoc_url=None,
)
app.add_middleware(Bodies, limits=BodyLimits(json_bytes=_LONGEST_BODY))
add_handlers(app)
app.add_middleware(BookPages)
app.add_middleware(PlainStart)


def admin(x_admin_key: Annotated[str | None, Header()] = None) -> None:
    """Lets whoever has the key of ADMIN_API_KEY pass, nobody where there is none. Raises Problem 401."""
    key = load().admin_key.encode()
    # Headers are decoded as Latin-1, whatever was sent.
    given = (x_admin_key or "").encode("latin-1", "replace")
    if not key or not hmac.compare_digest(given, key):
        raise Problem(
            401, "unauthorized", "Send the administrator's key as X-Admin-Key.", {"WWW-Authenticate": "X-Admin-Key"}
        )


@app.post("/chat", responses={502: {"description": "OpenAI failed."}, 503: {"description": "Try again later."}})
async def chat(request: ChatRequest, http: Request, response: Response) -> ChatResponse:
    """Answers a message from the textbook, in the light of what was said in its session before.

    `X-Unsupported-Sentences` counts the sentences of the answer that the textbook's passages don't back.
    """
    history: History = http.app.state.history
    before = await asyncio.to_thread(history.exchanges, request.session_id)
    reply = await chat_service.answer(load(), request.message, request.selected_text or "", before)
    response.headers[UNSUPPORTED] = str(reply.unsupported)
    exchange = Exchange(request.message, reply.searched, reply.text)
    await asyncio.to_thread(history.add, request.session_id, exchange)
    return ChatResponse(response=reply.text, session_id=request.session_id, sources=list(reply.sources) or None)


_REFUSED: dict[int | str, dict[str, Any]] = {401: {"description": "The key is missing or wrong."}}
_OUTCOMES: dict[int | str, dict[str, Any]] = {
    **_REFUSED,
    202: {"model": IngestResponse, "description": "It goes on in the background."},
    409: {"model": IngestResponse, "description": "An ingestion is under way."},
    500: {"model": IngestResponse, "description": "It failed; the book is as it was."},
}
_NONE: dict[int | str, dict[str, Any]] = {404: {"description": "There was none since the service started."}}


@app.post("/ingest", response_model=IngestResponse, responses=_OUTCOMES, dependencies=[Depends(admin)])
async def ingest(http: Request, request: IngestRequest | None = None) -> JSONResponse:
    """Brings the collection up to date with the book's Markdown; what takes long goes on in the background."""
    asked: Ingestion = http.state.ingestion
    outcome = await asked.start(request is not None and request.force_resync, load().ingest_wait)
    return JSONResponse(outcome.response.model_dump(), outcome.status)


@app.get("/ingest", responses={**_REFUSED, **_NONE}, dependencies=[Depends(admin)])
async def ingestion(http: Request) -> IngestResponse:
    """What has become of the last ingestion."""
    outcome: Outcome | None = http.state.ingestion.last()
    if outcome is None:
        raise Problem(404, "not_found", "Nothing was ingested since the service started. POST /ingest does it.")
    return outcome.response


@app.get("/health")
async def health() -> dict[str, str]:
    """Whether the service answers; nobody else is asked."""
    return {"status": "ok"}


@app.exception_handler(OpenAIAPIError)
async def _openai_failed(_: Request, error: OpenAIAPIError) -> Response:
    wait = {"Retry-After": str(int(error.retry_after) or 1)} if error.retry_after is not None else None
    return problem(503 if error.retryable else 502, "openai_error", str(error), wait)


@app.exception_handler(QdrantOperationError)
async def _qdrant_failed(_: Request, error: QdrantOperationError) -> Response:
    return problem(503, "qdrant_error", str(error))
