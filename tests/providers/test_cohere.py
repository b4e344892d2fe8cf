"""Cohere's adapters, with the official SDK, against a server that follows Cohere's published schemas (API v2)."""

from __future__ import annotations

import json
import logging
import random
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from providers.scripted_server import Ending, Reply, Request, ScriptedServer, Step, json_reply, meeting

from answerable.datatypes import Usage
from answerable.embedding.cohere_embedder import DIMENSION, MODEL, CohereEmbedder
from answerable.errors import (
    ContentFiltered,
    MalformedResponse,
    ModelNotFound,
    ProviderError,
    ProviderOverloaded,
    ProviderRefused,
    ProviderRetired,
    ProviderUnreachable,
    RequestRejected,
    SettingsError,
    ToolsRefused,
)
from answerable.protocols import Delta, Message, Passage, Tool, ToolCall, ToolModel
from answerable.providers.calling import CallPolicy
from answerable.providers.cohere import CohereChatModel, count_tokens, windows

KEY = "co-Secret-0123456789abcdef"
CHAT, EMBED = "/v2/chat", "/v2/embed"
FAST = CallPolicy(timeout=20, total=10, retries=2, first_wait=0.01, longest_wait=0.02, concurrency=3)
# For servers that say nothing; others get the time that they take on a busy machine.
HASTY = replace(FAST, timeout=1.5)
QUESTION = [Message("system", "Answer briefly."), Message("user", "¿Cuándo sale el tren?")]


def model(server: ScriptedServer, policy: CallPolicy = FAST) -> CohereChatModel:
    return CohereChatModel("command-a-03-2025", KEY, server.url, policy)


def embedder(server: ScriptedServer, policy: CallPolicy = FAST, dimension: int = 8) -> CohereEmbedder:
    return CohereEmbedder(KEY, dimension=dimension, base_url=server.url, policy=policy)


def event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n".encode()


def text(piece: str) -> bytes:
    return event("content-delta", index=0, delta={"message": {"content": {"text": piece}}})


def end(reason: str = "COMPLETE", usage: object = None, **more: object) -> bytes:
    usage = usage or {
        "billed_units": {"input_tokens": 7, "output_tokens": 3},
        "tokens": {"input_tokens": 107, "output_tokens": 4},
    }
    return event("message-end", delta={"finish_reason": reason, "usage": usage, **more})


START = event("message-start", id="1", delta={"message": {"role": "assistant", "content": [], "tool_plan": ""}})
OPENING = event("content-start", index=0, delta={"message": {"content": {"type": "text", "text": ""}}})
CLOSING = event("content-end", index=0)


def stream(*pieces: bytes | float | threading.Event, ending: Ending = Ending.COMPLETE) -> Reply:
    return Reply(200, {"Content-Type": "text/event-stream"}, (START, OPENING, *pieces), ending)


def answer(*texts: str) -> Reply:
    return stream(*map(text, texts), CLOSING, end())


def refusal(status: int, message: str = "something is wrong", **headers: str) -> Reply:
    return json_reply(
        {"id": "1", "message": message}, status, {name.replace("_", "-"): headers[name] for name in headers}
    )


def vector(content: str, dimension: int = 8) -> list[float]:
    generator = random.Random(sha256(content.encode()).digest())
    return [generator.gauss(0, 3) for _ in range(dimension)]


def vectors_reply(vectors: object) -> Reply:
    meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 1}}
    return json_reply({"id": "1", "embeddings": {"float": vectors}, "texts": [], "meta": meta})


def embeds(request: Request) -> Reply:
    return vectors_reply([vector(content) for content in request.body["texts"]])


def unit(values: Sequence[float]) -> np.ndarray:
    return np.array(values, np.float32) / np.linalg.norm(np.array(values, np.float32))


def read(deltas: Sequence[Delta]) -> str:
    return "".join(delta.text for delta in deltas)


# What is asked, and what comes back


