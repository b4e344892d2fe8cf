"""The MCP server over streamable HTTP, with the official client and with requests that it would never send."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

import anyio
import httpx
import httpx2
import pytest
from commands import EXAMPLES, run_here
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http import EventMessage
from mcp_servers import HttpServer, endless_chat, given, over_http, refused
from mcp_types import JSONRPCNotification
from providers.scripted_server import ScriptedServer, chat

from answerable.interfaces.http.guards.key_file import Keys
from answerable.interfaces.mcp.http_server import KEPT, SessionEvents

pytestmark = pytest.mark.anyio

# Seconds, also on a busy machine.
TIMEOUT = 60.0
MODES: tuple[Any, ...] = ("auto", "legacy")
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def server(example_library: Path, quick_settings: Mapping[str, str]) -> Iterator[HttpServer]:
    """A server of the examples without keys."""
    with over_http(example_library, env=quick_settings) as server:
        yield server


@asynccontextmanager
async def client_with(url: str, key: str, mode: Any = "auto") -> AsyncIterator[Client]:
    """The official client with a key."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=TIMEOUT) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", MODES)
async def test_a_whole_session(server: HttpServer, mode: Any) -> None:
    async with Client(server.url, mode=mode) as client:
        assert len((await client.list_tools()).tools) == 4
        answer = await given(client, "ask", question="¿A qué hora sale el autobús?")
        assert "a las 7:30 de la mañana" in answer["text"]
        citation = answer["citations"][0]
        around = await given(client, "get_passage", document_id=citation["document_id"], start=citation["start"])
        assert citation["quote"] in around["content"]
        assert "the question is empty" in await refused(client, "ask", question=" ")
        assert len((await client.list_resources()).resources) == 4


@pytest.mark.long
async def test_two_clients_at_once_get_each_their_own_answers(server: HttpServer) -> None:
    asked = {
        "How often should I descale the machine?": "Descale every 200 cups",
        "Quando devo regar a horta?": "Regue sempre cedo",
    }
    async with Client(server.url) as one, Client(server.url, mode="legacy") as other:

        async def ask(client: Client, question: str, words: str) -> None:
            assert words in (await given(client, "ask", question=question))["text"]

        async with anyio.create_task_group() as group:
            for client in (one, other) * 5:
                for question, words in asked.items():
                    group.start_soon(ask, client, question, words)


async def test_a_cancelled_question_stops_the_model(example_library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer() as model:
        model.script("/v1/chat/completions", endless_chat())
        monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
        with over_http(example_library, "--model", "openai:scripted") as server:
            for mode in MODES:
                async with Client(server.url, mode=mode) as client:
                    await assert_cancelled_with_the_question(client, model)


async def assert_cancelled_with_the_question(client: Client, model: ScriptedServer) -> None:
    """Giving up a question hangs up on the model, and the session goes on."""
    asked = len(model.requests)
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "ask", {"question": "How often should I descale the machine?"})
        while len(model.requests) == asked:
            await anyio.sleep(0.02)
        group.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(model.requests[asked].disconnected.wait, 60)
    assert (await given(client, "list_documents"))["total"] == 4


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://evil.example", "Host": "evil.example"}, 421),
        ({"Content-Type": "text/plain"}, 415),
        ({"Accept": "text/html"}, 406),
        ({"Mcp-Session-Id": "0" * 32}, 404),
    ],
)
def test_requests_of_other_pages_and_programs_are_refused(
    server: HttpServer, headers: dict[str, str], status: int
) -> None:
    answer = httpx.post(server.url, json=INITIALIZE, headers={**JSON, **headers}, timeout=TIMEOUT)
    assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (status, False)


def test_requests_that_make_no_sense_end_in_an_error_of_the_client(server: HttpServer) -> None:
    bodies = [b"", b"{", b"[]", b"\xff\xfe", b'{"jsonrpc":"2.0"}', b"[" * 100_000, json.dumps("x" * 5_000_000).encode()]
    for body in bodies:
        assert 400 <= httpx.post(server.url, content=body, headers=JSON, timeout=TIMEOUT).status_code < 500, body[:20]
    for method, path, status in (("PUT", "", 405), ("OPTIONS", "", 405), ("POST", "/../etc", 404), ("GET", "/x", 404)):
        assert httpx.request(method, server.url + path, headers=JSON, timeout=TIMEOUT).status_code == status


