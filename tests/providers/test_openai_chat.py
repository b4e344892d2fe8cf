"""The chat model behind OpenAI's protocol: on llama.cpp's real server, and on one that fails as it is told to."""

from __future__ import annotations

import gzip
import json
import re
import signal
import subprocess
import sys
import threading
import time
import traceback

import pytest
from providers.real_servers import KEY, RealServer
from providers.scripted_server import (
    Ending,
    Reply,
    Request,
    ScriptedServer,
    chat,
    chunk,
    failure,
    json_reply,
    meeting,
    sse_reply,
    usage_chunk,
)

from answerable.datatypes import Usage
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
from answerable.protocols import ChatModel, Delta, Message, Tool, ToolCall, ToolModel
from answerable.providers.calling import CallPolicy
from answerable.providers.openai import OpenAIChatModel
from answerable.providers.usage import LONGEST_ANSWER, cost

PATH = "/v1/chat/completions"
SECRET = "sk-test-0123456789abcdef"
ASK = [Message("system", "Be short."), Message("user", "Say hello.")]
QUICK = CallPolicy(timeout=20.0, total=20.0, retries=2, first_wait=0.001, concurrency=2)


def model(
    server: ScriptedServer, name: str = "scripted", policy: CallPolicy = QUICK, temperature: float | None = None
) -> OpenAIChatModel:
    """The adapter, talking to the scripted server."""
    return OpenAIChatModel(name, SECRET, f"{server.url}/v1", policy, temperature=temperature)


def answer(chat_model: ChatModel, max_tokens: int | None = None) -> str:
    """The whole answer."""
    return "".join(delta.text for delta in chat_model.stream(ASK, max_tokens))


def failing(server: ScriptedServer, *steps: Reply) -> ProviderError:
    """The error that comes of it, and that it shows no key."""
    server.script(PATH, *steps)
    with pytest.raises(ProviderError) as caught:
        answer(model(server))
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert SECRET not in shown
    assert "[key]" in shown or "sk-" not in shown
    return caught.value


# The real server


def test_a_real_answer_comes_in_pieces_with_its_usage(llama: RealServer) -> None:
    chat_model = OpenAIChatModel("smollm2", KEY, llama.url, QUICK)
    deltas = list(chat_model.stream(ASK, max_tokens=12))
    assert chat_model.name == "openai:smollm2"
    assert len(deltas) > 3
    assert all(delta.text and delta.usage is None for delta in deltas[:-1])
    last = deltas[-1]
    assert last.text == ""
    assert last.usage is not None
    assert last.usage.input_tokens > 10
    assert 1 < last.usage.output_tokens <= 12
    assert last.usage.cost is None
    chat_model.close()
    chat_model.close()


def test_a_limit_that_cuts_the_answer_is_told(llama: RealServer) -> None:
    # The model throws dice: to a question that three tokens may answer it sometimes ends by itself.
    ask = [Message("user", "Count from one to one hundred in words.")]
    deltas = list(OpenAIChatModel("smollm2", KEY, llama.url, QUICK).stream(ask, max_tokens=3))
    assert deltas[-1].truncated
    assert deltas[-1].usage is not None
    assert deltas[-1].usage.output_tokens == 3


def test_closing_the_answer_stops_the_server(llama: RealServer) -> None:
    pieces = OpenAIChatModel("smollm2", KEY, llama.url, QUICK).stream(
        [Message("user", "Count from one to ten thousand, in words, one number a line.")], max_tokens=1800
    )
    assert next(pieces).text
    assert llama.is_busy()
    started = time.monotonic()
    pieces.close()
    while llama.is_busy():
        # All 1,800 tokens would take half a minute.
        assert time.monotonic() - started < 5
        time.sleep(0.02)


def test_the_real_server_refuses_a_wrong_key(llama: RealServer) -> None:
    with pytest.raises(ProviderRefused, match=r"401.*OPENAI_API_KEY") as caught:
        answer(OpenAIChatModel("smollm2", SECRET, llama.url, QUICK))
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_the_real_server_has_no_room_for_a_long_question(llama: RealServer) -> None:
    chat_model = OpenAIChatModel("smollm2", KEY, llama.url, QUICK)
    with pytest.raises(RequestRejected, match="too long"):
        list(chat_model.stream([Message("user", "word " * 9000)]))


