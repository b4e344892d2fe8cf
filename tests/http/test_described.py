"""What the OpenAPI document says of responses is what they are."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from answerable.interfaces.http import models

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
        ("health", models.StatusOut),
        ("ready", models.StatusOut),
        ("api/v1/libraries", models.LibrariesOut),
        ("api/v1/library/documents", models.DocumentsOut),
        ("api/v1/library/stats", models.StatsOut),
        ("api/v1/library/jobs", models.JobsOut),
        ("api/v1/library/sessions", models.SessionsOut),
        ("api/v1/library/documents/{document}", models.DocumentOut),
        ("api/v1/library/documents/{document}/passages", models.PassagesOut),
        ("api/v1/library/documents/{document}/rectangles", models.RectanglesOut),
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
    described(models.AnswerOut, answer)
    described(models.ScopeOut, answer["scope"])
    for citation in answer["citations"]:
        described(models.CitationOut, citation)
    for passage in answer["passages"]:
        described(models.PassageOut, passage)
    described(models.TurnsOut, client.get(f"api/v1/library/sessions/{answer['session']}").json())
    described(models.FoundOut, client.post("api/v1/library/search", json=question).json())
    described(models.ProblemOut, client.post("api/v1/library/search", json={}).json())
    (job, *_) = client.get("api/v1/library/jobs").json()["jobs"]
    described(models.JobOut, client.get(f"api/v1/library/jobs/{job['job_id']}").json())