def test_other_machines_are_served_with_keys_only(example_library: Path) -> None:
    done = run_here("mcp", "--library", example_library, "--http", "0.0.0.0:0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "start with --keys FILE" in done.stderr


@pytest.mark.parametrize("address", ["8765", "localhost", "127.0.0.1:x", "127.0.0.1:99999", "http://127.0.0.1:1", ""])
def test_an_address_that_is_none(example_library: Path, address: str) -> None:
    done = run_here("mcp", "--library", example_library, "--http", address)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not an address to listen on" in done.stderr


def test_a_port_that_is_taken(example_library: Path, server: HttpServer) -> None:
    done = run_here("mcp", "--library", example_library, "--http", httpx.URL(server.url).netloc.decode())
    assert done.returncode == 2
    assert "Choose another host or port" in done.stderr


async def test_keys_decide_who_may_do_what(tmp_path: Path) -> None:
    library, file = tmp_path / "library", tmp_path / "keys.json"
    keys = Keys(file)
    (_, asking), (removed, leaving), (_, bound), (_, changing) = (
        keys.add("ask"),
        keys.add("ask"),
        keys.add("admin", library="books"),
        keys.add("admin"),
    )
    with over_http(library, "--write", "--root", EXAMPLES, "--keys", file) as server:
        wrong_keys: list[tuple[dict[str, str], int]] = [
            ({}, 401),
            ({"Authorization": "Bearer ak_wrong"}, 401),
            ({"Authorization": f"Bearer {bound}"}, 403),
        ]
        for wrong, status in wrong_keys:
            answer = httpx.post(server.url, json=INITIALIZE, headers={**JSON, **wrong}, timeout=TIMEOUT)
            assert (answer.status_code, "www-authenticate" in answer.headers) == (status, status == 401)
        async with client_with(server.url, changing) as client:
            assert (await given(client, "add_source", source="espresso-machine-guide.md"))["added"] == 1
        for mode in MODES:
            async with client_with(server.url, asking, mode) as client:
                (document,) = (await given(client, "list_documents"))["documents"]
                assert "--role admin" in await refused(client, "remove_document", document_id=document["document_id"])
                assert "--role admin" in await refused(client, "add_source", source="espresso-machine-guide.md")
                assert (await given(client, "list_documents"))["total"] == 1
        begun = httpx.post(
            server.url, json=INITIALIZE, headers={**JSON, "Authorization": f"Bearer {leaving}"}, timeout=TIMEOUT
        )
        session = {**JSON, "Mcp-Session-Id": begun.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        for key, status in ((leaving, 200), (asking, 404)):
            answer = httpx.post(
                server.url, json=ping, headers={**session, "Authorization": f"Bearer {key}"}, timeout=TIMEOUT
            )
            assert answer.status_code == status
        keys.remove(removed.id)
        answer = httpx.post(
            server.url, json=ping, headers={**session, "Authorization": f"Bearer {leaving}"}, timeout=TIMEOUT
        )
        assert answer.status_code == 401


# Streams that are cut


def begun(url: str, key: str) -> dict[str, str]:
    """The headers of a session of the last protocol with sessions."""
    headers = {**JSON, "Authorization": f"Bearer {key}", "MCP-Protocol-Version": "2025-11-25"}
    params = {**INITIALIZE["params"], "protocolVersion": "2025-11-25"}
    answer = httpx.post(url, json={**INITIALIZE, "params": params}, headers=headers, timeout=TIMEOUT)
    return {**headers, "Mcp-Session-Id": answer.headers["mcp-session-id"]}


def asked_until_cut(url: str, session: Mapping[str, str], question: str) -> str:
    """Ask, and hang up after the start of the stream; its id."""
    call = {"name": "ask", "arguments": {"question": question}}
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    with httpx.stream("POST", url, json=body, headers=session, timeout=TIMEOUT) as answer:
        lines = answer.iter_lines()
        start = {name: value for name, _, value in (line.partition(": ") for line in iter(lines.__next__, ""))}
    assert (start["retry"], start["data"]) == ("1000", "")
    return start["id"]


def resumed(url: str, session: Mapping[str, str], after: str) -> tuple[int, str]:
    """The status of what a client gets that asks for the rest of a stream, and its text until the answer's end."""
    asking = {**session, "Last-Event-ID": after}
    got = ""
    with httpx.stream("GET", url, headers=asking, timeout=TIMEOUT) as answer:
        for line in answer.iter_lines():
            got += line
            if '"result":' in line:
                break
        return answer.status_code, got


def test_a_cut_stream_is_resumed_by_its_session_alone(
    example_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "keys.json"
    (_, one), (_, other) = Keys(file).add("ask"), Keys(file).add("ask")
    goes_on = threading.Event()
    with ScriptedServer() as model:
        model.script("/v1/chat/completions", chat(goes_on, "Descale every 200 cups [1]."))
        monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        with over_http(example_library, "--model", "openai:scripted", "--keys", file) as server:
            session = begun(server.url, one)
            start = asked_until_cut(server.url, session, "How often should I descale the machine?")
            threading.Timer(1, goes_on.set).start()
            # Before the answer is there, and again from what is kept.
            for _ in range(2):
                status, got = resumed(server.url, session, start)
                assert (status, "Descale every 200 cups [1]." in got) == (200, True)
            with_other_key = {**session, "Authorization": f"Bearer {other}"}
            assert resumed(server.url, with_other_key, start)[0] == 404
            for key in (one, other):
                assert resumed(server.url, begun(server.url, key), start) == (200, "")
            assert resumed(server.url, session, "0") == (200, "")


async def test_what_is_kept_for_cut_streams_is_bounded(anyio_backend: str) -> None:
    message = JSONRPCNotification(jsonrpc="2.0", method="progress", params={"text": "x" * 2**20})
    stores: WeakSet[SessionEvents] = WeakSet()
    quiet, busy = SessionEvents(stores), SessionEvents(stores)
    ids = [await each.store_event("1", None) for each in (quiet, busy)]
    for store in (quiet, *[busy] * (KEPT // 2**20 + 5)):
        await store.store_event("1", message)
    got: list[EventMessage] = []

    async def keep(event: EventMessage) -> None:
        got.append(event)

    assert await quiet.replay_events_after(ids[0], keep) == "1"
    assert await busy.replay_events_after(ids[1], keep) is None
    assert [event.message for event in got] == [message]