def test_a_real_server_takes_tools_and_their_results(llama: RealServer) -> None:
    chat_model = OpenAIChatModel("smollm2", KEY, llama.url, QUICK)
    ask = [Message("user", "Search for the price of the bus.")]
    result = [
        Message("assistant", "", (ToolCall("call_1", "search", '{"query": "price of the bus"}'),)),
        Message("tool", "The bus costs 1,040 pesos.", call_id="call_1"),
    ]
    for messages in (ask, ask + result):
        # A small model may call or write.
        deltas = list(chat_model.converse(messages, [SEARCH], max_tokens=30))
        assert all(delta.text or delta.calls for delta in deltas[:-1])
        assert deltas[-1].usage is not None
        assert {call.name for delta in deltas for call in delta.calls} <= {"search"}


# What is sent


def test_the_request_is_as_the_protocol_says(server: ScriptedServer) -> None:
    server.script(PATH, chat("Hello", " you", usage=(9, 3)))
    deltas = list(model(server, "gpt-5-nano").stream(ASK, max_tokens=50))
    assert deltas == [Delta("Hello"), Delta(" you"), Delta("", Usage(9, 3, cost("gpt-5-nano", 9, 3)))]
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.body == {
        "model": "gpt-5-nano",
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Say hello."}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 50,
    }


def test_models_of_others_get_the_limit_by_its_older_name(server: ScriptedServer) -> None:
    server.script(PATH, chat("Hello"))
    answer(model(server, "llama3.2"), max_tokens=50)
    assert server.requests[0].body["max_tokens"] == 50
    assert "max_completion_tokens" not in server.requests[0].body


def test_a_server_of_ones_own_needs_no_key(server: ScriptedServer) -> None:
    server.script(PATH, chat("Hello"))
    assert answer(OpenAIChatModel("scripted", None, f"{server.url}/v1", QUICK)) == "Hello"
    assert server.requests[0].headers["authorization"] == "Bearer no-key"


def test_nothing_is_taken_from_the_environment(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "from-the-environment")
    server.script(PATH, chat("Hello"))
    assert answer(OpenAIChatModel("scripted", None, f"{server.url}/v1", QUICK)) == "Hello"
    assert "from-the-environment" not in str(server.requests[0].headers)
    with pytest.raises(ProviderRefused, match="Set OPENAI_API_KEY"):
        OpenAIChatModel("gpt-5-nano", None)


def test_text_that_is_no_unicode_is_sent_all_the_same(server: ScriptedServer) -> None:
    server.script(PATH, chat("Hello"))
    list(model(server).stream([Message("user", "caf\udce9")]))
    assert server.requests[0].body["messages"][0]["content"] == "caf?"


@pytest.mark.parametrize("address", ["localhost:11434/v1", "ftp://host/v1", "http://", "http://user:pw@host:port/v1"])
def test_what_is_no_address_is_said_at_once_and_not_shown(address: str) -> None:
    with pytest.raises(SettingsError, match="OPENAI_BASE_URL is not a valid address") as caught:
        OpenAIChatModel("scripted", SECRET, address)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-\u201cquoted\u201d", "sk-two\nlines"])
def test_what_can_be_no_key_is_said_at_once_and_not_shown(key: str) -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY") as caught:
        OpenAIChatModel("scripted", key)
    assert "sk-" not in "".join(traceback.format_exception(caught.value))


def test_a_missing_package_is_named_with_its_command() -> None:
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from answerable.providers.openai import OpenAIChatModel\n"
        "from answerable.errors import MissingPackage\n"
        "try: OpenAIChatModel('gpt-5-nano', 'key')\n"
        "except MissingPackage as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install '.[openai]'" in told


# Parameters that are refused


def refusing(*names: str) -> object:
    """A model that says in OpenAI's words that it takes none of these parameters."""

    def step(request: Request) -> Reply:
        for name in names:
            if name in request.body:
                return failure(
                    400,
                    f"Unsupported parameter: '{name}' is not supported with this model.",
                    "unsupported_parameter",
                    name,
                )
        return chat("Hello")

    return step


