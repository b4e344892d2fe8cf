"""The endpoint of OpenAI's protocol: a library is a model, which answers with citations or says that it can't.

What a model behind a library writes is checked when it is whole. Only then does its text reach a client, sentence by
sentence: no sentence is sent that might be taken back.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Generator, Sequence
from contextlib import closing

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel

from answerable.datatypes import AnswerEvent, Exchange, FloatArray
from answerable.interfaces.http import sse
from answerable.interfaces.http.access.keys import Asker, Caller
from answerable.interfaces.http.metrics import Metrics
from answerable.interfaces.http.openai.answers import Completion
from answerable.interfaces.http.openai.bodies import (
    ChatBody,
    ChatOut,
    EmbeddingsBody,
    EmbeddingsOut,
    ErrorBody,
    ModelOut,
    ModelsOut,
    unsupported,
)
from answerable.interfaces.http.openai.errors import PREFIX, error_body
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.routes.described import Responses, responses
from answerable.interfaces.http.routes.plain_response import PlainResponse
from answerable.interfaces.http.service import Service, Serving
from answerable.interfaces.plain import Plain
from answerable.library import Library
from answerable.protocols import Passage

router = APIRouter(prefix=PREFIX, tags=["OpenAI"])


def _described(model: type[BaseModel], streams: bool = False) -> Responses:
    """As for other routes, but that errors have OpenAI's form."""
    return {
        code: {"model": ErrorBody, "description": said["description"]} if int(code) >= 400 else said
        for code, said in responses(model, events=streams).items()
    }


@router.get("/models", operation_id="list_models", responses=_described(ModelsOut), response_class=PlainResponse)
async def list_models(caller: Asker, service: Serving) -> Response:
    """Lists the libraries that the key opens, as models."""
    names = [name for name in service.libraries.names() if caller.sees(name)]
    return PlainResponse({"object": "list", "data": [_model(name) for name in names]})


@router.get("/models/{model}", operation_id="get_model", responses=_described(ModelOut), response_class=PlainResponse)
async def get_model(model: str, caller: Asker, service: Serving) -> Response:
    """Gives a library, as a model."""
    return PlainResponse(_model(_known(model, caller, service)))


@router.post(
    "/chat/completions",
    operation_id="create_chat_completion",
    responses=_described(ChatOut, streams=True),
    response_class=PlainResponse,
)
async def create_chat_completion(body: ChatBody, request: Request, caller: Asker, service: Serving) -> Response:
    """Answers the last message of a conversation from a library, or says that its documents don't say.

    Each mark `[n]` in the text is the n-th of `sources`, and an annotation of the message. In a stream both come in one
    chunk behind the text, which comes when it is checked.
    """
    body.check()
    question, history = body.asked()
    library = await service.pool.run(service.libraries.get, _known(body.model, caller, service))
    completion = Completion(body.model, body.stops())
    has_usage = bool(body.stream_options and body.stream_options.include_usage)

    def events() -> Generator[sse.Event, None, None]:
        asked = _asked(library, question, history, service.metrics)
        if body.stream:
            return _chunks(completion, library, question, asked, has_usage)
        return _whole(completion, library, question, asked)

    if body.stream:
        return _ChunkStream(service.pool.stream(events), service)
    last = await sse.last_of(service.pool.stream(events), request.receive, service)
    return PlainResponse(last.data)


@router.post(
    "/embeddings",
    operation_id="create_embeddings",
    responses=_described(EmbeddingsOut),
    response_class=PlainResponse,
)
async def create_embeddings(body: EmbeddingsBody, caller: Asker, service: Serving) -> Response:
    """Embeds texts as a library does."""
    library = await service.pool.run(service.libraries.get, _known(body.model, caller, service))
    dimension = library.embedder.fingerprint.dimension
    if body.dimensions not in (None, dimension):
        raise unsupported("dimensions", f"The vectors have {dimension} dimensions: leave dimensions out.")
    return PlainResponse(await service.pool.run(_embeddings, library, body))


class _Chunk(sse.Event):
    """A piece of a stream of OpenAI's protocol, whose events have no names."""

    def encoded(self) -> bytes:
        """The piece as it is sent; nothing is the end."""
        data = json.dumps(self.data, ensure_ascii=False, default=str) if self.data else "[DONE]"
        return f"data: {data}\n\n".encode()


class _Writing(sse.Event):
    """A comment while a model writes what isn't checked: clients pass it over, and it gives way to stop in between."""

    def encoded(self) -> bytes:
        """The comment as it is sent."""
        return b": writing\n\n"


class _ChunkStream(sse.EventStream):
    """A stream of chunks. What goes wrong under way is a chunk that has an error."""

    def error_event(self, found: Problem) -> sse.Event:
        """The chunk."""
        return _Chunk("", error_body(found.status, found.json()))


def _whole(
    completion: Completion, library: Library, question: str, events: Generator[AnswerEvent, None, None]
) -> Generator[sse.Event, None, None]:
    """The completion, after nothing for each step before it."""
    with closing(events):
        for event in events:
            yield sse.Event("", completion.whole(library, question, event.answer) if event.answer else {})


def _chunks(
    completion: Completion,
    library: Library,
    question: str,
    events: Generator[AnswerEvent, None, None],
    has_usage: bool,
) -> Generator[sse.Event, None, None]:
    """The completion in pieces."""
    with closing(events):
        for event in events:
            if event.answer is None:
                yield _Chunk("", completion.begin()) if event.searched else _Writing("", {})
            else:
                for piece in completion.pieces(event.answer):
                    yield _Chunk("", piece)
                if has_usage:
                    yield _Chunk("", completion.usage(library, question, event.answer))
                yield _Chunk("", {})


def _asked(
    library: Library, question: str, history: Sequence[Exchange], metrics: Metrics
) -> Generator[AnswerEvent, None, None]:
    """The events of an answer, counted."""
    with metrics.asking() as counted, closing(library.ask_stream(question, history=history)) as events:
        for event in events:
            if event.answer:
                counted.outcome = str(event.answer.reason)
            yield event


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
    """The numbers, or the base64 of them as little-endian float32."""
    numbers: list[float] = vector.tolist()
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode() if form == "base64" else numbers


def _known(name: str, caller: Caller, service: Service) -> str:
    if not (caller.sees(name) and name in service.libraries.names()):
        raise Problem(404, "model_not_found", "There is no library of that name here. GET /v1/models lists them.")
    return name


def _model(name: str) -> Plain:
    return {"id": name, "object": "model", "created": 0, "owned_by": "answerable"}
