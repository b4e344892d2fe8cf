"""What one request can make the server do: its work is bounded, and others are answered meanwhile."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import httpx
import pytest
from service_on_socket import small_service, upload

REPEATED = "it " * 6_600 + "ends"
CHAT = "".join(f"[20/03/24, 19:{minute:02}:00] Ana: The bus leaves at nine.\n" for minute in range(60))


@pytest.mark.long
@pytest.mark.parametrize(
    ("question", "selected"),
    [
        pytest.param("What is it?", REPEATED, id="a selected text that repeats itself"),
        pytest.param("what did Ana say " + "Ana " * 990, "", id="a name again and again"),
        pytest.param("it " * 1_330, "", id="a word again and again"),
    ],
)
def test_others_are_answered_while_a_request_repeats_itself(tmp_path: Path, question: str, selected: str) -> None:
    files = [("a.txt", b"it " * 30_000), ("b.txt", b"it is " * 15_000), ("chat.txt", CHAT.encode())]
    with small_service(tmp_path) as (server, client):
        upload(client, *files)
        body = {"question": question, "selected_text": selected}
        started = time.monotonic()
        with ThreadPoolExecutor(4) as people:
            asked = [people.submit(ask, server.address, body) for _ in range(4)]
            slowest = _slowest_health(client, asked)
        assert [each.result().status_code for each in asked] == [200] * 4
        assert slowest < 1
        assert time.monotonic() - started < 140


def test_a_filter_of_many_conditions_on_fields_that_nobody_has_is_quick(tmp_path: Path) -> None:
    conditions: list[dict[str, Any]] = [{f"no{number % 7}": number} for number in range(10_000)]
    with small_service(tmp_path) as (_, client):
        upload(client, ("a.txt", b"The bus leaves at nine. " * 25_000))
        for where in ({"or": conditions}, {"and": [{"not": condition} for condition in conditions]}):
            started = time.monotonic()
            found = client.post("api/v1/library/search", json={"question": "bus", "where": where}, timeout=300)
            assert bool(found.json()["results"]) is ("and" in where)
            assert time.monotonic() - started < 15


def ask(address: str, body: dict[str, str]) -> httpx.Response:
    """The answer to a question, over a connection of its own."""
    return httpx.post(f"{address}api/v1/library/ask", json=body, timeout=300)


def _slowest_health(client: httpx.Client, running: list[Future[httpx.Response]]) -> float:
    """The longest that /health took while something ran, in seconds."""
    slowest = 0.0
    while wait(running, 0.02).not_done:
        before = time.monotonic()
        assert client.get("health").status_code == 200
        slowest = max(slowest, time.monotonic() - before)
    return slowest
