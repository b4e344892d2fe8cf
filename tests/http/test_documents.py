"""Documents over HTTP: their texts, places and files, as they were uploaded."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from helpers import make_document
from service_on_socket import EXAMPLE_FILES, EXAMPLES, small_service, upload

from answerable.interfaces.http.originals import safe_name


def find(client: httpx.Client, source: str) -> dict[str, Any]:
    """The listed document of this source."""
    listed = client.get("api/v1/library/documents").json()["documents"]
    return next(each for each in listed if each["source"] == source)


def test_documents_are_listed_by_their_own_names(client: httpx.Client) -> None:
    found = client.get("api/v1/library/documents").json()
    assert found["total"] == 4
    assert [each["source"] for each in found["documents"]] == [path.name for path in EXAMPLE_FILES]
    page = client.get("api/v1/library/documents", params={"offset": 1, "limit": 2}).json()
    assert page["documents"] == found["documents"][1:3]


def test_stats_count_what_is_there(client: httpx.Client) -> None:
    stats = client.get("api/v1/library/stats").json()
    assert stats["documents"] == 4
    assert stats["types"] == {"chat": 1, "html": 1, "markdown": 1, "pdf": 1}
    assert set(stats["languages"]) == {"en", "es", "pt"}
    assert "e5" in stats["embedder"]


def test_a_chat_has_its_messages_as_parts(client: httpx.Client) -> None:
    found = find(client, "Chat de WhatsApp con Viaje a Oaxaca.txt")
    document = client.get(f"api/v1/library/documents/{found['document_id']}").json()
    assert document["content"] == (EXAMPLES / found["source"]).read_text("utf-8")
    messages = [part for part in document["parts"] if part["kind"] == "message"]
    assert messages[0]["sender"] == "Marta"
    assert messages[0]["time"] == "2024-03-02T18:06:00"
    assert document["content"][messages[0]["body"] : messages[0]["end"]].startswith("¡Hola a los dos!")
    assert document["statistics"]["by_sender"]["Marta"] > 1


def test_parts_tell_pages_headings_and_anchors(client: httpx.Client) -> None:
    pdf = client.get(f"api/v1/library/documents/{find(client, 'riverside-library-rules.pdf')['document_id']}").json()
    assert {part["page"] for part in pdf["parts"]} >= {1}
    page = client.get(f"api/v1/library/documents/{find(client, 'horta-na-varanda.html')['document_id']}").json()
    soil = next(part for part in page["parts"] if part.get("headings", [""])[-1] == "A mistura de terra")
    assert soil["anchor"] == "terra"


def test_passages_come_with_their_neighbours(client: httpx.Client) -> None:
    found = find(client, "espresso-machine-guide.md")
    path = f"api/v1/library/documents/{found['document_id']}"
    document = client.get(path).json()
    middle = document["chunks"][len(document["chunks"]) // 2]
    params = {"start": middle["start"], "end": middle["start"] + 1}
    alone = client.get(f"{path}/passages", params=params).json()["passages"]
    assert [passage["start"] for passage in alone] == [middle["start"]]
    assert alone[0]["content"] == document["content"][alone[0]["start"] : alone[0]["end"]]
    around = client.get(f"{path}/passages", params={**params, "before": 1, "after": 1}).json()["passages"]
    assert [passage["number"] for passage in around] == [alone[0]["number"] + step for step in (-1, 0, 1)]
    for wrong in ({"start": 5, "end": 5}, {"start": 0, "end": 10**9}, {"start": -1, "end": 3}, {}):
        assert client.get(f"{path}/passages", params=wrong).status_code == 422


def test_a_quote_in_a_pdf_has_rectangles(client: httpx.Client) -> None:
    found = find(client, "riverside-library-rules.pdf")
    path = f"api/v1/library/documents/{found['document_id']}"
    start = client.get(path).json()["content"].index("five tools")
    span = {"start": start, "end": start + len("five tools")}
    boxes = client.get(f"{path}/rectangles", params=span).json()["rectangles"]
    assert boxes
    assert all(box["left"] < box["right"] and box["bottom"] < box["top"] and box["page"] >= 1 for box in boxes)
    markdown = find(client, "espresso-machine-guide.md")
    none = client.get(f"api/v1/library/documents/{markdown['document_id']}/rectangles", params={"start": 0, "end": 5})
    assert (none.status_code, none.json()["code"]) == (404, "document_not_found")


@pytest.mark.parametrize("path", EXAMPLE_FILES, ids=lambda path: path.suffix)
def test_originals_come_back_and_never_as_a_page(client: httpx.Client, path: Path) -> None:
    found = find(client, path.name)
    file = client.get(f"api/v1/library/documents/{found['document_id']}/file")
    assert file.content == path.read_bytes()
    is_pdf = path.suffix == ".pdf"
    assert file.headers["content-type"] == ("application/pdf" if is_pdf else "application/octet-stream")
    assert file.headers["content-disposition"].startswith("inline" if is_pdf else "attachment")
    assert file.headers["x-content-type-options"] == "nosniff"
    assert file.headers["content-security-policy"].startswith("sandbox")


def test_a_part_of_a_file(client: httpx.Client) -> None:
    found = client.get("api/v1/library/documents").json()["documents"][0]
    address = f"api/v1/library/documents/{found['document_id']}/file"
    whole = client.get(address).content
    part = client.get(address, headers={"Range": "bytes=2-5"})
    assert (part.status_code, part.content) == (206, whole[2:6])
    beyond = client.get(address, headers={"Range": f"bytes={len(whole)}-"})
    assert beyond.status_code == 416
    declared = client.get("openapi.json").json()["paths"]["/api/v1/{library}/documents/{document_id}/file"]["get"]
    assert {"200", "206", "416"} <= set(declared["responses"])


def test_a_member_of_an_archive_comes_back_with_its_archive(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("_chat.txt", "05/03/2024, 21:15 - Ana: The gate is blue.\n05/03/2024, 21:16 - Ben: It is.\n")
        archive.writestr("photo.jpg", b"\xff\xd8\xff")
    with small_service(tmp_path) as (_, client):
        job = upload(client, ("WhatsApp Chat - Ana.zip", packed.getvalue()))
        assert job["report"]["added"] == 1
        (found,) = client.get("api/v1/library/documents").json()["documents"]
        assert (found["source"], found["type"]) == ("WhatsApp Chat - Ana.zip!/_chat.txt", "chat")
        path = f"api/v1/library/documents/{found['document_id']}"
        file = client.get(f"{path}/file")
        assert file.content == packed.getvalue()
        assert file.headers["content-disposition"].startswith("attachment")
        assert client.delete(path).status_code == 204
    assert list(tmp_path.glob("uploads/*/*.zip")) == []


def test_a_file_that_has_changed_is_not_handed_out(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        upload(client, ("note.txt", b"The gate is blue."))
        path = f"api/v1/library/documents/{find(client, 'note.txt')['document_id']}/file"
        assert client.get(path).status_code == 200
        (kept,) = tmp_path.glob("uploads/*/note.txt")
        kept.write_bytes(b"The secret is 12345.")
        assert (client.get(path).status_code, client.get(path).json()["code"]) == (404, "document_not_found")
        kept.unlink()
        assert client.get(path).status_code == 404


def test_a_source_is_no_way_to_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("The password is swordfish.")
    sources = [str(secret), "../../secret.txt", f"x.zip!/{secret}", "file://" + str(secret), "\0", "x" * 5000, "/"]
    with small_service(tmp_path / "data") as (server, client):
        documents = [make_document("Another text.", source=source) for source in sources]
        server.service.libraries.get("library").add_documents(documents)
        for document in documents:
            got = client.get(f"api/v1/library/documents/{document.id}/file")
            assert (got.status_code, got.json()["code"]) == (404, "document_not_found"), document.source


def test_deleting_removes_the_document_and_its_file(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        upload(client, ("note.txt", b"The gate is blue."), ("other.txt", b"The door is green."))
        path = f"api/v1/library/documents/{find(client, 'note.txt')['document_id']}"
        assert client.delete(path).status_code == 204
        assert client.delete(path).json()["code"] == "document_not_found"
        assert client.get(path).status_code == 404
        assert [kept.name for kept in tmp_path.glob("uploads/*/*.txt")] == ["other.txt"]
        assert (
            client.post("api/v1/library/search", json={"question": "blue gate"}).json()["results"][0]["source"]
            == "other.txt"
        )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\chat.txt", "chat.txt"),
        ("a\0b\r\nSet-Cookie: x.txt", "ab  Set-Cookie_ x.txt"),
        ("\u202egpj.exe", "gpj.exe"),
        ("..", "document"),
        ("", "document"),
        ("...hidden", "hidden"),
        ("<script>alert(1)</script>.md", "script_.md"),
        ("Informe año 2024 ñandú.pdf", "Informe año 2024 ñandú.pdf"),
        ("cafe\u0301.txt", "café.txt"),
        ("~root", "~root"),
    ],
)
def test_names_are_made_safe(given: str, kept: str) -> None:
    assert safe_name(given) == kept


def test_long_names_keep_their_ending() -> None:
    name = safe_name("ñ" * 400 + ".pdf")
    assert name.endswith("ñ.pdf")
    assert len(name.encode()) <= 180
    assert len(safe_name("x." + "ñ" * 400).encode()) <= 180