def test_an_answer_comes_in_pieces_with_what_it_cost(server: ScriptedServer) -> None:
    server.script(CHAT, answer("El tren ", "sale a las ocho.\u2028Sí\u0085."))
    deltas = list(model(server).stream(QUESTION, max_tokens=200))
    assert [delta.text for delta in deltas] == ["El tren ", "sale a las ocho.\u2028Sí\u0085.", ""]
    assert deltas[-1].usage == Usage(7, 3)
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "command-a-03-2025",
        "messages": [{"role": message.role, "content": message.content} for message in QUESTION],
        "max_tokens": 200,
        "stream": True,
    }


def test_pieces_are_relayed_as_they_arrive(server: ScriptedServer) -> None:
    has_come = threading.Event()
    server.script(CHAT, stream(text("uno"), has_come, text(" dos"), CLOSING, end()))
    deltas = model(server).stream(QUESTION)
    assert next(deltas).text == "uno"
    has_come.set()
    assert [delta.text for delta in deltas] == [" dos", ""]


def test_events_cut_anywhere_are_read_whole(server: ScriptedServer) -> None:
    whole = b"".join((START, text("más"), b": a comment\n\n", text("🎂"), end(), b"data: [DONE]\n\n"))
    for size in (1, 7, 64):
        pieces = tuple(whole[at : at + size] for at in range(0, len(whole), size))
        server.script(CHAT, Reply(200, {"Content-Type": "text/event-stream"}, pieces))
        assert read(list(model(server).stream(QUESTION))) == "más🎂"


def test_what_a_model_thinks_to_itself_is_left_out(server: ScriptedServer) -> None:
    thought = event("content-delta", index=0, delta={"message": {"content": {"thinking": "hmm"}}})
    server.script(CHAT, stream(thought, event("citation-start", index=0, delta=None), text("ocho"), end()))
    assert read(list(model(server).stream(QUESTION))) == "ocho"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"tokens": {"input_tokens": 5.0, "output_tokens": 2.0}}, Usage(5, 2)),
        ({"billed_units": {"output_tokens": 2}}, Usage(0, 2)),
        ({"billed_units": {"input_tokens": "many", "output_tokens": -1}}, Usage(0, 0)),
        ({"cached_tokens": 3}, None),
    ],
)
def test_usage_as_far_as_it_is_told(server: ScriptedServer, usage: object, expected: Usage | None) -> None:
    server.script(CHAT, stream(text("sí"), end(usage=usage)))
    assert list(model(server).stream(QUESTION))[-1] == Delta("", expected)


def test_texts_that_json_cannot_hold(server: ScriptedServer) -> None:
    server.script(CHAT, answer("sí"))
    server.script(EMBED, embeds)
    list(model(server).stream([Message("user", "a\ud800b\0c")]))
    embedder(server).embed_query("a\ud800b\0c")
    assert server.requests[0].body["messages"][0]["content"] == "a?b c"
    assert server.requests[1].body["texts"] == ["a?b c"]


# Tools

SEARCH = Tool("search", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})


def begun(index: int, id: str, arguments: str = "") -> bytes:
    call = {"id": id, "type": "function", "function": {"name": "search", "arguments": arguments}}
    return event("tool-call-start", index=index, delta={"message": {"tool_calls": call}})


def more(index: int, arguments: str) -> bytes:
    return event(
        "tool-call-delta", index=index, delta={"message": {"tool_calls": {"function": {"arguments": arguments}}}}
    )


def called(*pieces: bytes, ending: Ending = Ending.COMPLETE) -> Reply:
    plan = event("tool-plan-delta", delta={"message": {"tool_plan": "I will search."}})
    return Reply(200, {"Content-Type": "text/event-stream"}, (START, plan, *pieces), ending)


