"""The OpenAPI document against the server: requests that are made from it, sensible or not, get what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings, strategies
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.config import SchemathesisConfig
from service_on_socket import PatientModel, small_service, upload, wait_for

from answerable.filters import parse_filter

CONFIGURED = Path(__file__).with_name("schemathesis.toml")

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a server."""
    with small_service(tmp_path_factory.mktemp("described")) as (_, client):
        yield client


@pytest.fixture(scope="module")
def described(client: httpx.Client) -> schemathesis.BaseSchema:
    """What the server says of itself, but for the route that fetches from elsewhere."""
    config = SchemathesisConfig.from_path(CONFIGURED)
    return schemathesis.openapi.from_url(f"{client.base_url}openapi.json", config=config).exclude(
        operation_id="add_source"
    )


@pytest.mark.long
@pytest.mark.timeout(3_000)
def test_schemathesis_finds_nothing(client: httpx.Client, tmp_path: Path) -> None:
    upload(client, ("ferry.txt", b"The ferry to the island leaves at nine."))
    program = Path(sys.executable).with_name("schemathesis")
    arguments = ["--config-file", CONFIGURED, "run", f"{client.base_url}openapi.json", "--no-color"]
    run = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("examples", [2])
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_answer_is_one_that_is_declared(
    client: httpx.Client, described: schemathesis.BaseSchema, mode: GenerationMode, examples: int
) -> None:
    operations = [found.ok() for found in described.get_all_operations()]
    assert len(operations) > 15
    statuses: Counter[int] = Counter()
    known: dict[str, str] = {}
    for operation in (each for each in operations if mode is GenerationMode.POSITIVE or can_be_wrong(each)):
        known = known or what_is_there(client)
        statuses += answers(operation, mode, examples, known)
        if operation.method == "delete":
            known = {}
    # The requests got further than to what isn't there.
    assert statuses[200 if mode is GenerationMode.POSITIVE else 422] >= examples, statuses


def can_be_wrong(operation: APIOperation) -> bool:
    """Whether there are wrong requests of an operation: any text is a name in a path."""
    return bool(operation.body) or any(each.location != "path" for each in operation.iter_parameters())


def answers(operation: APIOperation, mode: GenerationMode, examples: int, known: dict[str, str]) -> Counter[int]:
    """How often requests of an operation were answered with which status; most of them name what is there."""
    statuses: Counter[int] = Counter()

    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode), is_there=strategies.sampled_from([True, True, False]))
    def check(case: Case, is_there: bool) -> None:
        if is_there:
            case.path_parameters = {name: known.get(name, value) for name, value in case.path_parameters.items()}
        statuses[case.call_and_validate(checks=CHECKS, timeout=30).status_code] += 1

    check()
    return statuses


def what_is_there(client: httpx.Client) -> dict[str, str]:
    """A library, and a document, a session and a job in it, by what paths call them."""
    for sent in client.get("api/v1/library/jobs").json()["jobs"]:
        wait_for(client, sent)
    job = upload(client, ("ferry.txt", b"The ferry to the island leaves at nine."))
    documents = client.get("api/v1/library/documents").json()["documents"]
    asked = client.post("api/v1/library/ask", json={"question": "When does the ferry leave?"}).json()
    return {
        "library": "library",
        "document_id": next(each["document_id"] for each in documents if each["source"] == "ferry.txt"),
        "session": asked["session"],
        "turn": asked["turn"],
        "job_id": job["job_id"],
    }


def test_methods_that_a_path_has_not_get_those_that_it_has(client: httpx.Client) -> None:
    paths = client.get("openapi.json").json()["paths"]
    for path, operations in paths.items():
        declared = {method.upper() for method in operations}
        answer = client.request("TRACE", path.replace("{", "").replace("}", ""))
        assert answer.status_code == 405, path
        named = set(answer.headers["allow"].split(", "))
        # This is the path of a library named so, too.
        assert named == declared | ({"PATCH", "DELETE"} if path == "/api/v1/libraries" else set()), path
    assert client.request("TRACE", "/").headers["allow"] == "GET, HEAD"


def test_filters_that_are_described_are_accepted(described: schemathesis.BaseSchema) -> None:
    operation = described.find_operation_by_id("search")

    @settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy())
    def check(case: Case) -> None:
        parse_filter(case.body.get("where"))

    check()