@pytest.mark.parametrize(
    ("name", "refused", "instead"),
    [
        ("scripted", "max_tokens", "max_completion_tokens"),
        ("gpt-4o", "max_completion_tokens", "max_tokens"),
        ("scripted", "temperature", None),
        ("scripted", "stream_options", None),
    ],
)
def test_a_refused_parameter_is_left_out_from_then_on(
    server: ScriptedServer, name: str, refused: str, instead: str | None
) -> None:
    server.script(PATH, refusing(refused))  # type: ignore[arg-type]
    chat_model = model(server, name, temperature=0.2)
    assert answer(chat_model, max_tokens=5) == "Hello"
    assert answer(chat_model, max_tokens=5) == "Hello"
    assert [refused in request.body for request in server.requests] == [True, False, False]
    if instead:
        assert server.requests[-1].body[instead] == 5


def test_several_refusals_are_dealt_with_one_by_one(server: ScriptedServer) -> None:
    server.script(PATH, refusing("max_tokens", "temperature", "stream_options"))  # type: ignore[arg-type]
    assert answer(model(server, temperature=0.2), max_tokens=5) == "Hello"
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    "refusal",
    [
        failure(400, "'temperature' does not support 0.2. Only the default (1) is supported.", "unsupported_value"),
        json_reply({"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]}, 422),
        json_reply({"error": "unknown field: temperature"}, 400),
    ],
)
def test_refusals_are_understood_in_other_words(server: ScriptedServer, refusal: Reply) -> None:
    server.script(PATH, refusal, chat("Hello"))
    assert answer(model(server, temperature=0.2)) == "Hello"
    assert [request.body.get("temperature") for request in server.requests] == [0.2, None]


def test_a_model_without_a_system_role_gets_the_rules_from_the_user(server: ScriptedServer) -> None:
    message = "Unsupported value: 'messages[0].role' does not support 'system' with this model."
    server.script(PATH, failure(400, message, "unsupported_value", "messages[0].role"), chat("Hello"))
    assert answer(model(server)) == "Hello"
    assert server.requests[1].body["messages"] == [{"role": "user", "content": "Be short.\n\nSay hello."}]


def test_a_limit_too_large_for_a_model_gives_way_to_its_own(server: ScriptedServer) -> None:
    refused = [
        failure(400, f"{name} is too large: 8000. This model supports at most 4096 tokens.", "invalid_value", name)
        for name in ("max_completion_tokens", "max_tokens")
    ]
    server.script(PATH, *refused, chat("Hello"))
    assert answer(model(server), max_tokens=8_000) == "Hello"
    assert not {"max_completion_tokens", "max_tokens"} & server.requests[2].body.keys()
    server.script(PATH, failure(400, "temperature 9 is too large", "invalid_value", "temperature"))
    with pytest.raises(RequestRejected, match="too large"):
        answer(model(server), max_tokens=8_000)


def test_a_server_that_refuses_the_same_thing_for_ever_is_asked_twice(server: ScriptedServer) -> None:
    server.script(PATH, failure(400, "stream_options is not supported", param="stream_options"))
    with pytest.raises(RequestRejected):
        answer(model(server))
    assert len(server.requests) == 2


# Tools

SEARCH = Tool("search", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})


def calling(*fragments: dict[str, object], finish: str | None = None) -> str:
    """A chunk with fragments of calls: index, id, name, arguments."""
    parts = [
        {
            **{name: value for name, value in fragment.items() if name in ("index", "id")},
            "function": {name: value for name, value in fragment.items() if name in ("name", "arguments")},
        }
        for fragment in fragments
    ]
    return chunk(choices=[{"index": 0, "delta": {"content": "", "tool_calls": parts}, "finish_reason": finish}])


