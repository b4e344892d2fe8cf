"""Pages of other sites: what a browser would send for them, to a server that trusts this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from malformed import ASK, JSON
from raw_requests import Reply, exchange, request, upload
from service_on_socket import MANY, running
from targets import SECRET, Target

from answerable.interfaces.http.guards.key_file import Keys
from answerable.interfaces.http.guards.stack import Guards
from answerable.interfaces.http.server import open_service
from answerable.interfaces.http.service import Options
from answerable.settings import Settings

QUESTION = b'{"question": "password of the safe"}'
FOREIGN_HOSTS = (
    "evil.example",
    "evil.example:8000",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example@localhost",
    "localhost@evil.example",
    "localhost,evil.example",
    "localhost/evil.example",
    "localhost:80:80",
    "169.254.169.254",
    "0.0.0.0",
    "[::]",
    "[::1",
    "localhos\xb5",
)
FOREIGN = {
    "another site": {"Origin": "https://evil.example"},
    "no site": {"Origin": "null"},
    "an empty origin": {"Origin": ""},
    "this machine by another port": {"Origin": "http://localhost:3000"},
    "this machine by another name": {"Origin": "http://127.0.0.1"},
    "a file": {"Origin": "file://"},
    "an extension": {"Origin": "chrome-extension://abcdefgh"},
    "a name that begins alike": {"Origin": "http://localhost.evil.example"},
    "a name that ends alike": {"Origin": "http://evillocalhost"},
    "a user's name": {"Origin": "http://localhost@evil.example"},
    "no address": {"Origin": "http://[::1"},
    "two origins": {"Origin": "http://localhost", "origin": "https://evil.example"},
    "another site, by the browser's word": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    "a neighbouring site": {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
    "a frame": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    "an image": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
}


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_foreign_name_for_this_machine_is_refused(local: Target, host: str) -> None:
    for message in (
        request("GET", "/api/v1/notes/documents", host=host),
        request("GET", "/", host=host),
        request("POST", "/api/v1/notes/ask", QUESTION, {**JSON, "Origin": f"http://{host}"}, host),
        request("POST", "/api/v1/notes/ask", QUESTION, {**JSON, "X-Forwarded-Host": "localhost"}, host),
    ):
        closed_to_all(exchange(local.port, message), 421)


@pytest.mark.parametrize("message", [request("GET", "/health", host=""), b"GET /health HTTP/1.0\r\n\r\n"])
def test_a_request_must_say_whom_it_asks(local: Target, message: bytes) -> None:
    closed_to_all(exchange(local.port, message))


@pytest.mark.parametrize("attack", FOREIGN)
def test_a_page_of_another_site_can_do_nothing(local: Target, attack: str) -> None:
    origin = FOREIGN[attack]
    document = f"/api/v1/notes/documents/{local.documents['notes']}"
    for message in (
        request("GET", document, headers=origin),
        request("DELETE", document, headers=origin),
        request("POST", "/api/v1/notes/ask", QUESTION, {**JSON, **origin}),
        request("POST", "/api/v1/notes/sources", b'{"url": "http://127.0.0.1/"}', {**JSON, **origin}),
        upload("/api/v1/notes/documents", "evil.txt", b"evil", origin),
    ):
        closed_to_all(exchange(local.port, message), 403)


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_a_preflight_of_another_site_allows_nothing(local: Target, method: str) -> None:
    asks = {"Origin": "https://evil.example", "Access-Control-Request-Method": method}
    closed_to_all(exchange(local.port, request("OPTIONS", ASK, headers=asks)), 403)


def test_a_link_from_another_site_can_be_followed_but_does_nothing_else(local: Target) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert exchange(local.port, request("GET", "/health", headers=link)).status == 200
    document = f"/api/v1/notes/documents/{local.documents['notes']}"
    closed_to_all(exchange(local.port, request("DELETE", document, headers=link)), 403)
    closed_to_all(exchange(local.port, request("POST", ASK, QUESTION, {**JSON, **link})), 403)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"])
def test_its_own_page_can_do_everything(local: Target, host: str) -> None:
    for name in (host, f"{host}:{local.port}"):
        own = {"Origin": f"http://{name}", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
        asked = exchange(local.port, request("POST", "/api/v1/notes/ask", QUESTION, {**JSON, **own}, name))
        assert asked.status == 200
        assert SECRET in asked.text


@pytest.fixture(scope="module")
def shared(libraries: dict[str, Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """The port of a server that has another name, keys, and a page of another site that may use it; and a key."""
    keys = Keys(tmp_path_factory.mktemp("keys") / "keys.json")
    guards = Guards(keys, ["docs.example"], ["https://app.example/"], rates=MANY)
    secret = keys.add("ask")[1]
    with running(open_service(libraries, Options(tmp_path_factory.mktemp("shared"))), guards) as server:
        yield server.socket.getsockname()[1], secret


def test_a_site_that_was_named_may_ask_and_read_with_a_key(shared: tuple[int, str]) -> None:
    port, secret = shared
    asks = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    wanted = {**asks, "Access-Control-Request-Headers": "authorization, content-type"}
    preflight = exchange(port, request("OPTIONS", ASK, headers=wanted, host="docs.example"))
    assert preflight.status == 200
    assert preflight.headers["access-control-allow-origin"] == "https://app.example"
    assert "access-control-allow-credentials" not in preflight.headers
    headers = {**JSON, "Origin": "https://app.example", "Authorization": f"Bearer {secret}"}
    asked = exchange(port, request("POST", ASK, QUESTION, headers, "docs.example"))
    assert asked.status == 200
    assert asked.headers["access-control-allow-origin"] == "https://app.example"
    del headers["Authorization"]
    assert exchange(port, request("POST", ASK, QUESTION, headers, "docs.example")).status == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "http://app.example", "https://app.example.evil", "null"])
def test_a_site_that_was_not_named_may_not(shared: tuple[int, str], origin: str) -> None:
    port, secret = shared
    headers = {**JSON, "Origin": origin, "Authorization": f"Bearer {secret}"}
    closed_to_all(exchange(port, request("POST", ASK, QUESTION, headers, "docs.example")), 403)
    asks = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    closed_to_all(exchange(port, request("OPTIONS", ASK, headers=asks, host="docs.example")), 403)


def test_a_server_with_a_name_answers_to_that_name(shared: tuple[int, str]) -> None:
    port, _ = shared
    assert exchange(port, request("GET", "/health", host="DOCS.example:443")).status == 200
    closed_to_all(exchange(port, request("GET", "/health", host="other.example")), 421)


def closed_to_all(reply: Reply, status: int = 0) -> None:
    """Whether a reply is a refusal that no other page may read."""
    assert reply.status == status if status else 400 <= reply.status < 500, reply
    assert SECRET not in reply.text
    assert not [name for name in reply.headers if name.startswith("access-control-")]
