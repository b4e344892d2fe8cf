"""How much one key and one address may do on a running server, and whose address counts."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from raw_requests import PATIENCE, exchange, post, read_reply, request, upload
from service_on_socket import running
from targets import short_guards

from answerable.interfaces.http.guards.callers import Rates
from answerable.interfaces.http.guards.key_file import Keys
from answerable.interfaces.http.guards.stack import Guards
from answerable.interfaces.http.server import open_service
from answerable.interfaces.http.service import Options
from answerable.settings import Settings
from answerable.wiring.build import MEMORY

ASK = post("/api/v1/library/ask", {"question": "Anything?"})
SEARCH = post("/api/v1/library/search", {"question": "Anything?"})
LIST = request("GET", "/api/v1/library/documents")
FILE = upload("/api/v1/library/documents", "a.exe", b"MZ")


@contextmanager
def guarded(folder: Path, guards: Guards) -> Iterator[int]:
    """The port of a server with an empty library behind these guards."""
    settings = Settings(MEMORY, reader="off")
    with running(open_service({"library": settings}, Options(folder)), guards) as server:
        yield server.socket.getsockname()[1]


def with_headers(message: bytes, **headers: str) -> bytes:
    """A request with more headers."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return message.replace(b"\r\n\r\n", f"\r\n{lines}\r\n".encode(), 1)


@pytest.mark.parametrize(
    ("kind", "message"), [("asks", ASK), ("searches", SEARCH), ("others", LIST), ("uploads", FILE)]
)
def test_what_is_over_a_limit_is_refused_and_told_when_to_come_back(tmp_path: Path, kind: str, message: bytes) -> None:
    with guarded(tmp_path, replace(short_guards(None), rates=replace(short_guards(None).rates, **{kind: 3}))) as port:
        assert [exchange(port, message).status for _ in range(3)] in ([200] * 3, [202] * 3)
        reply = exchange(port, message)
        assert reply.status == 429
        assert reply.json()["code"] == "too_many_requests"
        assert 1 <= int(reply.headers["retry-after"]) <= 60
        others = [each for each in (ASK, SEARCH, LIST) if each != message]
        assert [exchange(port, each).status for each in others] == [200] * len(others)


def test_a_key_has_its_limit_and_an_address_has_its_own(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys.json")
    secrets = [keys.add("ask")[1] for _ in range(4)]
    with guarded(tmp_path, Guards(keys, rates=Rates(asks=3), proxies=["127.0.0.1"])) as port:

        def ask(key: int, address: int) -> int:
            message = with_headers(ASK, X_API_Key=secrets[key], X_Forwarded_For=f"192.0.2.{address}")
            return exchange(port, message).status

        assert [ask(0, address) for address in range(4)] == [200, 200, 200, 429]
        assert [ask(key, 9) for key in (1, 2, 3, 1)] == [200, 200, 200, 429]


def test_wrong_keys_are_slowed_down_and_right_ones_are_not(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys.json")
    _, secret = keys.add("ask")
    right = with_headers(LIST, X_API_Key=secret)
    with guarded(tmp_path, Guards(keys)) as port:
        replies = [exchange(port, with_headers(LIST, X_API_Key=f"ak_{number:043}")) for number in range(200)]
        assert [reply.status for reply in replies] == [401] * 60 + [429] * 140
        assert 1 <= int(replies[-1].headers["retry-after"]) <= 60
        assert replies[-1].json()["code"] == "too_many_requests"
        assert exchange(port, LIST).status == 429
        assert exchange(port, right).status == 200
        for message, status in ((with_headers(LIST, X_API_Key="ak_wrong"), 401), (right, 200)):
            with socket.create_connection(("127.0.0.1", port), PATIENCE, ("127.0.0.2", 0)) as elsewhere:
                elsewhere.sendall(message)
                assert read_reply(elsewhere).status == status


def test_nobody_but_a_trusted_proxy_says_whose_address_it_is(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys.json")
    messages = [
        request("GET", "/health", headers={"X-Forwarded-For": f"192.0.2.{n}", "Forwarded": f"for=192.0.2.{n}"})
        for n in range(5)
    ]
    for proxies in ([], ["192.0.2.0/24"]):
        with guarded(tmp_path / str(len(proxies)), Guards(keys, rates=Rates(others=3), proxies=proxies)) as port:
            assert [exchange(port, message).status for message in messages] == [200, 200, 200, 429, 429]
    with guarded(tmp_path / "trusted", Guards(rates=Rates(others=3), proxies=["127.0.0.0/8"])) as port:
        assert [exchange(port, message).status for message in messages] == [200] * 5
        # What a client says of itself comes first; the proxy adds whom it saw.
        lying = [with_headers(LIST, X_Forwarded_For=f"203.0.113.{n}, 192.0.2.77") for n in range(4)]
        assert [exchange(port, message).status for message in lying] == [200, 200, 200, 429]
        network = [with_headers(LIST, X_Forwarded_For=f"2001:db8::{n:x}") for n in range(4)]
        assert [exchange(port, message).status for message in network] == [200, 200, 200, 429]


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
def test_a_proxy_in_front_does_not_open_a_server_without_keys(tmp_path: Path, header: str) -> None:
    with guarded(tmp_path, short_guards(None)) as port:
        for message in (ASK, SEARCH, LIST, FILE):
            reply = exchange(port, with_headers(message, **{header: "for=192.0.2.1"}))
            assert (reply.status, reply.json()["code"]) == (403, "forbidden")


def test_an_address_has_only_so_much_under_way(tmp_path: Path) -> None:
    guards = Guards(rates=Rates(concurrent=2))
    slow = b"POST /api/v1/library/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with guarded(tmp_path, guards) as port, ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(2)]
        for connection in held:
            # The server has begun to answer when it asks for the body.
            connection.sendall(slow + b"Content-Length: 25\r\nExpect: 100-continue\r\n\r\n")
            assert connection.recv(1_000).startswith(b"HTTP/1.1 100")
        assert exchange(port, LIST).status == 429
        held[0].sendall(b'{"question": "Anything?"}')
        assert read_reply(held[0]).status == 200
        assert exchange(port, LIST).status == 200


def test_https_is_asked_for_only_where_it_is_spoken(tmp_path: Path) -> None:
    secure = request("GET", "/health", headers={"X-Forwarded-Proto": "https"})
    with guarded(tmp_path / "alone", Guards()) as port:
        assert "strict-transport-security" not in exchange(port, secure).headers
    with guarded(tmp_path / "behind", Guards(proxies=["127.0.0.1"])) as port:
        assert exchange(port, secure).headers["strict-transport-security"] == "max-age=31536000"
        assert "strict-transport-security" not in exchange(port, request("GET", "/health")).headers


def test_the_page_may_load_its_own_files_and_nothing_else(tmp_path: Path) -> None:
    with guarded(tmp_path, Guards()) as port:
        for path in ("/", "/page/nothing.js"):
            headers = exchange(port, request("GET", path)).headers
            policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
            assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
            assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
            assert not [rule for rule in policy.values() if "unsafe" in rule or "*" in rule or "http" in rule]
            for name, value in {
                "x-content-type-options": "nosniff",
                "x-frame-options": "DENY",
                "referrer-policy": "no-referrer",
                "cross-origin-opener-policy": "same-origin",
                "cross-origin-resource-policy": "same-origin",
            }.items():
                assert headers[name] == value
            assert "camera=()" in headers["permissions-policy"]
            assert "server" not in headers
