"""What the OpenAPI document says of responses is what they are."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from answerable.interfaces.http import schemas

SPAN = {"start": 0, "end": 20}


@pytest.fixture
def document_id(client: httpx.Client) -> str:
    """The id of the sample PDF."""
    listed = client.get("api/v1/library/documents").json()["documents"]
    return str(next(each["document_id"] for each in listed if each["type"] == "pdf"))


def described(model: type[BaseModel], sent: Any) -> None:
    """Fails where a field is missing, of another type or not in the description."""
    parsed = model.model_validate_json(json.dumps(sent), strict=True)
    assert set(sent) == parsed.model_fields_set


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("health", schemas.StatusOut),
        ("ready", schemas.StatusOut),
        ("api/v1/libraries", schemas.LibrariesOut),
        ("api/v1/library/documents", schemas.DocumentsOut),
        ("api/v1/library/stats", schemas.StatsOut),
        ("api/v1/library/jobs", schemas.JobsOut),
        ("api/v1/library/sessions", schemas.SessionsOut),
        ("api/v1/library/documents/{document}", schemas.DocumentOut),
        ("api/v1/library/documents/{document}/passages", schemas.PassagesOut),
        ("api/v1/library/documents/{document}/rectangles", schemas.RectanglesOut),
        ("api/v1/library/documents/{document}/pages", schemas.PagesOut),
    ],
)
def test_what_is_read_is_as_described(
    client: httpx.Client, document_id: str, path: str, model: type[BaseModel]
) -> None:
    answer = client.get(path.format(document=document_id), params=SPAN if "/{document}/" in path else {})
    assert answer.status_code == 200
    described(model, answer.json())


def test_answers_are_as_described(client: httpx.Client) -> None:
    question = {"question": "How many tools may I borrow at once?"}
    answer = client.post("api/v1/library/ask", json={**question, "selected_text": "A member may borrow"}).json()
    described(schemas.AnswerOut, answer)
    described(schemas.ScopeOut, answer["scope"])
    for citation in answer["citations"]:
        described(schemas.CitationOut, citation)
    for passage in answer["passages"]:
        described(schemas.PassageOut, passage)
    described(schemas.TurnsOut, client.get(f"api/v1/library/sessions/{answer['session']}").json())
    described(schemas.FoundOut, client.post("api/v1/library/search", json=question).json())
    described(schemas.ProblemOut, client.post("api/v1/library/search", json={}).json())
    (job, *_) = client.get("api/v1/library/jobs").json()["jobs"]
    described(schemas.JobOut, client.get(f"api/v1/library/jobs/{job['job_id']}").json())