def test_tools_and_their_calls_and_results_are_sent_as_the_protocol_says(server: ScriptedServer) -> None:
    server.script(PATH, chat("Hello"))
    chat_model = model(server)
    assert isinstance(chat_model, ToolModel)
    calls = ToolCall("a", "search", '{"query": "bus"}'), ToolCall("b", "search", '{"query": ')
    results = [Message("tool", "1,040 pesos", call_id="a"), Message("tool", "not JSON", call_id="b")]
    deltas = list(chat_model.converse([*ASK, Message("assistant", "", calls), *results], [SEARCH]))
    assert deltas == [Delta("Hello"), Delta("", Usage(9, 3))]
    body = server.requests[0].body
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "search", "description": "Search.", "parameters": dict(SEARCH.parameters)},
        }
    ]
    assert body["messages"][2:] == [
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"query": "bus"}'}},
                {"id": "b", "type": "function", "function": {"name": "search", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1,040 pesos"},
        {"role": "tool", "tool_call_id": "b", "content": "not JSON"},
    ]


BUS = {"id": "a", "name": "search", "arguments": '{"query": "bus"}'}
PRICE = {"id": "b", "name": "search", "arguments": '{"query": "price"}'}


def without(fragment: dict[str, str], name: str) -> dict[str, object]:
    """The fragment without one of its fields."""
    return {key: value for key, value in fragment.items() if key != name}


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [
                calling({"index": 0, "id": "a", "name": "search", "arguments": ""}),
                calling({"index": 0, "arguments": '{"query": '}),
                calling({"index": 1, "id": "b", "name": "search", "arguments": '{"query'}),
                calling({"index": 0, "arguments": '"bus"}'}, {"index": 1, "arguments": '": "price"}'}),
            ],
            id="in pieces",
        ),
        pytest.param([calling({"index": 0, **BUS}, {"index": 1, **PRICE}, finish="stop")], id="whole, in one chunk"),
        pytest.param([calling({"index": 0, **BUS}), calling({"index": 0, **PRICE})], id="the same index"),
        pytest.param([calling({"index": None, **BUS}), calling(dict(PRICE))], id="no index"),
        pytest.param(
            [calling({"index": 0, **without(BUS, "id")}, {"index": 0, **without(PRICE, "id")})],
            id="the same index and no ids",
        ),
        pytest.param(
            [
                calling({"id": "a", "name": "search", "arguments": '{"query": '}),
                calling({"id": "a", "name": "search", "arguments": '"bus"}'}),
                calling({"id": "b", "name": "search", "arguments": '{"query": '}),
                calling({"id": "other", "name": "", "arguments": '"price"}'}),
            ],
            id="repeated names, other ids",
        ),
        pytest.param(
            [
                calling({"index": 0, **BUS, "arguments": {"query": "bus"}}),
                calling({"index": 1, **PRICE, "arguments": {"query": "price"}}, {"index": 7}, {"id": 5, "name": []}),
            ],
            id="objects",
        ),
    ],
)
def test_calls_are_put_together_as_servers_send_them(server: ScriptedServer, events: list[str]) -> None:
    server.script(PATH, sse_reply(chunk("Hm."), *events, chunk(finish="stop"), usage_chunk(9, 3), "[DONE]"))
    first, called, last = model(server).converse(ASK, [SEARCH])
    assert (first, last) == (Delta("Hm."), Delta("", Usage(9, 3)))
    assert [(call.name, json.loads(call.arguments)) for call in called.calls] == [
        ("search", {"query": "bus"}),
        ("search", {"query": "price"}),
    ]
    ids = [call.id for call in called.calls]
    assert ids == ["a", "b"] or (len(set(ids)) == 2 and all(id.startswith("call_") for id in ids))


def test_a_call_without_arguments_is_one_of_an_empty_object(server: ScriptedServer) -> None:
    server.script(PATH, sse_reply(calling({"index": 0, "id": "a", "name": "list"}, finish="tool_calls"), "[DONE]"))
    assert list(model(server).converse(ASK, [SEARCH])) == [
        Delta("", calls=(ToolCall("a", "list", "{}"),)),
        Delta(""),
    ]


@pytest.mark.parametrize(
    "endless",
    [
        [
            calling({"index": 1, "id": "b", "name": "search", "arguments": "{"}),
            calling({"index": 1, "arguments": " x"}),
        ],
        [calling({"index": 1, "arguments": "x"}, {"arguments": "x" * 10_000_000})],
        [calling({"index": 1, "id": "b", "name": "x" * 10_000_000})],
        [calling({"index": 1, "id": "b", "name": "search", "arguments": "{"}), chunk(finish="length"), "[DONE]"],
    ],
    ids=["pieces", "one piece", "a name", "the server's own limit"],
)
def test_a_call_that_never_ends_is_left_out(server: ScriptedServer, endless: list[str]) -> None:
    events = [*endless[:1], *endless[1:] * (1 if "[DONE]" in endless else 1_000)]
    server.script(PATH, sse_reply(calling({"index": 0, **BUS}), *events, ending=Ending.HANG))
    called = (ToolCall("a", "search", '{"query": "bus"}'),)
    deltas = list(model(server).converse(ASK, [SEARCH], max_tokens=50))
    assert deltas == [Delta("", calls=called), Delta("", truncated=True)]
    assert server.disconnected.wait(60)


