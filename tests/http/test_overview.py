"""The overview of a library and of a document, and the examples, through the API."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from service_on_socket import PatientModel, small_service, upload, wait_for


def completed(client: httpx.Client, library: str = "library") -> dict[str, Any]:
    """The overview, once it is complete."""
    for _ in range(1_200):
        found: dict[str, Any] = client.get(f"api/v1/{library}/overview").json()
        if found["complete"]:
            return found
        time.sleep(0.1)
    raise AssertionError("the overview isn't completed")


def examples(client: httpx.Client, language: str) -> dict[str, Any]:
    """The job that added the examples, when it is over."""
    return wait_for(client, client.post("api/v1/library/examples", json={"language": language}).json())


def test_an_empty_library_has_nothing_to_look_for(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        assert client.get("api/v1/library/overview").json() == {"complete": True, "extracts": [], "questions": []}


def test_an_overview_is_made_in_the_background_and_again_after_a_change(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        assert examples(client, "en")["report"]["added"] == 4
        began = time.monotonic()
        first = client.get("api/v1/library/overview").json()
        assert (first["complete"], first["questions"]) == (False, [])
        assert time.monotonic() - began < 5
        found = completed(client)
        assert 1 <= len(found["questions"]) <= 6
        assert client.get("api/v1/library/overview").json() == found
        for each in found["questions"]:
            answer = client.post("api/v1/library/ask", json={"question": each["question"], "keep": False}).json()
            assert answer["answered"]
            assert answer["citations"][0]["document_id"] == each["document_id"]

        gone = found["questions"][0]["document_id"]
        assert client.delete(f"api/v1/library/documents/{gone}").status_code == 204
        meanwhile = client.get("api/v1/library/overview").json()
        assert not meanwhile["complete"]
        assert gone not in {each["document_id"] for each in (*meanwhile["questions"], *meanwhile["extracts"])}
        later = completed(client)
        assert gone not in {each["document_id"] for each in (*later["questions"], *later["extracts"])}


def test_no_model_is_called_for_an_overview(tmp_path: Path) -> None:
    model = PatientModel("The ferry leaves at nine.")
    with small_service(tmp_path, model=model) as (_, client):
        examples(client, "en")
        completed(client)
        assert not model.began.is_set()


@pytest.mark.parametrize("language", ["en", "es", "pt"])
def test_examples_come_in_the_language_of_the_page(tmp_path: Path, language: str) -> None:
    with small_service(tmp_path) as (_, client):
        job = examples(client, language)
        assert (job["report"]["added"], job["report"]["failed"]) == (4, [])
        listed = client.get("api/v1/library/documents").json()["documents"]
        assert {each["language"] for each in listed if each["type"] != "records"} == {language}
        # They are files like any that was uploaded.
        pdf = next(each["document_id"] for each in listed if each["type"] == "pdf")
        assert client.get(f"api/v1/library/documents/{pdf}/file").status_code == 200
        assert client.post("api/v1/library/examples", json={"language": "../en"}).status_code == 422


def test_the_overview_of_a_document(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        text = b"# Ferry\n\n## Hours\n\nThe ferry to the island leaves at nine and comes back at noon every day.\n"
        rows = b"\n## Fares\n\n| Who | Fare |\n|---|---|\n| adult | 4 |\n| child | 2 |\n"
        upload(client, ("ferry.md", text + rows))
        (stored,) = client.get("api/v1/library/documents").json()["documents"]
        found = client.get(f"api/v1/library/documents/{stored['document_id']}/overview").json()
        assert [(each["title"], each["level"]) for each in found["outline"]] == [("Hours", 0), ("Fares", 0)]
        assert found["tables"][0]["rows"] == [["adult", "4"], ["child", "2"]]
        assert found["tables"][0]["columns"] == ["Who", "Fare"]
        assert "leaves at nine" in found["extracts"][0]["quote"]
        assert (found["statistics"], found["web_address"]) == (None, "")
        assert client.get("api/v1/library/documents/unknown/overview").status_code == 404