def test_tools_are_called(server: ScriptedServer) -> None:
    first = (begun(0, "a"), more(0, '{"query": '), more(0, '"bus"}'), event("tool-call-end", index=0))
    second = (begun(1, "b", '{"query": "precio"}'), event("tool-call-end", index=1))
    server.script(CHAT, called(*first, *second, end("TOOL_CALL")))
    chat = model(server)
    assert isinstance(chat, ToolModel)
    calls = ToolCall("a", "search", '{"query": "bus"}'), ToolCall("b", "search", '{"query": "precio"}')
    assert list(chat.converse(QUESTION, [SEARCH])) == [Delta("", calls=calls), Delta("", Usage(7, 3))]
    server.script(CHAT, answer("sí"))
    results = [Message("tool", "1040 pesos", call_id=call.id) for call in calls]
    assert read(list(chat.converse([*QUESTION, Message("assistant", "", calls), *results], [SEARCH]))) == "sí"
    asked, continued = (request.body for request in server.requests)
    function = {"name": "search", "description": "Search.", "parameters": dict(SEARCH.parameters)}
    assert asked["tools"] == continued["tools"] == [{"type": "function", "function": function}]
    assert continued["messages"][2:] == [
        {
            "role": "assistant",
            "tool_calls": [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in calls
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1040 pesos"},
        {"role": "tool", "tool_call_id": "b", "content": "1040 pesos"},
    ]


@pytest.mark.parametrize(
    "reply",
    [
        called(begun(0, "a", '{"query": "'), *[more(0, "la " * 10)] * 1_000, ending=Ending.HANG),
        called(begun(0, "a", '{"query": "'), end("MAX_TOKENS", usage={"cached_tokens": 3})),
    ],
)
def test_a_call_that_never_ends_is_left_out(server: ScriptedServer, reply: Reply) -> None:
    server.script(CHAT, reply)
    assert list(model(server).converse(QUESTION, [SEARCH], max_tokens=50)) == [Delta("", truncated=True)]


def test_a_model_that_takes_no_tools_is_asked_once(server: ScriptedServer) -> None:
    server.script(CHAT, refusal(400, "invalid request: tool use is not supported by the provided model: command."))
    with pytest.raises(ToolsRefused) as caught:
        next(model(server).converse(QUESTION, [SEARCH]))
    assert len(server.requests) == 1
    assert_well_made(caught.value)


# Endings


def test_an_answer_at_its_limit_is_an_answer(server: ScriptedServer) -> None:
    server.script(CHAT, stream(text("El tren sale"), end("MAX_TOKENS")))
    deltas = list(model(server).stream(QUESTION))
    assert read(deltas) == "El tren sale"
    assert deltas[-1].truncated


def test_a_model_that_never_ends_is_stopped_at_a_length(server: ScriptedServer) -> None:
    server.script(CHAT, stream(*[text("la " * 10)] * 1_000, ending=Ending.HANG))
    deltas = list(model(server).stream(QUESTION, max_tokens=50))
    assert 360 <= len(read(deltas)) <= 8 * 50
    assert deltas[-1].truncated
    assert server.disconnected.wait(60)


def test_a_model_that_never_ends_its_thoughts_is_stopped_too(server: ScriptedServer) -> None:
    thought = event("content-delta", index=0, delta={"message": {"content": {"thinking": "hmm"}}})
    server.script(CHAT, stream(*[thought] * 1_000, ending=Ending.HANG))
    with pytest.raises(RequestRejected, match="used up its tokens"):
        list(model(server).stream(QUESTION, max_tokens=50))
    assert server.disconnected.wait(60)


def test_events_without_a_meaning_are_stopped_too(server: ScriptedServer) -> None:
    server.script(CHAT, stream(*[event("debug", prompt="hmm")] * 1_000, ending=Ending.HANG))
    with pytest.raises(RequestRejected, match="used up its tokens"):
        list(model(server).stream(QUESTION, max_tokens=50))
    assert server.disconnected.wait(60)


def test_a_response_without_an_end_is_given_up(server: ScriptedServer) -> None:
    server.script(CHAT, stream(*[b": " + b"x" * 900_000 + b"\n\n"] * 250, ending=Ending.HANG))
    with pytest.raises(MalformedResponse, match="was cut off"):
        list(model(server, replace(FAST, retries=0)).stream(QUESTION))
    assert server.disconnected.wait(60)


@pytest.mark.parametrize(
    ("reply", "kind", "asked"),
    [
        (stream(end("MAX_TOKENS")), RequestRejected, 1),
        (stream(CLOSING, end("COMPLETE")), MalformedResponse, 3),
        (stream(end("ERROR", error="boom")), ProviderOverloaded, 3),
        (stream(end("TIMEOUT")), ProviderOverloaded, 3),
        (stream(end("ERROR_TOXIC")), ContentFiltered, 1),
        (stream(end("ERROR_LIMIT")), RequestRejected, 1),
        (stream(text("El tren"), end("ERROR")), ProviderOverloaded, 1),
        (stream(text("El tren"), CLOSING), MalformedResponse, 1),
        (stream(text("El tren"), ending=Ending.CUT), MalformedResponse, 1),
        (stream(ending=Ending.CUT), MalformedResponse, 3),
        (stream(text("El tren"), b"data: {not json}\n\n", text(" sale"), end()), MalformedResponse, 1),
        (stream(text("El tren"), b"data: [1]\n\n", end()), MalformedResponse, 1),
        (stream(event("content-delta", delta={"message": 5}), end()), MalformedResponse, 3),
        (stream(b"data: " + b"x" * 2_000_000), MalformedResponse, 3),
        (stream(b'data: {"a": ' + b"[" * 200_000 + b"\n\n"), MalformedResponse, 3),
        (json_reply({"id": "1", "message": {"content": [{"type": "text", "text": "sí"}]}}), MalformedResponse, 3),
        (Reply(None, ending=Ending.CUT), MalformedResponse, 3),
        (Reply(None, ending=Ending.HANG), ProviderUnreachable, 3),
        (stream(text("El tren"), ending=Ending.HANG), ProviderUnreachable, 1),
    ],
)
def test_an_answer_that_goes_wrong(server: ScriptedServer, reply: Reply, kind: type, asked: int) -> None:
    server.script(CHAT, reply)
    with pytest.raises(kind) as caught:
        list(model(server, HASTY if reply.ending is Ending.HANG else FAST).stream(QUESTION))
    # Nobody is asked again after a piece was shown.
    assert len(server.requests) == asked
    assert_well_made(caught.value)


def test_what_came_before_the_cut_was_relayed(server: ScriptedServer) -> None:
    server.script(CHAT, stream(text("El tren "), text("sale"), ending=Ending.CUT))
    relayed: list[str] = []
    with pytest.raises(MalformedResponse):
        for delta in model(server).stream(QUESTION):
            relayed.append(delta.text)
    assert relayed == ["El tren ", "sale"]


def test_closing_the_answer_reaches_the_server(server: ScriptedServer) -> None:
    server.script(CHAT, stream(text("uno"), text("dos"), ending=Ending.HANG), answer("sí"))
    chat = model(server, CallPolicy(timeout=30, concurrency=1))
    deltas = chat.stream(QUESTION)
    assert next(deltas).text == "uno"
    assert not server.disconnected.is_set()
    deltas.close()
    assert server.requests[0].disconnected.wait(25)
    # Its place is free again.
    assert read(list(chat.stream(QUESTION))) == "sí"


def test_no_more_answers_at_once_than_allowed(server: ScriptedServer) -> None:
    server.script(CHAT, meeting(FAST.concurrency, lambda request: stream(text("uno"), 0.1, end())))
    chat = model(server)
    threads = [threading.Thread(target=lambda: list(chat.stream(QUESTION))) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 9
    assert server.most_at_once == FAST.concurrency


# Failures, mapped once for both


def ask_chat(server: ScriptedServer) -> object:
    return read(list(model(server).stream(QUESTION)))


def ask_embed(server: ScriptedServer) -> object:
    return embedder(server).embed_query("hola").shape


BOTH = pytest.mark.parametrize(("path", "ask"), [(CHAT, ask_chat), (EMBED, ask_embed)])
Ask = Callable[[ScriptedServer], object]


def good(path: str) -> Step:
    return answer("sí") if path == CHAT else embeds


def assert_well_made(error: BaseException) -> None:
    """The message says what to do, and neither it nor what comes with it holds the key."""
    assert str(error).endswith(".")
    shown = "".join(traceback.format_exception(error)) + repr(error)
    linked: BaseException | None = error
    while linked is not None:
        shown += str(linked) + repr(vars(linked))
        linked = linked.__cause__ or linked.__context__
    assert KEY not in shown
    assert "\x1b" not in str(error)
    assert "\n" not in str(error)


@BOTH
@pytest.mark.parametrize(
    ("status", "kind", "asked"),
    [
        (400, RequestRejected, 1),
        (401, ProviderRefused, 1),
        (402, ProviderRefused, 1),
        (403, ProviderRefused, 1),
        (404, ModelNotFound, 1),
        (410, ProviderRetired, 1),
        (413, RequestRejected, 1),
        (418, RequestRejected, 1),
        (422, RequestRejected, 1),
        (498, RequestRejected, 1),
        (408, ProviderOverloaded, 3),
        (409, ProviderOverloaded, 3),
        (429, ProviderOverloaded, 3),
        (499, ProviderOverloaded, 3),
        (500, ProviderOverloaded, 3),
        (501, ProviderOverloaded, 3),
        (503, ProviderOverloaded, 3),
        (504, ProviderOverloaded, 3),
        (529, ProviderOverloaded, 3),
    ],
)
def test_a_status(server: ScriptedServer, path: str, ask: Ask, status: int, kind: type, asked: int) -> None:
    server.script(path, refusal(status, f"the \x1b[31mkey {KEY}\nand more"))
    with pytest.raises(kind) as caught:
        ask(server)
    assert type(caught.value) is kind
    assert len(server.requests) == asked
    assert f"status {status}" in str(caught.value)
    assert_well_made(caught.value)


@BOTH
def test_a_refused_key_is_never_shown(
    server: ScriptedServer, path: str, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.script(path, refusal(401, f"invalid api token: {KEY}"))
    with pytest.raises(ProviderRefused, match="COHERE_API_KEY") as caught:
        ask(server)
    assert_well_made(caught.value)
    assert KEY not in caplog.text
    assert KEY not in repr(model(server)) + repr(vars(embedder(server)).keys())


@BOTH
@pytest.mark.parametrize("page", ["<html>Bad gateway</html>", "", "\x00\x01", '"only a text"', "[1, 2]"])
def test_an_error_that_is_not_json(server: ScriptedServer, path: str, ask: Ask, page: str) -> None:
    server.script(path, json_reply(page, 502), good(path))
    assert ask(server)
    server.script(path, json_reply(page, 403))
    with pytest.raises(ProviderRefused) as caught:
        ask(server)
    assert "<html>" not in str(caught.value)
    assert_well_made(caught.value)


@BOTH
def test_what_the_server_asks_to_wait_is_waited(server: ScriptedServer, path: str, ask: Ask) -> None:
    server.script(path, refusal(429, "trial keys are limited to 10 calls a minute", Retry_After="1"), good(path))
    assert ask(server)
    first, second = server.requests
    assert 1 <= second.at - first.at < 10


@BOTH
def test_a_wait_longer_than_allowed_is_told_at_once(server: ScriptedServer, path: str, ask: Ask) -> None:
    server.script(path, refusal(429, "slow down", Retry_After="60"))
    started = time.monotonic()
    with pytest.raises(ProviderOverloaded) as caught:
        ask(server)
    assert time.monotonic() - started < 30
    assert caught.value.retry_after == 60
    assert len(server.requests) == 1


@BOTH
def test_after_a_fault_it_is_tried_again(server: ScriptedServer, path: str, ask: Ask) -> None:
    server.script(path, refusal(500), Reply(None, ending=Ending.CUT), good(path))
    assert ask(server)
    assert len(server.requests) == 3


@BOTH
def test_nobody_there(server: ScriptedServer, path: str, ask: Ask) -> None:
    with ScriptedServer() as gone:
        pass
    with pytest.raises(ProviderUnreachable) as caught:
        ask(gone)
    assert caught.value.retryable
    assert_well_made(caught.value)


@pytest.mark.parametrize("key", ["", "  \n"])
def test_no_key(key: str) -> None:
    with pytest.raises(ProviderRefused, match="COHERE_API_KEY"):
        CohereEmbedder(key)


@pytest.mark.parametrize("key", ["clé-123", "a b", "a\nb"])
def test_what_cannot_be_a_key(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        CohereChatModel("command-a-03-2025", key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("address", ["localhost:80", "ftp://x", "http://", "http://a:b:c", "http://x:99999"])
def test_what_cannot_be_an_address(address: str) -> None:
    with pytest.raises(SettingsError, match="CO_API_URL"):
        CohereEmbedder(KEY, base_url=address)


def test_the_environment_is_not_looked_at(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CO_API_KEY", "another")
    monkeypatch.setenv("CO_API_URL", "http://127.0.0.1:1")
    server.script(EMBED, embeds)
    embedder(server).embed_query("hola")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_without_the_package_the_command_is_told() -> None:
    code = (
        "import sys; sys.modules['cohere'] = None\n"
        "from answerable.errors import MissingPackage\n"
        "from answerable.embedding.cohere_embedder import CohereEmbedder\n"
        "try: CohereEmbedder('key')\n"
        "except MissingPackage as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install '.[cohere]'" in told


def test_closing_twice_is_fine(server: ScriptedServer) -> None:
    chat, vectors = model(server), embedder(server)
    for closed in (chat, chat, vectors, vectors):
        closed.close()
    assert chat.name == "cohere:command-a-03-2025"


# Vectors


def test_passages_and_questions_are_embedded_each_in_their_way(server: ScriptedServer) -> None:
    server.script(EMBED, embeds)
    (passage,) = embedder(server).embed_passages([Passage("El tren sale.", ((0, 2),))])
    question = embedder(server).embed_query("¿Cuándo?")
    assert passage.whole == pytest.approx(unit(vector("El tren sale.")), abs=1e-6)
    assert question == pytest.approx(unit(vector("¿Cuándo?")), abs=1e-6)
    assert passage.spans.shape == (0, 8)
    assert passage.whole.dtype == passage.spans.dtype == question.dtype == np.float32
    assert [request.body for request in server.requests] == [
        {
            "model": "embed-multilingual-v3.0",
            "texts": [asked],
            "input_type": kind,
            "embedding_types": ["float"],
            "truncate": "END",
        }
        for asked, kind in (("El tren sale.", "search_document"), ("¿Cuándo?", "search_query"))
    ]


def test_the_fingerprint_is_known_without_asking() -> None:
    fingerprint = CohereEmbedder(KEY).fingerprint
    assert str(fingerprint) == f"cohere:{MODEL} ({DIMENSION} dimensions)"


def test_many_texts_go_in_parallel_batches_and_come_in_order(server: ScriptedServer) -> None:
    def slower_when_earlier(request: Request) -> Reply:
        first = int(request.body["texts"][0].split()[1])
        reply = embeds(request)
        return Reply(200, reply.headers, (0.15 if first == 0 else 0.05, *reply.pieces))

    server.script(EMBED, meeting(FAST.concurrency, slower_when_earlier))
    texts = [f"texto {number}" for number in range(96 * 5 + 1)]
    found = embedder(server).embed_passages([Passage(content) for content in texts])
    assert sorted(len(request.body["texts"]) for request in server.requests) == [1, 96, 96, 96, 96, 96]
    assert server.most_at_once == FAST.concurrency
    expected = np.stack([unit(vector(content)) for content in texts])
    assert np.stack([vectors.whole for vectors in found]) == pytest.approx(expected, abs=1e-6)
    assert embedder(server).embed_passages([]) == []


def test_ninety_seven_texts_are_two_calls(server: ScriptedServer) -> None:
    server.script(EMBED, embeds)
    embedder(server).embed_passages([Passage(f"texto {number}") for number in range(97)])
    assert sorted(len(request.body["texts"]) for request in server.requests) == [1, 96]


def test_one_batch_that_fails_fails_all(server: ScriptedServer) -> None:
    def slow(request: Request) -> Reply:
        return Reply(200, {}, (0.2, *embeds(request).pieces))

    server.script(EMBED, refusal(401, "invalid api token"), slow)
    with pytest.raises(ProviderRefused):
        embedder(server).embed_passages([Passage(f"texto {number}") for number in range(96 * 20)])
    assert len(server.requests) < 10


def test_a_long_text_is_the_mean_of_its_windows(server: ScriptedServer) -> None:
    server.script(EMBED, embeds)
    long = " ".join(f"palabra{number}" for number in range(300))
    found = embedder(server).embed_passages([Passage("corto"), Passage(long), Passage("fin")])
    sent = server.requests[0].body["texts"]
    assert (sent[0], sent[-1], "".join(sent[1:-1])) == ("corto", "fin", long)
    assert len(sent) > 4
    assert all(0 < count_tokens(piece) <= 400 for piece in sent)
    mean = sum(count_tokens(piece) * unit(vector(piece)) for piece in sent[1:-1])
    assert found[1].whole == pytest.approx(unit(mean), abs=1e-6)
    assert found[2].whole == pytest.approx(unit(vector("fin")), abs=1e-6)


def test_the_fourth_generation_takes_long_texts_and_a_dimension(server: ScriptedServer) -> None:
    server.script(EMBED, embeds)
    CohereEmbedder(KEY, "embed-v4.0", 8, server.url, FAST).embed_query("palabra " * 2000)
    assert server.requests[0].body["output_dimension"] == 8
    assert len(server.requests[0].body["texts"]) == 1


@pytest.mark.parametrize("content", ["", " \n\t ", "\0"])
def test_a_text_with_nothing_in_it(server: ScriptedServer, content: str) -> None:
    server.script(EMBED, embeds)
    found = embedder(server).embed_passages([Passage(content), Passage("algo")])
    assert server.requests[0].body["texts"] == [".", "algo"]
    assert np.linalg.norm(found[0].whole) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        (vectors_reply([vector("a", 9)]), 1),
        (vectors_reply([vector("a"), vector("b")]), 1),
        (vectors_reply([]), 1),
        (vectors_reply([[*vector("a")[:-1], "x"]]), 1),
        (vectors_reply([[1.0], [1.0, 2.0]]), 1),
        (vectors_reply(None), 1),
        (vectors_reply({"a": 1}), 1),
        (json_reply({"id": "1", "embeddings": [vector("a")]}), 3),
        (json_reply({"id": "1"}), 1),
        (vectors_reply([[0.0] * 8]), 3),
        (vectors_reply([[float("nan")] * 8]), 3),
        (vectors_reply([[1e39] * 8]), 3),
        (json_reply("{not json"), 3),
        (json_reply(""), 3),
        (json_reply("[" * 100_000), 3),
        (Reply(200, {"Content-Type": "application/json"}, (b'{"id": "1", "emb',), Ending.CUT), 3),
        (Reply(200, {"Content-Type": "application/json"}, (b'{"a": "\xff\xfe"}',)), 3),
        (json_reply("5"), 3),
    ],
)
def test_vectors_that_are_none(server: ScriptedServer, reply: Reply, asked: int) -> None:
    server.script(EMBED, reply)
    with pytest.raises(MalformedResponse) as caught:
        embedder(server).embed_query("hola")
    assert len(server.requests) == asked
    assert_well_made(caught.value)


def test_a_slow_server_is_given_up(server: ScriptedServer) -> None:
    server.script(EMBED, Reply(None, ending=Ending.HANG))
    started = time.monotonic()
    with pytest.raises(ProviderUnreachable):
        embedder(server, HASTY).embed_query("hola")
    assert time.monotonic() - started < 30
    assert len(server.requests) == 3


# Tokens


@pytest.mark.parametrize(
    "content", ["", " ", "palabra", " una\n\ndos  tres ", "x" * 5000, "9" * 3000, "一" * 900, "a b " * 999]
)
def test_windows_hold_all_of_a_text(content: str) -> None:
    for most in (1, 7, 400):
        pieces = windows(content, most)
        assert "".join(piece for piece, _ in pieces) == content
        assert sum(tokens for _, tokens in pieces) == count_tokens(content)
        assert all(tokens <= most for _, tokens in pieces)
    words = windows("palabra " * 1000, 400)
    assert all(piece.startswith("palabra") for piece, _ in words)


def test_estimates_grow_with_the_text(server: ScriptedServer) -> None:
    texts = ["", "El tren sale a las 8:30.", "北京见面"]
    assert model(server).count_tokens(texts) == embedder(server).count_tokens(texts) == [0, 10, 4]


def test_errors_are_provider_errors(server: ScriptedServer) -> None:
    server.script(CHAT, refusal(500))
    with pytest.raises(ProviderError, match="Try again later"):
        ask_chat(server)
