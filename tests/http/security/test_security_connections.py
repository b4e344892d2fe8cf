"""Clients that take their time, or more connections than are theirs: they are cut off, and nobody else waits."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import uvicorn
from malformed import ASK
from raw_requests import PATIENCE, Reply, exchange, post, read_reply, request, upload
from service_on_socket import running
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from targets import Target

from answerable.interfaces.http.guards.callers import Rates
from answerable.interfaces.http.guards.connections import ConnectionLimits
from answerable.interfaces.http.guards.stack import Guards
from answerable.interfaces.http.server import open_service
from answerable.interfaces.http.service import Options
from answerable.settings import Settings
from answerable.wiring.build import MEMORY

HEALTH = request("GET", "/health")
KEEP = HEALTH.replace(b"Connection: close\r\n", b"")


@contextmanager
def serving(app: ASGIApp, limits: ConnectionLimits, proxies: tuple[str, ...] = ()) -> Iterator[int]:
    """The port of an app, without guards, whose connections have these limits."""
    listening = socket.create_server(("127.0.0.1", 0))
    options = Guards(connections=limits, proxies=proxies).uvicorn_options()
    # Of the limits on idle connections, only those that are tested: uvicorn's own is 5 s.
    options["timeout_keep_alive"] = int(10 * PATIENCE)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1, **options))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


def drip(connection: socket.socket, pieces: bytes, pause: float = 0.1, seconds: float = 60.0) -> float:
    """Sends a byte at a time, again from the first when all are sent; the seconds until the server had enough."""
    started = time.monotonic()
    connection.settimeout(pause)
    for number in range(int(seconds / pause)):
        try:
            connection.sendall(pieces[number % len(pieces) :][:1])
            if connection.recv(1, socket.MSG_PEEK) == b"":
                break
            time.sleep(pause)
        except TimeoutError:
            continue
        except OSError:
            break
    connection.settimeout(PATIENCE)
    return time.monotonic() - started


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(b"", b"", id="nothing at all"),
        pytest.param(b"", b"GET /health HTTP/1.1\r\n" + b"X-A: a\r\n" * 1_000, id="headers without end"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X-A: b\r\n" * 1_000, id="headers, some at once"),
        pytest.param(b"", b"\r\n" * 1_000, id="empty lines"),
        pytest.param(KEEP, b"GET /health HTTP/1.1\r\n" + b"X-A: a\r\n" * 1_000, id="a second request"),
    ],
)
def test_a_head_that_does_not_come_ends_the_connection(local: Target, first: bytes, then: bytes) -> None:
    with socket.create_connection(("127.0.0.1", local.port), PATIENCE) as connection:
        if first:
            connection.sendall(first)
        if first == KEEP:
            assert read_reply(connection).status == 200
        if then:
            assert drip(connection, then) < 30
        # Raises TimeoutError where the connection stays.
        assert read_reply(connection).status in (0, 400, 408)


@pytest.mark.parametrize(
    ("pieces", "status", "code"),
    [
        pytest.param((b"GET /" + b"a" * 9_000, b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), 414, "address_too_long"),
        pytest.param((b"GET /" + b"a" * 30_000, b"a" * 3_000), 414, "address_too_long", id="an address without end"),
        pytest.param((HEALTH[:-2], b"X-A: " + b"a" * 33_000), 431, "headers_too_large", id="a header without end"),
        pytest.param((HEALTH[:-2], b"X-A: a\r\n" * 6_000), 431, "headers_too_large", id="headers without end"),
        pytest.param((b"GARBAGE\r\n\r\n",), 400, "bad_request", id="no HTTP"),
    ],
)
def test_a_head_that_is_too_long_gets_a_problem(
    local: Target, pieces: tuple[bytes, ...], status: int, code: str
) -> None:
    reply = exchange(local.port, *pieces, pause=0.2)
    assert (reply.status, reply.json()["code"]) == (status, code)
    assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("framing", ["Content-Length: 5000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize(
    ("path", "form"), [(ASK, "application/json"), ("/api/v1/book/documents", "multipart/form-data; boundary=x")]
)
def test_a_body_that_comes_too_slowly_is_given_up(local: Target, path: str, form: str, framing: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {form}\r\n{framing}\r\n\r\n".encode()
    body = b"--x\r\nContent-Disposition: form-data; name=files; filename=a.txt\r\n\r\n" if "form" in form else b'{"'
    with socket.create_connection(("127.0.0.1", local.port), PATIENCE) as connection:
        connection.sendall(head + (b"1000\r\n" if "chunked" in framing else b"") + body)
        assert drip(connection, b"a") < 30
        reply = read_reply(connection)
    assert (reply.status, reply.json()["code"]) == (408, "too_slow")


def test_a_body_that_nobody_wants_is_not_read_for_ever(keyed: Target) -> None:
    head = upload("/api/v1/book/documents", "a.txt", b"").replace(b"Connection: close\r\n", b"")
    head = head.partition(b"\r\n\r\n")[0].rpartition(b"\r\n")[0] + b"\r\nContent-Length: 250000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", keyed.port), PATIENCE) as connection:
        connection.sendall(head)
        assert read_reply(connection).status == 401
        assert drip(connection, b"a") < 30


def test_a_body_that_is_too_large_is_refused_before_it_is_all_there(local: Target) -> None:
    for path, form in ((ASK, "application/json"), ("/api/v1/book/documents", "multipart/form-data; boundary=x")):
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {form}\r\nTransfer-Encoding: chunked\r\n\r\n"
        begins = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
        pieces = [b"%x\r\n%s\r\n" % (len(begins), begins)] + [b"10000\r\n" + b"a" * 65_536 + b"\r\n"] * 200
        reply = exchange(local.port, head.encode(), *pieces)
        assert (reply.status, reply.json()["code"]) == (413, "too_large")


def test_others_are_served_while_slow_clients_hold_on() -> None:
    patient = ConnectionLimits(asking=10 * PATIENCE)
    with serving(PlainTextResponse("fine"), patient) as port, ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(100)]
        for slow in held:
            slow.sendall(b"GET /health HTTP/1.1\r\nX-A: ")
        assert exchange(port, HEALTH).status == 200
        for slow in held:
            slow.sendall(b"a\r\nHost: localhost\r\n\r\n")
        assert [read_reply(slow).status for slow in held] == [200] * 100


def test_no_more_connections_than_may_be() -> None:
    for limits in (ConnectionLimits(total=3), ConnectionLimits(per_address=3)):
        app = Waiting()
        with serving(app, limits) as port, ExitStack() as stack:
            held = [stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(3)]
            for connection in held:
                connection.sendall(KEEP)
            app.all_there(3)
            reply = exchange(port, HEALTH)
            assert (reply.status, reply.headers["retry-after"]) == (503, "5")
            app.go_on()
            assert [read_reply(connection).status for connection in held] == [200] * 3
            # Connections that wait for a request make room.
            assert [exchange(port, HEALTH).status for _ in range(3)] == [200] * 3


def test_slow_heads_keep_nobody_out() -> None:
    # Nobody is closed for the time it takes to open 200 connections: only to make room.
    patient = ConnectionLimits(asking=10 * PATIENCE)
    with serving(PlainTextResponse("fine"), patient) as port, ExitStack() as stack:
        there = stack.enter_context(connected(port, "127.0.0.2"))
        assert answer(there).status == 200
        slow = []
        for _ in range(200):
            slow.append(stack.enter_context(connected(port)))
            slow[-1].sendall(b"GET /health HTTP/1.1\r\nX-A: ")
            assert exchange(port, HEALTH).status == 200
        # The first had to make room for the last, and for nobody from elsewhere.
        assert read_reply(slow[0]).status == 408
        assert answer(there).status == 200


def test_slow_heads_of_many_addresses_keep_nobody_out() -> None:
    limits = ConnectionLimits(total=20, per_address=8, asking=10 * PATIENCE)
    with serving(PlainTextResponse("fine"), limits) as port, ExitStack() as stack:
        there = stack.enter_context(connected(port, "127.0.0.9"))
        assert answer(there).status == 200
        for number in range(60):
            slow = stack.enter_context(connected(port, f"127.0.0.{1 + number % 5}"))
            slow.sendall(b"GET /health HTTP/1.1\r\nX-A: ")
            assert exchange(port, HEALTH).status == 200
        # Those go first whose address has the most.
        assert answer(there).status == 200


def test_health_is_answered_while_slow_bodies_hold_all_places(tmp_path: Path) -> None:
    settings = Settings(MEMORY, reader="off")
    guards = Guards(rates=Rates(concurrent=5))
    with running(open_service({"library": settings}, Options(tmp_path)), guards) as server, ExitStack() as stack:
        port = server.socket.getsockname()[1]
        head = post("/api/v1/library/ask", {"question": "Anything?"}).removesuffix(b"}")
        for _ in range(5):
            stack.enter_context(connected(port)).sendall(head)
        until = time.monotonic() + PATIENCE
        while exchange(port, request("GET", "/api/v1/libraries")).status != 429:
            assert time.monotonic() < until
        assert exchange(port, HEALTH).status == 200


def test_behind_a_proxy_all_connections_come_from_one_address() -> None:
    with (
        serving(PlainTextResponse("fine"), ConnectionLimits(per_address=1), proxies=("127.0.0.1",)) as port,
        ExitStack() as stack,
    ):
        held = [stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(5)]
        assert [answer(connection).status for connection in held] == [200] * 5


def test_a_client_that_does_not_read_is_dropped() -> None:
    ended = threading.Event()

    async def pieces() -> AsyncIterator[bytes]:
        try:
            for _ in range(1_000):
                yield b"a" * 1_000_000
        finally:
            ended.set()

    with (
        serving(StreamingResponse(pieces()), ConnectionLimits(listening=0.5)) as port,
        socket.create_connection(("127.0.0.1", port), PATIENCE) as connection,
    ):
        connection.sendall(HEALTH)
        assert ended.wait(PATIENCE)


def connected(port: int, address: str = "127.0.0.1") -> socket.socket:
    """A connection from an address of this machine."""
    return socket.create_connection(("127.0.0.1", port), PATIENCE, (address, 0))


class Waiting:
    """An app that answers only when it is told to go on."""

    def __init__(self) -> None:
        self._here = threading.Semaphore(0)
        self._may = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._here.release()
            while not self._may.is_set():
                await asyncio.sleep(0.01)
            await PlainTextResponse("fine")(scope, receive, send)

    def all_there(self, requests: int) -> None:
        """Waits for requests to arrive."""
        assert all(self._here.acquire(timeout=PATIENCE) for _ in range(requests))

    def go_on(self) -> None:
        """Lets every request be answered."""
        self._may.set()


def answer(connection: socket.socket) -> Reply:
    """What an open connection gets for one more request."""
    connection.sendall(KEEP)
    return read_reply(connection)