@pytest.mark.parametrize(
    "where",
    [
        {"type": "pdf", "pages": [1, 2.5, True]},
        {"date": {"gte": "2024-03-31", "lt": "2024-04-30T10:00:00Z"}},
        {"not": {"or": [{"page": {"gt": 3}}, {"sender": {"exists": False}}]}},
        {},
        None,
    ],
)
def test_filters_as_people_write_them_are_described(client: httpx.Client, where: Any) -> None:
    components = client.get("openapi.json").json()["components"]
    schema = components["schemas"]["SearchBody"]["properties"]["where"]
    jsonschema_rs.validator_for({**schema, "components": components}).validate(where)
    assert client.post("api/v1/library/search", json={"question": "When?", "where": where}).status_code == 200


@pytest.mark.parametrize(
    "where",
    [
        *({"page": wrong} for wrong in (None, [], {}, [None], {"gte": 1, "gt": 1}, {"gte": None}, {"exists": 1})),
        *({"page": wrong} for wrong in ({"exists": True, "gte": 1}, {"gte": 1, "lt": "2024-03-31"}, {"is": 1}, [[1]])),
        *({name: wrong} for name in ("and", "or") for wrong in ([], [{}], {"page": 1}, "x")),
        *({"not": wrong} for wrong in ({}, [], "x")),
        [],
        "type",
    ],
)
def test_filters_that_are_not_described_are_refused(client: httpx.Client, where: Any) -> None:
    components = client.get("openapi.json").json()["components"]
    schema = components["schemas"]["SearchBody"]["properties"]["where"]
    assert not jsonschema_rs.validator_for({**schema, "components": components}).is_valid(where)
    assert client.post("api/v1/library/search", json={"question": "When?", "where": where}).status_code == 422


def test_the_events_of_streams_are_as_described(tmp_path: Path) -> None:
    model = PatientModel("The gate is blue [1]. It has 7 bolts.", "The gate is blue.")
    model.go_on.set()
    question = "Which colour is the gate?"
    asked = {"model": "library", "stream": True}
    sent: dict[str, Any] = {
        "/api/v1/{library}/ask": {"question": question},
        "/v1/chat/completions": {**asked, "messages": [{"role": "user", "content": question}]},
        "/v1/responses": {**asked, "input": question},
    }
    with small_service(tmp_path, model=model) as (_, client):
        job = upload(client, ("gate.txt", b"The gate is blue. The door is green."))
        found = [events_of(client, "POST", path, "", body) for path, body in sent.items()]
        names = [[name for name, _ in events] for events in found]
        assert set(names[0]) == {"searched", "step", "text", "mark", "answer"}
        assert set(names[1]) == {""}
        assert {*names[2], "error"} == set(declared_events(client, "POST", "/v1/responses"))
        assert events_of(client, "GET", "/api/v1/{library}/jobs/{job_id}/events", job["job_id"])[-1][0] == "ended"


def declared_events(client: httpx.Client, method: str, path: str) -> dict[str, Any]:
    """The schemas of the events of a stream, by name; \"\" for events without one."""
    responses = client.get("openapi.json").json()["paths"][path][method.lower()]["responses"]
    schema = responses["200"]["content"]["text/event-stream"]["schema"]
    return {each["properties"].get("event", {}).get("const", ""): each for each in schema.get("oneOf", [schema])}


def events_of(
    client: httpx.Client, method: str, path: str, job_id: str, body: Any = None
) -> list[tuple[str, dict[str, str]]]:
    """The events of a stream, by name; each of them and its data are as described."""
    declared = declared_events(client, method, path)
    components = client.get("openapi.json").json()["components"]
    address = path.format(library="library", job_id=job_id)
    answer = client.request(method, address, json=body, headers={"Accept": "text/event-stream"})
    pieces = [piece for piece in answer.text.replace("\r\n", "\n").split("\n\n") if piece and piece[0] != ":"]
    events = [dict(line.split(": ", 1) for line in piece.split("\n")) for piece in pieces]
    for event in events:
        schema = declared[event.get("event", "")]
        jsonschema_rs.validator_for({**schema, "components": components}).validate(event)
        data = schema["properties"]["data"]
        kinds = [kind["contentSchema"] for kind in data.get("anyOf", [data]) if "contentSchema" in kind]
        if event["data"] != "[DONE]":
            of_data = {"anyOf": kinds, "components": components}
            jsonschema_rs.validator_for(of_data).validate(json.loads(event["data"]))
    return [(event.get("event", ""), event) for event in events]
