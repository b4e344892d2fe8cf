"""The examples and the overview of a document, through the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from service_on_socket import small_service, upload, wait_for


def examples(client: httpx.Client, language: str) -> dict[str, Any]:
    """The job that added the examples, when it is over."""
    return wait_for(client, client.post("api/v1/library/examples", json={"language": language}).json())


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
