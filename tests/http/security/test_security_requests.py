"""Requests that are malformed, oversized or aimed at something else: each is refused, and says nothing it shouldn't."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from malformed import ASK, BODIES, JSON, PATHS, REQUESTS, SEARCH, sent
from raw_requests import Reply, exchange, post, request
from targets import SECRET, Target

LEAKS = ("Traceback", "site-packages", ".py", "sqlite", "/tmp/", "root:", SECRET)


@pytest.mark.parametrize("attack", PATHS)
def test_a_path_leads_nowhere_else(local: Target, attack: str) -> None:
    path = PATHS[attack].replace("{document}", local.documents["book"])
    refused(exchange(local.port, request("GET", path)))


@pytest.mark.parametrize("attack", BODIES)
@pytest.mark.parametrize("path", [ASK, SEARCH])
def test_a_body_that_makes_no_sense_is_refused(local: Target, attack: str, path: str) -> None:
    body = BODIES[attack]
    for mark, name in (("{document}", "book"), ("{notes}", "notes")):
        body = body.replace(mark.encode(), local.documents[name].encode())
    reply = exchange(local.port, request("POST", path, body, JSON))
    refused(reply)
    assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("attack", REQUESTS)
def test_a_request_that_makes_no_sense_is_refused(local: Target, attack: str) -> None:
    # A reset may overtake the answer, if the server closes before it has read everything.
    replies = (exchange(local.port, REQUESTS[attack]) for _ in range(10))
    refused(next(reply for reply in replies if reply.status))


@pytest.mark.parametrize(
    "smuggle",
    [
        lambda inner: sent("Content-Length: 5", body=b"0\r\n\r\n" + inner),
        lambda inner: sent("Content-Length: 0", body=inner),
        lambda inner: sent("Transfer-Encoding: chunked", body=b"0\r\n\r\n" + inner),
    ],
)
def test_a_second_request_in_a_connection_needs_a_key_of_its_own(
    keyed: Target, smuggle: Callable[[bytes], bytes]
) -> None:
    inner = request("DELETE", f"/api/v1/book/documents/{keyed.documents['book']}")
    outer = smuggle(inner).replace(b"\r\n\r\n", f"\r\nX-API-Key: {keyed.keys['admin']}\r\n\r\n".encode(), 1)
    assert 400 <= exchange(keyed.port, outer).status < 500


def test_white_space_around_a_header_is_no_part_of_it(keyed: Target) -> None:
    key = {"X-API-Key": f" \t{keyed.keys['admin']} \t "}
    assert exchange(keyed.port, request("GET", "/api/v1/book/documents", headers=key)).status == 200


def test_a_method_is_what_the_request_line_says(local: Target) -> None:
    path = f"/api/v1/book/documents/{local.documents['book']}"
    for name in ("X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"):
        assert exchange(local.port, request("GET", path, headers={name: "DELETE"})).status == 200
        assert exchange(local.port, request("POST", path, headers={name: "DELETE"})).status == 405
    assert exchange(local.port, request("POST", f"{path}?_method=DELETE")).status == 405


@pytest.mark.parametrize(
    "where",
    [
        {"source": "' OR 1=1 --"},
        {"source": "%"},
        {"source": "*"},
        {"source": '"; DROP TABLE documents; --'},
        {"' OR '1'='1": "a"},
        {"source": "a\0b"},
        {"document_id": "../notes"},
        {"document_id": "{notes}"},
        {"not": {"source": {"exists": True}}},
    ],
)
def test_what_a_filter_compares_with_is_no_code(local: Target, where: dict[str, object]) -> None:
    spelled = json.loads(json.dumps(where).replace("{notes}", local.documents["notes"]))
    reply = exchange(local.port, post(SEARCH, {"question": "password lighthouse", "where": spelled}))
    assert reply.status == 200
    assert reply.json()["results"] == []


def test_there_are_over_a_hundred_attacks() -> None:
    assert len(PATHS) + len(BODIES) + len(REQUESTS) >= 120


def refused(reply: Reply) -> None:
    """Whether a reply is a refusal that tells nothing of the server and of what it holds."""
    assert 400 <= reply.status < 500 or reply.status == 501, reply
    assert not [word for word in LEAKS if word in reply.text]
    assert "set-cookie" not in reply.headers
    if reply.headers["content-type"] != "text/plain; charset=utf-8":
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["content-security-policy"].startswith("default-src 'none'")
        assert reply.headers["cache-control"] in ("no-store", "no-cache")
