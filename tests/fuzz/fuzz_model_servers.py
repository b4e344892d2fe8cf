"""Fuzz responses of model servers: streams of events, and vectors, in OpenAI's and Cohere's protocols."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from draw import Draw
from fuzz_targets import Target
from providers.scripted_server import Ending, Reply, ScriptedServer

from answerable.embedding.cohere_embedder import CohereEmbedder
from answerable.embedding.openai_embedder import OpenAIEmbedder
from answerable.protocols import ChatModel, Embedder, Message, Passage
from answerable.providers.calling import CallPolicy
from answerable.providers.cohere import CohereChatModel
from answerable.providers.openai import OpenAIChatModel

POLICY = CallPolicy(timeout=5.0, total=5.0, retries=0)
DIMENSION = 2
EVENTS = (
    "data: ",
    "\n\n",
    "\n",
    "event: error\n",
    "event: content-delta\n",
    ": comment\n",
    "[DONE]",
    '{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[',
    '{"index":0,"delta":{"content":"word"},"finish_reason":null}',
    '{"index":0,"delta":{},"finish_reason":"stop"}',
    '"usage":{"prompt_tokens":9,"completion_tokens":"x","total_tokens":1e999}',
    '{"type":"content-delta","delta":{"message":{"content":{"text":"word"}}}}',
    '{"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":-1}}}}',
    '{"error":{"message":"no","code":"429","type":null,"param":"temperature"}}',
    '{"object":"list","data":[',
    '{"index":0,"embedding":[0.5,1e308]}',
    '{"index":0,"embedding":"AACAPwAAgD8="}',
    '{"id":"1","embeddings":{"float":[[1,2]]},"texts":["t"],"response_type":"embeddings_by_type"}',
    "null",
    "[[[[",
    "{",
    "}",
    "]",
    ",",
    '"\\ud800"',
    "NaN",
)
TYPES = ("application/json", "text/event-stream", "text/html", "")
SERVER = ScriptedServer().__enter__()


def _reply(draw: Draw) -> Reply:
    body = draw.file(EVENTS)
    cut = draw.number(255) * len(body) // 255
    status = draw.pick((200, 200, 200, 200, 204, 302, 400, 401, 404, 410, 429, 500))
    # Asking for another time is what the policy of tries is tested with.
    headers = {"Content-Type": draw.pick(TYPES)}
    ending = draw.pick((Ending.COMPLETE, Ending.COMPLETE, Ending.CUT))
    return Reply(status, headers, (body[:cut], body[cut:]) if draw.number(1) else (body,), ending)


def _ask(draw: Draw, paths: Sequence[str], model: ChatModel, embedder: Embedder) -> None:
    for path in paths:
        SERVER.script(path, _reply(draw))
    if draw.number(1):
        for delta in model.stream([Message("user", "Hello?")], 20):
            assert isinstance(delta.text, str)
            assert delta.usage is None or min(delta.usage.input_tokens, delta.usage.output_tokens) >= 0
    else:
        (vectors,) = embedder.embed_passages([Passage("text", ())])
        assert vectors.whole.shape == (DIMENSION,)
        assert np.isfinite(vectors.whole).all()
        assert vectors.whole.dtype == np.float32


OPENAI = (
    OpenAIChatModel("m", "key", f"{SERVER.url}/v1", POLICY),
    OpenAIEmbedder("m", DIMENSION, "key", f"{SERVER.url}/v1", POLICY),
)
COHERE = (
    CohereChatModel("m", "key", SERVER.url, POLICY),
    CohereEmbedder("key", "m", DIMENSION, SERVER.url, POLICY),
)


def _responses(draw: Draw) -> None:
    if draw.number(1):
        _ask(draw, ("/v1/chat/completions", "/v1/embeddings"), *OPENAI)
    else:
        _ask(draw, ("/v2/chat", "/v2/embed"), *COHERE)


# OpenAI's client asks `uname` what it runs on.
TARGETS = {"model_servers": Target(_responses, (b"\0" * 9, b"\1" * 60), may_start_programs=True)}
