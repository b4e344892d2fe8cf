"""Keys: who is let in where. Every route of the application is tried, so that none can be forgotten."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from raw_requests import Reply, exchange, post, request, sent, upload
from targets import SECRET, TEXTS, Target

from answerable.interfaces.http.server import create_app

PUBLIC = {"/health", "/ready", "/openapi.json"}
BODIES: dict[str, Any] = {
    "/api/v1/{library}/ask": {"question": "What is the password of the safe?"},
    "/api/v1/{library}/search": {"question": "What is the password of the safe?"},
    "/api/v1/{library}/places": {"quote": "The password of the safe is"},
    "/api/v1/{library}/examples": {"language": "en"},
    "/api/v1/{library}/sources": {"url": "http://127.0.0.1:9/"},
    "/api/v1/{library}/sync": {"origins": ["http://127.0.0.1:9/"]},
    "/api/v1/{library}/verify": {"repair": False},
    "/api/v1/{library}/settings/models": {"provider": "cohere"},
    "/api/v1/{library}/settings/model": {"model": "extractive"},
    "/api/v1/{library}/settings/key": {"provider": "openai", "key": ""},
    "/api/v1/{library}": {"every": 0},
    "/api/v1/libraries": {"title": "Made by a test"},
    "/api/v1/{library}/sessions/{session}": {"title": "The safe"},
    "/api/v1/{library}/sessions/{session}/turns/{turn}/vote": {"vote": "up"},
    "/v1/chat/completions": {"model": "notes", "messages": [{"role": "user", "content": "The password of the safe?"}]},
    "/v1/embeddings": {"model": "notes", "input": "The password of the safe?"},
    "/v1/responses": {"model": "notes", "input": "The password of the safe?"},
}
"""What a caller who may would send; a route that takes a body and isn't here makes the tests fail."""
ASKERS_MAY = {
    ("GET", "/api/v1/libraries"),
    ("POST", "/api/v1/{library}/ask"),
    ("POST", "/api/v1/{library}/search"),
    ("POST", "/api/v1/{library}/places"),
    ("GET", "/api/v1/{library}/filters"),
    ("GET", "/api/v1/{library}/documents"),
    ("GET", "/api/v1/{library}/stats"),
    ("GET", "/api/v1/{library}/documents/{document_id}/overview"),
    ("GET", "/api/v1/{library}/documents/{document_id}"),
    ("GET", "/api/v1/{library}/documents/{document_id}/passages"),
    ("GET", "/api/v1/{library}/documents/{document_id}/rectangles"),
    ("GET", "/api/v1/{library}/documents/{document_id}/pages"),
    ("GET", "/api/v1/{library}/documents/{document_id}/file"),
    ("GET", "/api/v1/{library}/documents/{document_id}/recording"),
    ("GET", "/api/v1/{library}/sessions"),
    ("GET", "/api/v1/{library}/sessions/{session}"),
    ("PATCH", "/api/v1/{library}/sessions/{session}"),
    ("DELETE", "/api/v1/{library}/sessions/{session}"),
    ("PUT", "/api/v1/{library}/sessions/{session}/turns/{turn}/vote"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/embeddings"),
    ("POST", "/v1/responses"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{model}"),
}
QUESTION = {"question": "When was the lighthouse built?"}


@dataclass(frozen=True)
class Operation:
    """A method on a route."""

    method: str
    path: str

    def send(self, target: Target, library: str, document_id: str, headers: dict[str, str]) -> Reply:
        """What the server says to a caller with these headers who names this library and document."""
        path = self.path.replace("{library}", library).replace("{document_id}", document_id)
        path = path.replace("{model}", library)
        for name in ("{session}", "{turn}", "{job_id}"):
            path = path.replace(name, "x")
        assert "{" not in path, f"{self.path} has a part that the tests don't know"
        if self.method not in ("POST", "PUT", "PATCH"):
            return exchange(target.port, request(self.method, f"{path}?start=0&end=20", headers=headers))
        if path.endswith("/documents"):
            return exchange(target.port, upload(path, "added.txt", b"An addition.", headers))
        return exchange(target.port, sent(self.method, path, BODIES[self.path], headers))


def operations(target: Target) -> Iterator[Operation]:
    """Every method on every route of the application, but for the public ones."""
    for route in iter_route_contexts(create_app(target.service).routes):
        path = str(route.path)
        if path not in PUBLIC and not is_page(path):
            yield from (Operation(method, path) for method in sorted(route.methods or ()))


def is_page(path: str) -> bool:
    """Whether a route is of the web page, which anybody may have."""
    return path == "/" or path.startswith("/page")


def wrong_keys(target: Target) -> dict[str, dict[str, str]]:
    """Headers that let nobody in."""
    good = target.keys["admin"]
    return {
        "none": {},
        "empty": {"Authorization": ""},
        "no key after the word": {"Authorization": "Bearer"},
        "invented": {"Authorization": "Bearer ak_" + "A" * 43},
        "removed": target.bearer("removed"),
        "cut": {"Authorization": f"Bearer {good[:-1]}"},
        "longer": {"Authorization": f"Bearer {good}A"},
        "other letters": {"Authorization": f"Bearer {good.swapcase()}"},
        "another scheme": {"Authorization": f"Basic {good}"},
        "two keys": {"Authorization": f"Bearer {good}", "X-API-Key": good},
        "in a cookie": {"Cookie": f"key={good}; Authorization=Bearer {good}"},
        "in another header": {"X-Admin-Key": good, "Api-Key": good},
        "half a character": {"X-API-Key": "\xff\xfe" + good},
        "a hash": {"X-API-Key": target.key_file.list()[0].sha256 if target.key_file else ""},
    }


def test_nobody_comes_in_without_a_key_of_this_server(keyed: Target) -> None:
    for operation in operations(keyed):
        for library in ("book", "nowhere"):
            nobody_comes_in(keyed, operation, library, wrong_keys(keyed)["invented"])


@pytest.mark.parametrize("path", ["/api/v1/libraries", "/api/v1/{library}/ask"])
def test_a_wrong_key_opens_nothing(keyed: Target, path: str) -> None:
    for headers in wrong_keys(keyed).values():
        nobody_comes_in(keyed, Operation("POST", path), "book", headers)


def nobody_comes_in(target: Target, operation: Operation, library: str, headers: dict[str, str]) -> None:
    """An operation with these headers is refused, and says nothing."""
    reply = operation.send(target, library, target.documents["book"], headers)
    assert reply.status == 401, f"{operation} with {headers}"
    assert reply.headers["www-authenticate"].startswith("Bearer")
    assert not says_anything(reply), operation


def test_a_key_in_an_address_is_none(keyed: Target) -> None:
    secret = keyed.keys["admin"]
    for query in (f"key={secret}", f"api_key={secret}", f"access_token={secret}", f"Authorization=Bearer%20{secret}"):
        assert exchange(keyed.port, request("GET", f"/api/v1/libraries?{query}")).status == 401


def test_what_is_public_says_nothing_of_the_libraries(keyed: Target) -> None:
    for path in PUBLIC:
        reply = exchange(keyed.port, request("GET", path))
        assert reply.status == 200
        assert not says_anything(reply)
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert exchange(keyed.port, request(method, path)).status == 401


@pytest.mark.parametrize("key", ["ask of book", "admin of book"])
def test_a_key_of_one_library_cannot_tell_another_from_none(keyed: Target, key: str) -> None:
    for operation in operations(keyed):
        there, nowhere = (
            operation.send(keyed, library, keyed.documents["notes"], keyed.bearer(key))
            for library in ("notes", "nowhere")
        )
        assert not says_anything(there), operation
        if "{library}" in operation.path:
            assert (there.status, there.body) == (404, nowhere.body), operation
        elif operation.path == "/api/v1/libraries":
            assert there.status == (403 if operation.method == "POST" else 200), operation
        elif operation.method == "POST" or "{model}" in operation.path:
            assert there.status == 404, operation


def test_a_document_of_another_library_is_not_there(keyed: Target) -> None:
    headers = keyed.bearer("admin of book")
    for operation in operations(keyed):
        if "{document_id}" in operation.path:
            reply = operation.send(keyed, "book", keyed.documents["notes"], headers)
            assert reply.status == 404, operation
            assert not says_anything(reply), operation


def test_a_key_that_may_ask_can_change_nothing(keyed: Target) -> None:
    for operation in operations(keyed):
        reply = operation.send(keyed, "book", keyed.documents["book"], keyed.bearer("ask"))
        if (operation.method, operation.path) not in ASKERS_MAY:
            assert reply.status == 403, operation
            assert reply.json()["code"] == "forbidden"
        else:
            assert reply.status not in (401, 403), operation


def test_a_key_opens_its_own_library_in_either_header(keyed: Target) -> None:
    for headers in (keyed.bearer("ask of book"), {"X-API-Key": keyed.keys["ask of book"]}):
        reply = exchange(keyed.port, post("/api/v1/book/ask", QUESTION, headers))
        assert reply.status == 200
        assert "1893" in reply.json()["text"]
        listed = exchange(keyed.port, request("GET", "/api/v1/libraries", headers=headers)).json()["libraries"]
        assert [each["name"] for each in listed] == ["book"]


def test_a_conversation_is_seen_by_nobody_else_not_even_an_admin(keyed: Target) -> None:
    asked = exchange(keyed.port, post("/api/v1/book/ask", QUESTION, keyed.bearer("ask"))).json()
    path = f"/api/v1/book/sessions/{asked['session']}"
    assert exchange(keyed.port, request("GET", path, headers=keyed.bearer("ask"))).status == 200
    elsewhere = path.replace("book", "notes")
    for key, tried in [("admin", path), ("ask of book", path), ("admin of book", path), ("ask", elsewhere)]:
        voting = f"{tried}/turns/{asked['turn']}/vote"
        for attempt in (
            request("GET", tried, headers=keyed.bearer(key)),
            request("DELETE", tried, headers=keyed.bearer(key)),
            sent("PATCH", tried, {"title": "Mine"}, keyed.bearer(key)),
            sent("PUT", voting, {"vote": "up"}, keyed.bearer(key)),
        ):
            reply = exchange(keyed.port, attempt)
            assert reply.status == 404
            assert b"lighthouse" not in reply.body
        listed = exchange(
            keyed.port, request("GET", f"{tried.rpartition('/')[0]}?words=lighthouse", headers=keyed.bearer(key))
        )
        assert asked["session"] not in listed.text
        ask_on = {**QUESTION, "session": asked["session"]}
        continued = post(tried.partition("/sessions")[0] + "/ask", ask_on, keyed.bearer(key))
        assert exchange(keyed.port, continued).status == 404
    assert exchange(keyed.port, request("DELETE", path, headers=keyed.bearer("ask"))).status == 204


def test_a_key_that_is_removed_is_out_at_once(keyed: Target) -> None:
    assert keyed.key_file is not None
    key, secret = keyed.key_file.add("admin")
    asked = request("GET", "/api/v1/libraries", headers={"X-API-Key": secret})
    assert exchange(keyed.port, asked).status == 200
    keyed.key_file.remove(key.id)
    assert exchange(keyed.port, asked).status == 401


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_key_file_that_others_may_write_to_lets_nobody_in(
    keyed: Target, key_path: Path, caplog: pytest.LogCaptureFixture, mode: int
) -> None:
    asked = request("GET", "/api/v1/libraries", headers=keyed.bearer("admin"))
    assert exchange(keyed.port, asked).status == 200
    key_path.chmod(mode)
    try:
        assert exchange(keyed.port, asked).status == 401
        assert "Other users may write to the key file" in caplog.text
    finally:
        key_path.chmod(0o600)
    assert exchange(keyed.port, asked).status == 200


def says_anything(reply: Reply) -> bool:
    """Whether something of the library "notes" stands in a reply."""
    return any(word in reply.text for word in (SECRET, TEXTS["notes"][:20], json.dumps("notes"), "notes.txt"))