@pytest.mark.parametrize(
    "refusal",
    [
        failure(400, "registry.ollama.ai/library/x does not support tools", kind="api_error"),
        failure(500, "tools param requires --jinja flag", kind="server_error"),
        failure(500, "Unsupported param: tools", kind="server_error"),
        failure(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        failure(400, "Unrecognized request argument supplied: tools"),
        failure(400, "Unsupported parameter", "unsupported_parameter", "tools"),
        failure(404, "No endpoints found that support tool use."),
        failure(400, "deepseek-reasoner does not support Function Calling"),
        json_reply({"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]}, 422),
        sse_reply('{"error": {"message": "x does not support tools", "code": 400}}'),
    ],
)
def test_a_server_that_takes_no_tools_is_asked_once(server: ScriptedServer, refusal: Reply) -> None:
    server.script(PATH, refusal)
    asked = model(server, temperature=0.2)
    for _ in range(2):
        with pytest.raises(ToolsRefused, match=r"takes tools\.$"):
            next(asked.converse(ASK, [SEARCH]))
    assert len(server.requests) == 1


def test_other_refusals_are_dealt_with_while_there_are_tools(server: ScriptedServer) -> None:
    temperature = failure(400, "temperature is not supported together with tools", param="temperature")
    role = failure(400, "'messages[0].role' does not support 'system' with this model.")
    busy = failure(500, "The call of tools failed, contact support.")
    server.script(PATH, temperature, role, busy, chat("Hello"))
    assert next(model(server, temperature=0.2).converse(ASK, [SEARCH])) == Delta("Hello")
    assert server.requests[-1].body["messages"] == [{"role": "user", "content": "Be short.\n\nSay hello."}]
    assert all("tools" in request.body for request in server.requests)


# Errors


@pytest.mark.parametrize(
    ("reply", "kind", "told"),
    [
        (failure(401, f"Incorrect API key provided: {SECRET}."), ProviderRefused, "Check OPENAI_API_KEY"),
        (failure(401, f"Incorrect API key provided: {SECRET[:9]}***."), ProviderRefused, "Check OPENAI_API_KEY"),
        (json_reply(f"no {SECRET}", 403), ProviderRefused, "Check OPENAI_API_KEY"),
        (failure(403, "no access", "model_not_found"), ModelNotFound, "OPENAI_CHAT_MODEL is 'scripted'"),
        (failure(404, "The model `x` does not exist", "model_not_found"), ModelNotFound, "OPENAI_CHAT_MODEL"),
        (failure(404, 'model "x" not found, try pulling it first'), ModelNotFound, "OPENAI_CHAT_MODEL"),
        (failure(404, "no such route"), RequestRejected, "Check OPENAI_BASE_URL"),
        (json_reply("<html>gone</html>", 410), ProviderRetired, "choose another provider"),
        (failure(400, "too long", "context_length_exceeded"), RequestRejected, "send less"),
        (failure(413, "Request body too large"), RequestRejected, "send less"),
        (failure(400, "filtered", "content_filter"), ContentFiltered, "other words"),
        (failure(429, "You exceeded your quota", "insufficient_quota"), ProviderRefused, "balance"),
        (failure(422, "what is this?"), RequestRejected, "what is this"),
    ],
)
def test_what_cannot_be_mended_by_trying_again(
    server: ScriptedServer, reply: Reply, kind: type[ProviderError], told: str
) -> None:
    error = failing(server, reply)
    assert type(error) is kind
    assert told in str(error)
    assert not error.retryable
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_an_overloaded_server_is_asked_again(server: ScriptedServer, status: int) -> None:
    server.script(PATH, failure(status, "busy"), chat("Hello"))
    assert answer(model(server)) == "Hello"
    assert len(server.requests) == 2


def test_an_overloaded_server_is_given_up_in_the_end(server: ScriptedServer) -> None:
    error = failing(server, failure(500, f"fault while serving {SECRET}"))
    assert isinstance(error, ProviderOverloaded)
    assert error.retryable
    assert len(server.requests) == 1 + QUICK.retries


def test_the_wait_that_is_asked_for_is_kept(server: ScriptedServer) -> None:
    server.script(PATH, failure(429, "slow down", retry_after="0.3"), chat("Hello"))
    assert answer(model(server)) == "Hello"
    first, second = server.requests
    assert second.at - first.at >= 0.3


def test_a_wait_that_is_too_long_is_told(server: ScriptedServer) -> None:
    error = failing(server, failure(429, "tomorrow", retry_after=86_400))
    assert isinstance(error, ProviderOverloaded)
    assert error.retry_after == 86_400
    assert len(server.requests) == 1


def test_no_connection() -> None:
    with ScriptedServer() as gone:
        pass
    with pytest.raises(ProviderUnreachable, match=r"can't be reached .*OPENAI_BASE_URL"):
        answer(model(gone))


def test_without_ollama_it_says_how_to_start_it(server: ScriptedServer) -> None:
    with ScriptedServer() as gone:
        pass
    with pytest.raises(ProviderUnreachable) as caught:
        answer(ollama(gone))
    said = str(caught.value)
    assert re.match(r"Ollama doesn't answer at 127\.0\.0\.1:\d+ \(", said)
    assert said.endswith("Start it with `ollama serve`, or set ANSWERABLE_OLLAMA_BASE_URL to where it runs.")
    for reply, kind, advice in (
        (failure(404, 'model "llama3.2" not found'), ModelNotFound, "`ollama pull llama3.2`"),
        (failure(404, "no such route"), RequestRejected, "Check ANSWERABLE_OLLAMA_BASE_URL"),
        (failure(401, "who are you?"), ProviderRefused, "Check ANSWERABLE_OLLAMA_BASE_URL"),
    ):
        server.script(PATH, reply)
        with pytest.raises(kind, match=advice) as caught_too:
            answer(ollama(server))
        assert "OPENAI" not in str(caught_too.value)


def ollama(server: ScriptedServer) -> OpenAIChatModel:
    """A model of Ollama's, at a server that plays it."""
    return OpenAIChatModel("llama3.2", "", f"{server.url}/v1", QUICK, provider="ollama")


def test_a_server_that_hangs_up_or_says_nothing_is_asked_again(server: ScriptedServer) -> None:
    hangs_up, hangs = Reply(None, ending=Ending.CUT), Reply(None, ending=Ending.HANG)
    server.script(PATH, hangs_up, hangs, chat("Hello"))
    assert answer(model(server, policy=CallPolicy(timeout=2.0, retries=2, first_wait=0.001))) == "Hello"
    assert server.requests[1].disconnected.wait(25)


# Streams that go wrong


@pytest.mark.parametrize(
    "broken",
    [
        sse_reply("{not json"),
        sse_reply("null", '"text"', "[1]", "{}", '{"choices": 3}', '{"choices": [null, 1, {"delta": "x"}]}', "[DONE]"),
        sse_reply(b"data: \xff\xfe\n\n"),
        sse_reply("[" * 100_000),
        sse_reply("[DONE]"),
        json_reply({"choices": [{"message": {"content": "not streamed"}, "finish_reason": "stop"}]}),
        Reply(200, {"Content-Type": "text/html"}, (b"<html>log in first</html>",)),
        chat(ending=Ending.CUT),
        chat(finish=None),
    ],
)
def test_what_is_no_answer_is_asked_for_again_and_then_told(server: ScriptedServer, broken: Reply) -> None:
    assert isinstance(failing(server, broken), MalformedResponse)
    assert len(server.requests) == 1 + QUICK.retries
    server.script(PATH, broken, chat("Hello"))
    assert answer(model(server)) == "Hello"


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        (chat("Hel", ending=Ending.CUT), MalformedResponse),
        (chat("Hel", finish=None), MalformedResponse),
        (sse_reply(chunk("Hel"), "{not json"), MalformedResponse),
        (sse_reply(chunk("Hel"), '{"error": {"message": "fault", "type": "server_error"}}'), ProviderOverloaded),
        (sse_reply(chunk("Hel"), '{"error": {"message": "too hot", "code": 503}}'), ProviderOverloaded),
        (chat("Hel", finish="content_filter"), ContentFiltered),
        (sse_reply(chunk("Hel"), ending=Ending.HANG), ProviderUnreachable),
    ],
)
def test_an_answer_that_has_begun_is_not_begun_again(
    server: ScriptedServer, broken: Reply, kind: type[ProviderError]
) -> None:
    server.script(PATH, broken)
    pieces = model(server, policy=CallPolicy(timeout=2.0, retries=2, first_wait=0.001)).stream(ASK)
    assert next(pieces) == Delta("Hel")
    with pytest.raises(kind):
        list(pieces)
    assert len(server.requests) == 1


def test_an_error_at_the_head_of_the_stream_is_one_of_the_server(server: ScriptedServer) -> None:
    server.script(PATH, sse_reply('{"error": {"message": "busy", "code": 429}}'), chat("Hello"))
    assert answer(model(server)) == "Hello"


def test_chunks_without_choices_are_passed_over(server: ScriptedServer) -> None:
    filters = chunk(choices=[], prompt_filter_results=[{"prompt_index": 0}])
    server.script(PATH, sse_reply(filters, chunk("Hello", usage=None), b": ping\n\n", chunk(finish="stop"), "[DONE]"))
    assert list(model(server).stream(ASK)) == [Delta("Hello"), Delta("")]


def test_line_separators_in_the_text_stay_text(server: ScriptedServer) -> None:
    text = "one\u2028two\u0085three\r\nfour"
    raw = chunk(text).replace("\\u2028", "\u2028").replace("\\u0085", "\u0085")
    server.script(PATH, sse_reply(raw, chunk(finish="stop")))
    assert answer(model(server)) == text


def test_an_answer_whose_end_is_told_is_whole_without_its_usage(server: ScriptedServer) -> None:
    server.script(PATH, sse_reply(chunk("Hello"), chunk(finish="stop"), ending=Ending.CUT))
    assert list(model(server).stream(ASK)) == [Delta("Hello"), Delta("")]


def test_an_empty_answer_is_an_answer(server: ScriptedServer) -> None:
    server.script(PATH, chat(finish="length", usage=(9, 50)))
    assert list(model(server).stream(ASK)) == [Delta("", Usage(9, 50), truncated=True)]


@pytest.mark.parametrize(
    ("events", "most"),
    [
        pytest.param([chunk("la " * 10)] * 1_000, 8 * 50, id="words"),
        pytest.param([chunk("")] * 1_000, 0, id="thoughts"),
        pytest.param([chunk("la " * 1_000_000)] * 2, 8 * 50, id="all at once"),
        pytest.param([usage_chunk(1, 1)] * 1_000, 0, id="nothing but usage"),
    ],
)
def test_a_model_that_never_ends_is_stopped_at_a_length(server: ScriptedServer, events: list[str], most: int) -> None:
    server.script(PATH, sse_reply(*events, ending=Ending.HANG))
    *deltas, last = model(server).stream(ASK, max_tokens=50)
    assert server.requests[0].body["max_tokens"] == 50
    assert last.truncated
    assert most * 0.9 <= len("".join(delta.text for delta in deltas)) <= most
    assert server.disconnected.wait(60)


def test_chunks_without_a_choice_are_stopped_too(server: ScriptedServer) -> None:
    server.script(PATH, sse_reply(*['{"id": "c", "choices": []}'] * 1_000, ending=Ending.HANG))
    assert list(model(server).stream(ASK, max_tokens=50)) == [Delta("", truncated=True)]


ENDLESS = {
    "comments": sse_reply(*[b": still here\n\n", 0.1] * 600, ending=Ending.HANG),
    "comments after a word": sse_reply(chunk("Hello"), *[b": still here\n\n", 0.1] * 600, ending=Ending.HANG),
    "the body of an error": Reply(400, {"Content-Type": "application/json"}, (b"x", 0.1) * 600, Ending.HANG),
    "a line": sse_reply(b"data: ", *[b"x" * 1_000_000] * 250, ending=Ending.HANG),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_response_that_says_nothing_and_never_ends_is_given_up(server: ScriptedServer, kind: str) -> None:
    server.script(PATH, ENDLESS[kind])
    started = time.monotonic()
    with pytest.raises(MalformedResponse, match="was cut off"):
        answer(model(server, policy=CallPolicy(timeout=20.0, total=2.0, retries=0)))
    assert time.monotonic() - started < 30
    assert server.disconnected.wait(60)


def test_a_compressed_response_is_not_unpacked(server: ScriptedServer) -> None:
    headers = {"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}
    server.script(PATH, Reply(200, headers, (gzip.compress(b": \n" * 1_000_000),), Ending.COMPLETE))
    with pytest.raises(ProviderUnreachable, match="compressed"):
        answer(model(server))
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_an_answer_without_a_limit_of_tokens_is_stopped_too(server: ScriptedServer) -> None:
    server.script(PATH, sse_reply(*[chunk("la " * 10_000)] * 100, ending=Ending.HANG))
    assert LONGEST_ANSWER - 100 < len(answer(model(server))) <= LONGEST_ANSWER
    assert server.disconnected.wait(60)


def test_pieces_come_as_they_are_sent(server: ScriptedServer) -> None:
    second, third = threading.Event(), threading.Event()
    server.script(PATH, chat("one", second, "two", third, "three"))
    pieces = model(server).stream(ASK)
    # Each is sent when the one before has come.
    assert next(pieces).text == "one"
    second.set()
    assert next(pieces).text == "two"
    third.set()
    assert next(pieces).text == "three"
    pieces.close()


def test_closing_hangs_up(server: ScriptedServer) -> None:
    server.script(PATH, chat(*["word ", 0.05] * 2_000))
    pieces = model(server).stream(ASK)
    next(pieces)
    pieces.close()
    assert server.disconnected.wait(25)
    assert server.requests[0].sent < 500


ASKING = """
import sys
from answerable.providers.openai import OpenAIChatModel
from answerable.protocols import Message
model = OpenAIChatModel("scripted", None, sys.argv[1])
try:
    for delta in model.stream([Message("user", "Say hello.")]):
        print(delta.text, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    "reply", [sse_reply(chunk("Hel"), ending=Ending.HANG), Reply(None, ending=Ending.HANG)], ids=["between", "before"]
)
def test_an_interrupt_hangs_up_while_the_process_goes_on(server: ScriptedServer, reply: Reply) -> None:
    server.script(PATH, reply)
    with subprocess.Popen(
        [sys.executable, "-c", ASKING, f"{server.url}/v1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        if reply.status:
            assert process.stdout.readline() == "Hel\n"
        deadline = time.monotonic() + 60
        while not server.requests and time.monotonic() < deadline:
            time.sleep(0.02)
        # It has been asked; the client now waits for more.
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert server.disconnected.wait(25)
        assert process.poll() is None
        process.communicate()


def test_streams_hold_their_place_until_they_end(server: ScriptedServer) -> None:
    server.script(PATH, meeting(QUICK.concurrency, lambda request: chat("one", 0.1, "two")))
    chat_model = model(server)
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(answer(chat_model))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["onetwo"] * 6
    assert server.most_at_once == QUICK.concurrency


# Tokens and prices


def test_tokens_are_counted_with_the_models_own_vocabulary() -> None:
    own = OpenAIChatModel("openai/gpt-5-nano", SECRET)
    assert own.count_tokens(["hello world", "", "<|endoftext|>"]) == [2, 0, 7]
    other = OpenAIChatModel("llama3.2", SECRET)
    assert other.count_tokens(["seven c", "", "東京都に住む"]) == [2, 0, 6]


def test_prices() -> None:
    assert cost("gpt-5-nano", 1_000_000, 1_000_000) == pytest.approx(0.45)
    assert cost("gpt-4o-mini-2024-07-18", 1_000_000, 0) == pytest.approx(0.15)
    assert cost("gpt-4o-2024-05-13", 1_000_000, 0) == pytest.approx(5)
    assert cost("llama3.2", 1, 1) is None
