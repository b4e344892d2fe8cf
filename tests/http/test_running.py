"""How a server runs: problems, health, figures, conversations across a restart, isolation, and how it stops."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from interfaces.commands import run_here
from service_on_socket import EXAMPLES, PatientModel, ask_events, once_stopping, read_events, small_service, upload

from answerable.datatypes import Exchange
from answerable.errors import SettingsError
from answerable.interfaces.http.guards.stack import Guards
from answerable.interfaces.http.server import Server, open_service
from answerable.interfaces.http.service import Options
from answerable.interfaces.http.session_store import Owner, Sessions
from answerable.settings import Settings

ASK = "api/v1/library/ask"
COMMAND = (sys.executable, "-c", "from answerable.interfaces.cli.main import run; run()")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "nothing/here", 404, "not_found"),
        ("GET", "api/v1/other/documents", 404, "unknown_library"),
        ("GET", "api/v1/library/documents/none", 404, "document_not_found"),
        ("GET", "api/v1/library/documents/none/file", 404, "document_not_found"),
        ("GET", "api/v1/library/jobs/none", 404, "job_not_found"),
        ("GET", "api/v1/library/jobs/none/events", 404, "job_not_found"),
        ("DELETE", "api/v1/library/jobs/none", 404, "job_not_found"),
        ("GET", "api/v1/library/sessions/none", 404, "session_not_found"),
        ("DELETE", "api/v1/library/sessions/none", 404, "session_not_found"),
        ("PUT", "api/v1/library/documents", 405, "method_not_allowed"),
        ("GET", "api/v1/library/documents?limit=0", 422, "invalid_request"),
        ("GET", "docs", 404, "not_found"),
        ("GET", "redoc", 404, "not_found"),
    ],
)
def test_problems_have_stable_codes(client: httpx.Client, method: str, path: str, status: int, code: str) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == f"urn:answerable:problem:{code}"
    assert answer.json()["status"] == status
    assert answer.json()["detail"]


def test_a_fault_of_the_server_is_not_explained_to_the_client(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, client):
        upload(client, ("gate.txt", b"The gate is blue."))
        server.service.sessions.close()
        answer = client.post(ASK, json={"question": "Which colour is the gate?"})
        assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
        assert "sqlite" not in answer.text.lower()
        events = ask_events(client, ASK, question="Which colour is the gate?")
        assert events[0][0] == "searched"
        assert (events[-1][0], events[-1][1]["code"]) == ("error", "internal_error")


def test_health_and_readiness(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, client):
        assert client.get("health").json() == {"status": "ok"}
        assert client.get("ready").json() == {"status": "ready"}
        server.service.libraries.get("library").close()
        not_ready = client.get("ready")
        assert (not_ready.status_code, not_ready.json()["code"]) == (503, "not_ready")
        assert client.get("health").status_code == 200


def test_figures_count_and_name_nothing(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        upload(client, ("unmistakable.txt", b"The gate is blue."))
        client.post(ASK, json={"question": "What of the zanzibar gate?"})
        client.get("no/such/zanzibar")
        figures = client.get("metrics").text
    assert 'answerable_requests_total{method="POST",route="/api/v1/{library}/ask",status="200"} 1.0' in figures
    assert 'route="none",status="404"' in figures
    assert "answerable_ask_seconds_count 1.0" in figures
    assert 'answerable_jobs_total{state="done"} 1.0' in figures
    assert "answerable_streams_open 0.0" in figures
    assert "zanzibar" not in figures
    assert "unmistakable" not in figures


def test_the_api_describes_itself(client: httpx.Client) -> None:
    described = client.get("openapi.json").json()
    operations = [operation for path in described["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names) >= 20
    for operation in operations:
        assert operation["tags"]
        assert operation["description"]
        assert {"404", "422", "429", "500"} <= set(operation["responses"])


def test_two_libraries_share_nothing(tmp_path: Path) -> None:
    with small_service(tmp_path, "ours", "theirs") as (_, client):
        upload(client, ("gate.txt", b"The gate is blue."), library="ours")
        upload(client, ("gate.txt", b"The gate is red."), library="theirs")
        (ours,) = client.get("api/v1/ours/documents").json()["documents"]
        assert client.get(f"api/v1/theirs/documents/{ours['document_id']}").status_code == 404
        assert client.get(f"api/v1/theirs/documents/{ours['document_id']}/file").status_code == 404
        assert client.get(f"api/v1/ours/documents/{ours['document_id']}/file").content == b"The gate is blue."
        answer = client.post("api/v1/theirs/ask", json={"question": "Which colour is the gate?"}).json()
        assert {passage["content"] for passage in answer["passages"]} == {"The gate is red."}
        session = client.post("api/v1/ours/ask", json={"question": "Which colour is the gate?"}).json()["session"]
        assert client.get(f"api/v1/theirs/sessions/{session}").status_code == 404
        assert client.post("api/v1/theirs/ask", json={"question": "Why?", "session": session}).status_code == 404
        names = [each["name"] for each in client.get("api/v1/libraries").json()["libraries"]]
        assert names == ["ours", "theirs", "all"]


def test_conversations_outlive_the_server(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        upload(client, ("gate.txt", b"The gate is blue."))
        answer = client.post(ASK, json={"question": "Which colour is the gate?"}).json()
        kept = client.get(f"api/v1/library/sessions/{answer['session']}").json()
    with small_service(tmp_path) as (_, client):
        assert client.get(f"api/v1/library/sessions/{answer['session']}").json() == kept
        again = client.post(ASK, json={"question": "And the door?", "session": answer["session"]}).json()
        assert again["session"] == answer["session"]
        (listed,) = client.get("api/v1/library/sessions").json()["sessions"]
        assert (listed["turns"], listed["title"]) == (2, "Which colour is the gate?")


def test_conversations_expire_and_belong_to_one_caller(tmp_path: Path) -> None:
    now = 1_000_000.0
    sessions = Sessions(tmp_path / "sessions.db", days=2, now=lambda: now)
    ana, ben = Owner("library", "ana"), Owner("library", "ben")
    session = sessions.start(ana)
    assert len(session) == 32
    assert sessions.add(session, ana, Exchange("Why?", "Why is it?", "Because."), {"text": "Because."})
    assert not sessions.add(session, ben, Exchange("x", "x", "x"), {})
    assert sessions.turns(session, ben) is None
    assert not sessions.delete(session, ben)
    assert sessions.history(session, ana) == [Exchange("Why?", "Why is it?", "Because.")]
    now += 1.9 * 86_400
    assert sessions.add(session, ana, Exchange("How?", "How is it?", "So."), {"text": "So."})
    now += 1.9 * 86_400
    assert len(sessions.history(session, ana)) == 2
    now += 0.2 * 86_400
    assert sessions.turns(session, ana) is None
    assert sessions.list(ana) == []
    sessions.start(ben)
    sessions.close()
    assert b"Because" not in (tmp_path / "sessions.db").read_bytes()


def test_stopping_ends_streams_with_an_error(tmp_path: Path) -> None:
    model = PatientModel("The gate is blue")
    told: list[tuple[str, object]] = []
    with small_service(tmp_path, model=model, stop_after=0.5) as (server, client):
        upload(client, ("gate.txt", b"The gate is blue. The door is green."))
        body = {"question": "Which colour is the gate?"}
        with client.stream("POST", ASK, json=body, headers={"Accept": "text/event-stream"}) as response:
            events = read_events(response)
            assert next(events)[0] == "searched"
            assert model.began.wait(60)
            server.should_exit = True
            told += events
        assert model.stopped.wait(60)
    name, problem = told[-1]
    assert name == "error"
    assert isinstance(problem, dict)
    assert problem["code"] == "stopping"


def test_stopping_ends_answers_that_are_no_streams(tmp_path: Path) -> None:
    model = PatientModel("The gate is blue")
    with small_service(tmp_path, model=model, stop_after=0.5) as (server, client):
        upload(client, ("gate.txt", b"The gate is blue. The door is green."))
        with ThreadPoolExecutor(1) as threads:
            asked = threads.submit(client.post, ASK, json={"question": "Which colour is the gate?"})
            assert model.began.wait(60)
            server.should_exit = True
            answer = asked.result()
        assert (answer.status_code, answer.json()["code"]) == (503, "stopping")
        assert model.stopped.wait(60)


def test_stopping_lets_answers_finish(tmp_path: Path) -> None:
    model = PatientModel("The gate is blue [1].")
    with small_service(tmp_path, model=model, stop_after=20) as (server, client):
        upload(client, ("gate.txt", b"The gate is blue. The door is green."))
        body = {"question": "Which colour is the gate?"}
        with client.stream("POST", ASK, json=body, headers={"Accept": "text/event-stream"}) as response:
            events = read_events(response)
            assert next(events)[0] == "searched"
            assert model.began.wait(60)
            server.should_exit = True
            once_stopping(server, model.go_on.set)
            names = [name for name, _ in events]
        assert names[-1] == "answer"


@pytest.mark.long
def test_a_client_that_reads_nothing_holds_up_nobody(tmp_path: Path) -> None:
    with small_service(tmp_path, workers=2) as (server, client):
        text = "\n\n".join(f"Gate number {n} has the colour {n * n}. " * 12 for n in range(200))
        upload(client, ("gates.txt", text.encode()))
        host, port = server.socket.getsockname()[:2]
        body = b'{"question": "Which colour has gate number 7?"}'
        head = f"POST /api/v1/library/ask HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        head += f"Accept: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
        idle = [socket.create_connection((host, port)) for _ in range(20)]
        for connection in idle:
            connection.sendall(head.encode() + body)
        with ThreadPoolExecutor(4) as threads:
            asked = threads.map(lambda n: client.post(ASK, json={"question": f"Colour of gate {n}?"}), range(20))
            assert {answer.status_code for answer in asked} == {200}
        for connection in idle:
            connection.close()


def test_more_than_can_wait_is_refused(tmp_path: Path) -> None:
    model = PatientModel("The gate is blue")
    with small_service(tmp_path, model=model, workers=1, waiting=1) as (_, client):
        upload(client, ("gate.txt", b"The gate is blue. The door is green."))
        with ThreadPoolExecutor(12) as threads:
            asked = [threads.submit(client.post, ASK, json={"question": "Which colour?"}) for _ in range(12)]
            # None is answered before the model goes on.
            first = next(as_completed(asked, timeout=60)).result()
            model.go_on.set()
            answers = [each.result() for each in asked]
        assert first.status_code == 503
        assert {answer.status_code for answer in answers} == {200, 503}
        assert {answer.json()["code"] for answer in answers if answer.status_code == 503} == {"busy"}


@pytest.mark.parametrize("sent", ["/docs/api/v1/libraries", "/api/v1/libraries"])
def test_a_base_path_with_and_without_a_proxy_that_strips_it(tmp_path: Path, sent: str) -> None:
    with small_service(tmp_path, base_path="/docs") as (server, client):
        assert server.address.endswith("/docs/")
        root = server.address.removesuffix("/docs/")
        assert client.get(root + sent).json()["libraries"][0]["name"] == "library"
        assert client.get("openapi.json").json()["servers"] == [{"url": "/docs"}]


def test_others_need_keys(tmp_path: Path) -> None:
    service = open_service({"library": Settings()}, Options(tmp_path))
    with pytest.raises(SettingsError, match="answerable keys add"):
        Server(service, Guards(), host="0.0.0.0", port=0)
    service.close()
    with pytest.raises(SettingsError, match="lowercase letters"):
        open_service({"../x": Settings()}, Options(tmp_path))


def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path, cache_folder: Path) -> None:
    quick = {"ANSWERABLE_READER": "off", "ANSWERABLE_CACHE_FOLDER": str(cache_folder / "quick")}
    environment = {**os.environ, **quick}
    arguments = ["serve", "--port", "0", "--library", tmp_path / "one", "--also", f"two={tmp_path / 'two'}"]
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments), "--data", str(tmp_path / "data")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    address = re.search(r"http://127\.0\.0\.1:\d+/", line)
    assert address, line
    with httpx.Client(base_url=address[0], timeout=120) as client:
        names = [each["name"] for each in client.get("api/v1/libraries").json()["libraries"]]
        assert names == ["library", "two", "all"]
        guide = EXAMPLES / "espresso-machine-guide.md"
        job = upload(client, (guide.name, guide.read_bytes()), library="two")
        assert job["report"]["added"] == 1
        answer = client.post("api/v1/two/ask", json={"question": "After how many cups must it be descaled?"}).json()
        assert "200 cups" in answer["text"]
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    assert (process.returncode, said) == (0, "")


def test_a_second_stop_signal_ends_the_command_at_once(tmp_path: Path, cache_folder: Path) -> None:
    quick = {"ANSWERABLE_READER": "off", "ANSWERABLE_CACHE_FOLDER": str(cache_folder / "quick")}
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--library", str(tmp_path / "one"), "--data", str(tmp_path / "data")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **quick},
    )
    assert process.stdout is not None
    found = re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())
    assert found
    address = "127.0.0.1", int(found[1])
    with socket.create_connection(address) as unfinished:
        # The server waits for this question to be sent.
        unfinished.sendall(
            f"POST /{ASK} HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\nContent-Type: application/json\r\n"
            'Content-Length: 99\r\n\r\n{"question": "'.encode()
        )
        with httpx.Client(base_url=f"http://127.0.0.1:{address[1]}/", timeout=120) as client:
            client.get("api/v1/libraries").raise_for_status()
        process.send_signal(signal.SIGTERM)
        with suppress(OSError):
            while True:
                socket.create_connection(address).close()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "answerable keys add"),
        (["--base-path", "docs"], "must start with a slash"),
        (["--also", "two"], "NAME=ADDRESS"),
        (["--keys", "/nowhere/keys.json"], "There is no key file"),
    ],
)
def test_the_command_says_what_to_do(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = run_here("serve", "--port", "0", "--library", tmp_path / "one", "--data", tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
