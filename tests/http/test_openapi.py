"""The OpenAPI document against the server: requests that are made from it, sensible or not, get what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import httpx
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
from service_on_socket import small_service, upload, wait_for

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
    return schemathesis.openapi.from_url(f"{client.base_url}openapi.json").exclude(operation_id="add_source")


@pytest.mark.parametrize("examples", [2, pytest.param(40, marks=pytest.mark.long)])
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
