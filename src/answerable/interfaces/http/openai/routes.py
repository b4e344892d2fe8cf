"""The routes of OpenAI's protocol: each library is a model that answers with citations, or refuses.

If a chat model writes the answer, its text is sent only after the whole answer was checked, since clients show no marks
of sentences but those in the text.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Generator
from contextlib import closing

import numpy as np
from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel

from answerable.datatypes import FloatArray
from answerable.interfaces.http import sse
from answerable.interfaces.http.guards.callers import Caller
from answerable.interfaces.http.openai.completions import Completion
from answerable.interfaces.http.openai.responses import Reply
from answerable.interfaces.http.openai.schemas import (
    CHUNKS,
    RESPONSE_EVENTS,
    ChatBody,
    ChatOut,
    EmbeddingsBody,
    EmbeddingsOut,
    ErrorBody,
    ModelOut,
    ModelsOut,
    ResponseOut,
    ResponsesBody,
    unsupported,
)
from answerable.interfaces.http.paths import OPENAI
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.shared import Asker, PlainResponse, Responses, Serving, api_router, responses
from answerable.interfaces.http.service import Service
from answerable.interfaces.plain import Plain
from answerable.library import Library
from answerable.protocols import Passage
from answerable.sharing import Work

router = api_router("OpenAI", OPENAI)


def _described(model: type[BaseModel], stream: dict[str, sse.Schema] | None = None) -> Responses:
    """Return the OpenAPI description of a route's responses, with errors in OpenAI's form."""
    return {
        code: {"model": ErrorBody, "description": said["description"]} if int(code) >= 400 else said
        for code, said in responses(model, content=stream).items()
    }


@router.get("/models", responses=_described(ModelsOut))
async def list_models(caller: Asker, service: Serving) -> Response:
    """List the libraries that the API key can use, in the format of OpenAI's models."""
    names = service.libraries.seen(caller.sees)
    return PlainResponse({"object": "list", "data": [_model(name, service) for name in names]})


@router.get("/models/{model}", responses=_described(ModelOut))
async def get_model(model: str, caller: Asker, service: Serving) -> Response:
    """Get a library, in the format of OpenAI's models."""
    return PlainResponse(_model(_known(model, caller, service), service))


@router.post("/chat/completions", responses=_described(ChatOut, CHUNKS))
async def create_chat_completion(body: ChatBody, request: Request, caller: Asker, service: Serving) -> Response:
    """Answer the last message of a conversation from a library, or report that its documents don't answer it.

    Each mark `[n]` in the text is the n-th of `sources`, and an annotation of the message. A stream sends the checked
    text first, then both in one chunk.
    """
    has_usage = bool(body.stream_options and body.stream_options.include_usage)
    return await _answered(Completion(body.model, body.stops(), has_usage), body, request, caller, service)


@router.post("/responses", responses=_described(ResponseOut, RESPONSE_EVENTS))
async def create_response(body: ResponsesBody, request: Request, caller: Asker, service: Serving) -> Response:
    """Answer the last message of the input from a library, or report that its documents don't answer it.

    Each mark `[n]` in the text is the n-th of `sources`, and an annotation of the text. Tools aren't called for the
    client or shown to it, and nothing is kept.
    """
    return await _answered(Reply(body.model), body, request, caller, service)


@router.post("/embeddings", responses=_described(EmbeddingsOut))
async def create_embeddings(body: EmbeddingsBody, caller: Asker, service: Serving) -> Response:
    """Embed texts with a library's embedder."""
    library = await service.pool.run(service.libraries.get, _known(body.model, caller, service))
    dimension = library.embedder.fingerprint.dimension
    if body.dimensions not in (None, dimension):
        raise unsupported("dimensions", f"The vectors have {dimension} dimensions: leave dimensions out.")
    return PlainResponse(await service.pool.run(_embeddings, library, body))


class _Writing(sse.Event):
    """A comment sent while a model works. Clients ignore it; sending it shows whether a client has gone."""

    def encoded(self) -> bytes:
        return b": writing\n\n"


class _Stream(sse.EventStream):
    """A stream in a form of OpenAI's; after a failure, the last event is an error."""

    def __init__(self, events: AsyncGenerator[sse.Event, None], service: Service, form: Completion | Reply) -> None:
        super().__init__(events, service)
        self._form = form

    def error_event(self, found: Problem) -> sse.Event:
        return self._form.failed(found)


async def _answered(
    form: Completion | Reply, body: ChatBody | ResponsesBody, request: Request, caller: Caller, service: Service
) -> Response:
    """Answer the question of a body in a form of OpenAI's, whole or as a stream."""
    body.check()
    question, history = body.asked()
    library = await service.pool.run(service.libraries.get, _known(body.model, caller, service))

    def events(work: Work) -> Generator[sse.Event, None, None]:
        asked = library.ask_stream(question, history=history, work=work)
        with service.metrics.asking() as counted, closing(asked) as steps:
            for number, step in enumerate(steps):
                # Not before the first step, so that an early failure has its own HTTP status.
                if body.stream and number == 0:
                    yield from form.begin()
                if step.answer is None:
                    yield _Writing("", {})
                    continue
                counted.outcome = str(step.answer.reason)
                if body.stream:
                    yield from form.end(library, question, step.answer)
                else:
                    yield sse.Event("", form.whole(library, question, step.answer))

    if body.stream:
        return _Stream(service.pool.stream(events), service, form)
    last = await sse.last_of(service.pool.stream(events), request.receive, service)
    return PlainResponse(last.data)


def _embeddings(library: Library, body: EmbeddingsBody) -> Plain:
    embedder, texts = library.embedder, body.texts()
    if body.input_type == "query":
        vectors = [embedder.embed_query(text) for text in texts]
    else:
        vectors = [found.whole for found in embedder.embed_passages([Passage(text) for text in texts])]
    tokens = sum(embedder.count_tokens(texts))
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": _encoded(vector, body.encoding_format)}
            for index, vector in enumerate(vectors)
        ],
        "model": body.model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _encoded(vector: FloatArray, form: str) -> str | list[float]:
    """Return a vector as numbers, or as base64 of little-endian float32 values."""
    numbers: list[float] = vector.tolist()
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode() if form == "base64" else numbers


def _known(name: str, caller: Caller, service: Service) -> str:
    if name not in service.libraries.seen(caller.sees):
        raise Problem(404, "model_not_found", "There is no library of that name here. GET /v1/models lists them.")
    return name


def _model(name: str, service: Service) -> Plain:
    return {"id": name, "object": "model", "created": service.started, "owned_by": "answerable"}
