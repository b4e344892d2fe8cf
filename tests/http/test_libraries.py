"""Libraries, followed folders, schedules, verification and models over HTTP."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from locked_pdf import locked_pdf
from model_server import model_server
from service_on_socket import MANY, running, small_service, upload, wait_for

from answerable.errors import SettingsError
from answerable.interfaces.cli.commands.serve import AccessOptions, AddressOptions, _folders
from answerable.interfaces.http.guards.key_file import Keys
from answerable.interfaces.http.guards.stack import Guards
from answerable.interfaces.http.library_records import LibraryList
from answerable.interfaces.http.routes.filling import is_own_account
from answerable.interfaces.http.server import open_service
from answerable.interfaces.http.service import Options
from answerable.settings import Settings, load_settings, variables

GATE = ("gate.txt", b"The gate is blue. The door is green.")
QUESTION = {"question": "Which colour is the gate?"}


def listed(client: httpx.Client) -> dict[str, dict[str, Any]]:
    """The libraries by name."""
    return {each["name"]: each for each in client.get("api/v1/libraries").json()["libraries"]}


def follow(client: httpx.Client, path: Path | str, library: str = "library") -> dict[str, Any]:
    """The job that followed a folder, when it is over."""
    sent = client.post(f"api/v1/{library}/sources", json={"path": str(path)})
    assert sent.status_code == 202, sent.text
    return wait_for(client, sent.json())


def job(client: httpx.Client, step: str, **body: Any) -> dict[str, Any]:
    """A job of the default library, when it is over."""
    return wait_for(client, client.post(f"api/v1/library/{step}", json=body).json())


def followed(client: httpx.Client) -> dict[str, Any]:
    """The only followed source."""
    (found,) = client.get("api/v1/library/sources").json()["sources"]
    return dict(found)


def test_all_libraries_are_asked_as_one(tmp_path: Path) -> None:
    with small_service(tmp_path, "library", "work") as (_, client):
        upload(client, GATE)
        upload(client, ("boat.txt", b"The boat leaves the harbour at nine on Sundays."), library="work")
        together = listed(client)["all"]
        assert together["together"]
        assert not together["may_change"]
        for question, library in (("Which colour is the gate?", "library"), ("When does the boat leave?", "work")):
            answer = client.post("api/v1/all/ask", json={"question": question}).json()
            assert answer["answered"]
            [citation] = answer["citations"]
            assert citation["library"] == library
            document = client.get(f"api/v1/all/documents/{citation['document_id']}").json()
            assert document["content"][citation["start"] : citation["end"]] == citation["quote"]
            assert client.get(f"api/v1/all/documents/{citation['document_id']}/file").status_code == 200
        assert client.get("api/v1/all/documents").json()["total"] == 2
        assert client.get("api/v1/all/sessions").json()["sessions"]
        assert client.get("api/v1/library/sessions").json()["sessions"] == []
        for refused in (
            client.post("api/v1/all/documents", files={"files": GATE}),
            client.post("api/v1/all/sync", json={}),
            client.delete(f"api/v1/all/documents/{document['document_id']}"),
            client.delete("api/v1/all"),
            client.patch("api/v1/all", json={"title": "Everything"}),
        ):
            assert (refused.status_code, refused.json()["code"]) == (409, "many_libraries"), refused.text
        assert [each["id"] for each in client.get("v1/models").json()["data"]] == ["library", "work", "all"]
        message = {"role": "user", "content": "When does the boat leave?"}
        chat = client.post("v1/chat/completions", json={"model": "all", "messages": [message]}).json()
        assert "nine on Sundays" in chat["choices"][0]["message"]["content"]
        made = client.post("api/v1/libraries", json={"title": "All"}).json()["name"]
        assert made == "all-2"
        upload(client, ("fence.txt", b"The fence is brown since the storm."), library=made)
        fence = client.post("api/v1/all/ask", json={"question": "Which colour is the fence?"}).json()
        assert [citation["library"] for citation in fence["citations"]] == [made]
        client.delete(f"api/v1/{made}")
        left = client.post("api/v1/all/search", json={"question": "Which colour is the fence?"}).json()["results"]
        assert {each["library"] for each in left} == {"library", "work"}


@pytest.mark.parametrize("failing", ["library", "work"])
def test_a_library_that_cannot_be_opened_is_named_and_the_others_answer(tmp_path: Path, failing: str) -> None:
    other = "work" if failing == "library" else "library"
    damaged = tmp_path / "libraries" / failing
    damaged.mkdir(parents=True)
    (damaged / "library.db").write_bytes(b"no database " * 1000)
    with small_service(tmp_path, "library", "work") as (_, client):
        upload(client, GATE, library=other)
        for step in ("ask", "search"):
            found = client.post(f"api/v1/all/{step}", json=QUESTION)
            assert found.status_code == 200, found.text
            (without,) = found.json()["unavailable"]
            assert without["library"] == failing
            assert str(tmp_path) not in without["reason"]
        (citation,) = client.post("api/v1/all/ask", json=QUESTION).json()["citations"]
        assert (citation["library"], citation["quote"]) == (other, "The gate is blue.")
        assert list(listed(client)) == ["library", "work", "all"]
        documents = client.get("api/v1/all/documents").json()
        assert (documents["total"], documents["unavailable"]) == (1, [without])
        message = {"role": "user", "content": QUESTION["question"]}
        chat = client.post("v1/chat/completions", json={"model": "all", "messages": [message]}).json()
        assert chat["unavailable"] == [without]
        assert client.post(f"api/v1/{failing}/ask", json=QUESTION).status_code == 503


def test_one_library_is_not_also_all_libraries(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        assert list(listed(client)) == ["library"]
        assert client.post("api/v1/all/ask", json=QUESTION).json()["code"] == "unknown_library"


def test_a_key_for_one_library_does_not_open_all(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys.json")
    _, key = keys.add("ask", library="work")
    settings = {name: replace(Settings(), library=str(tmp_path / name)) for name in ("library", "work")}
    service = open_service(settings, Options(tmp_path / "data"))
    with (
        running(service, Guards(keys, rates=MANY)) as server,
        httpx.Client(base_url=server.address, headers={"X-API-Key": key}) as client,
    ):
        assert list(listed(client)) == ["work"]
        for library in ("all", "library"):
            for path, body in (("ask", QUESTION), ("search", QUESTION)):
                assert client.post(f"api/v1/{library}/{path}", json=body).json()["code"] == "unknown_library"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with a text, a broken and a locked PDF."""
    folder = tmp_path / "home" / "notes"
    folder.mkdir(parents=True)
    (folder / GATE[0]).write_bytes(GATE[1])
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "locked.pdf").write_bytes(locked_pdf("The vault opens at seven in the morning.", "sesame"))
    return folder


def test_a_library_is_made_renamed_and_removed(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        made = client.post("api/v1/libraries", json={"title": " Año & mes "})
        assert made.status_code == 201
        name = made.json()["name"]
        assert (name, made.json()["title"], made.json()["may_remove"]) == ("ano-mes", "Año & mes", True)
        assert upload(client, GATE, library=name)["report"]["added"] == 1
        asked = client.post(f"api/v1/{name}/ask", json=QUESTION).json()
        assert "blue" in asked["text"]
        assert client.get("api/v1/library/documents").json()["total"] == 0
        client.patch(f"api/v1/{name}", json={"title": "Years"})
        client.patch("api/v1/library", json={"title": "Home"})
        second = client.post("api/v1/libraries", json={"title": "Año mes"}).json()["name"]
        assert second == "ano-mes-2"
    with small_service(tmp_path) as (_, client):
        assert {key: each["title"] for key, each in listed(client).items()} == {
            "library": "Home",
            name: "Years",
            second: "Año mes",
            "all": "all",
        }
        assert client.get(f"api/v1/{name}/sessions").json()["sessions"][0]["session"] == asked["session"]
        assert client.delete(f"api/v1/{name}").status_code == 204
        assert client.get(f"api/v1/{name}/documents").json()["code"] == "unknown_library"
        # A key may be limited to a name, so it is never given again.
        assert client.post("api/v1/libraries", json={"title": "Año mes"}).json()["name"] == "ano-mes-3"
        refused = client.delete("api/v1/library")
        assert (refused.status_code, refused.json()["code"]) == (409, "library_is_served")
        for title in ("", "  ", "two\nlines", "x" * 81):
            assert client.post("api/v1/libraries", json={"title": title}).status_code == 422
    assert not (tmp_path / "libraries" / name).exists()
    assert [path.name for path in tmp_path.glob("uploads/*/gate.txt")] == []
    assert b"Which colour" not in (tmp_path / "sessions.db").read_bytes()


def test_names_of_libraries_fit_urls() -> None:
    found = LibraryList(removed=["notes"])
    assert [found.name_for(title, ["work"]) for title in ("Work", "Notes", "資料", "libraries", "-" * 9)] == [
        *("work-2", "notes-2", "library", "libraries-2", "library")
    ]
    assert len(found.name_for("x" * 80, ["x" * 57])) <= 63


def test_a_folder_is_followed_and_says_what_it_could_not_read(tmp_path: Path, notes: Path) -> None:
    with small_service(tmp_path / "data", folders=(notes.parent,)) as (_, client):
        found = client.get("api/v1/library/folders").json()
        assert (found["path"], found["parent"], found["folders"]) == (str(notes.parent), None, [str(notes)])
        inside = client.get("api/v1/library/folders", params={"path": str(notes)}).json()
        assert (inside["parent"], inside["files"]) == (str(notes.parent), 3)
        assert follow(client, notes)["report"]["added"] == 1
        report = followed(client)["report"]
        failures = {Path(each["source"]).name: each["code"] for each in report["failed"]}
        assert failures == {"broken.pdf": "damaged_source", "locked.pdf": "encrypted_source"}
        assert (report["failures"], report["added"]) == (2, 1)

        wrong = job(client, "sync", password="simsim")
        assert len(wrong["report"]["failed"]) == 2
        opened = job(client, "sync", origins=[str(notes)], password="sesame")
        assert (opened["kind"], opened["report"]["added"]) == ("sync", 1)
        (notes / "broken.pdf").unlink()
        assert job(client, "sync")["report"]["failed"] == []
    with small_service(tmp_path / "data", folders=(notes.parent,)) as (_, client):
        assert (followed(client)["documents"], followed(client)["report"]["failed"]) == (2, [])
        stored = client.get("api/v1/library/sources").json()
        assert stored["library_bytes"] > 1000
        assert client.delete("api/v1/library/sources", params={"origin": "/elsewhere"}).json()["code"] == "not_followed"
        assert client.delete("api/v1/library/sources", params={"origin": str(notes)}).status_code == 204
        assert client.get("api/v1/library/sources").json()["sources"] == []
        assert client.get("api/v1/library/documents").json()["total"] == 0
    assert b"sesame" not in b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert (notes / GATE[0]).exists()


def test_only_visible_folders_below_the_roots_may_be_followed(tmp_path: Path, notes: Path) -> None:
    home = notes.parent
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id").write_text("secret")
    (home / "link").symlink_to(tmp_path)
    (home / "hidden").symlink_to(home / ".ssh")
    with small_service(home / "data", folders=(home,)) as (_, client):
        for path in (
            *(tmp_path, home / ".ssh", home / ".ssh/id", home / "hidden", home / "link", home / "link/home/../.."),
            *(notes / ".." / "..", home / "data", home / "data" / "uploads", home, home / "missing", "notes", "~", "/"),
            *("/etc/passwd", "\0", "a" * 300),
        ):
            sent = client.post("api/v1/library/sources", json={"path": str(path)})
            assert (sent.status_code, sent.json()["code"]) == (403, "folder_refused"), path
            if path != home:
                shown = client.get("api/v1/library/folders", params={"path": str(path)})
                assert shown.status_code == 403, path
        listing = client.get("api/v1/library/folders", params={"path": str(notes)}).json()["folders"]
        assert listing == []
        for body in ({}, {"path": ""}, {"path": str(notes), "url": "https://example.org/"}):
            assert client.post("api/v1/library/sources", json=body).status_code == 422
    with small_service(home / "other") as (_, client):
        assert client.get("api/v1/library/folders").json()["folders"] == []
        assert client.post("api/v1/library/sources", json={"path": str(notes)}).status_code == 403


def test_without_keys_a_connection_must_be_of_the_servers_account() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        with socket.create_connection(listening.getsockname()) as client:
            assert is_own_account(client.getsockname(), listening.getsockname())
        # Nobody has this connection.
        assert not os.path.exists("/proc/net/tcp") or not is_own_account(("127.0.0.1", 1), listening.getsockname())


def test_which_folders_a_server_allows(tmp_path: Path) -> None:
    local, proxied = AddressOptions(), AddressOptions(proxy=["10.0.0.2"])
    assert _folders(local, AccessOptions()) == (Path.home(),)
    assert _folders(proxied, AccessOptions()) == ()
    assert _folders(local, AccessOptions(keys=tmp_path / "keys.json")) == ()
    assert _folders(local, AccessOptions(folders=["none"])) == ()
    assert _folders(local, AccessOptions(keys=tmp_path / "keys.json", folders=[str(tmp_path)])) == (tmp_path,)
    with pytest.raises(SettingsError, match="is not a folder"):
        _folders(local, AccessOptions(folders=[str(tmp_path / "nowhere")]))


def test_what_is_followed_is_synced_on_schedule(tmp_path: Path, notes: Path) -> None:
    with small_service(tmp_path / "data", folders=(notes,), look_every=0.05) as (_, client):
        follow(client, notes)
        for every in (-1, 5, 10**9):
            assert client.patch("api/v1/library", json={"every": every}).status_code == 422
        (notes / "door.txt").write_text("The door is now red.")
        time.sleep(0.3)
        assert client.get("api/v1/library/documents").json()["total"] == 1
        client.patch("api/v1/library", json={"every": 3600})
        until = time.monotonic() + 60
        while client.get("api/v1/library/documents").json()["total"] == 1 and time.monotonic() < until:
            time.sleep(0.05)
        assert client.get("api/v1/library/documents").json()["total"] == 2
        time.sleep(0.3)
        # Not again before an hour has passed.
        assert [each["kind"] for each in client.get("api/v1/library/jobs").json()["jobs"]] == ["sync", "add"]
        assert client.get("api/v1/library/sources").json()["every"] == 3600


def test_a_library_is_verified_and_repaired(tmp_path: Path, notes: Path) -> None:
    with small_service(tmp_path / "data", folders=(notes,)) as (_, client):
        follow(client, notes)
        (notes / GATE[0]).write_text("The gate is red now, says the painter.")
        found = job(client, "verify")
        assert (found["state"], found["kind"]) == ("done", "verify")
        assert [each["kind"] for each in found["result"]["findings"]] == ["stale"]
        repaired = job(client, "verify", repair=True)["result"]
        assert (repaired["clean"], len(repaired["repaired"])) == (True, 1)
        assert "red" in client.post("api/v1/library/ask", json=QUESTION).json()["text"]


def test_an_uploaded_pdf_opens_with_its_password(tmp_path: Path) -> None:
    file = ("vault.pdf", locked_pdf("The vault opens at seven in the morning.", "sesame"))
    with small_service(tmp_path) as (_, client):
        (failure,) = upload(client, file)["report"]["failed"]
        assert failure["code"] == "encrypted_source"
        sent = client.post("api/v1/library/documents", files=[("files", file)], data={"password": "sesame"})
        assert wait_for(client, sent.json())["report"]["added"] == 1
        assert (
            "seven" in client.post("api/v1/library/ask", json={"question": "When does the vault open?"}).json()["text"]
        )
        for data in ({"password": "x" * 201}, {"pass": "sesame"}):
            assert client.post("api/v1/library/documents", files=[("files", file)], data=data).status_code == 422


def test_a_model_is_chosen_and_keys_are_never_shown(tmp_path: Path) -> None:
    with model_server() as base_url:
        settings = replace(Settings(), openai_base_url=base_url, openai_api_key="sk-secret", openai_chat_model="tiny")
        with small_service(tmp_path, settings=settings) as (_, client):
            upload(client, GATE)
            found = client.get("api/v1/library/settings").json()
            assert (found["model"], found["fixed"], found["grounding"]) == ("extractive", None, "marked")
            needs = {each["name"]: each["needs"] for each in found["providers"]}
            assert (needs["openai"], needs["cohere"]) == ("", "COHERE_API_KEY")
            path = "api/v1/library/settings/models"
            assert client.post(path, json={"provider": "openai"}).json() == {"models": ["openai:large", "openai:tiny"]}
            unreachable = client.post(path, json={"provider": "ollama"})
            assert (unreachable.status_code, unreachable.json()["code"]) == (422, "model_unusable")
            for model in ("cohere:command", "nobody:x", "openai"):
                chosen = client.put("api/v1/library/settings/model", json={"model": model})
                assert chosen.status_code == (200 if model == "openai" else 422), chosen.text
            chosen = client.put("api/v1/library/settings/model", json={"model": "openai:tiny"})
            assert chosen.json()["model"] == "openai:tiny"
            asked = client.post("api/v1/library/ask", json=QUESTION).json()
            assert asked["model"] == "openai:tiny"
            everything = [
                client.get(f"api/v1/library/{each}").text for each in ("settings", "sources", "jobs", "stats")
            ]
            assert "sk-secret" not in "".join([*everything, chosen.text, unreachable.text])
            assert {"name": "openai_api_key", "value": None, "set_by": None} in chosen.json()["settings"]
        with small_service(tmp_path, settings=settings) as (_, client):
            assert client.get("api/v1/library/settings").json()["model"] == "openai:tiny"
            client.put("api/v1/library/settings/model", json={"model": "extractive"})
            assert "model" not in client.post("api/v1/library/ask", json=QUESTION).json()
            client.put("api/v1/library/settings/model", json={"model": "openai:tiny"})
    # A model whose key is gone doesn't lock anybody out.
    with small_service(tmp_path) as (_, client):
        assert "blue" in client.post("api/v1/library/ask", json=QUESTION).json()["text"]
        assert client.get("api/v1/library/settings").json()["model"] == "extractive"


def test_a_model_that_a_variable_sets_cannot_be_chosen(tmp_path: Path) -> None:
    environment = {"ANSWERABLE_MODEL": "extractive", "CO_API_KEY": "k", "ANSWERABLE_NOTHING": "x", "HOME": "/"}
    assert variables(environment) == {"model": "ANSWERABLE_MODEL", "cohere_api_key": "CO_API_KEY"}
    assert load_settings({}, environment, tmp_path).cohere_api_key == "k"
    with small_service(tmp_path, fixed=variables(environment)) as (_, client):
        assert client.get("api/v1/library/settings").json()["fixed"] == "ANSWERABLE_MODEL"
        refused = client.put("api/v1/library/settings/model", json={"model": "extractive"})
        assert (refused.status_code, refused.json()["code"]) == (409, "setting_fixed")


def test_a_data_folder_may_move(tmp_path: Path) -> None:
    settings = {"settings": replace(Settings(), quotes=2)}
    with small_service(tmp_path / "before", **settings) as (_, client):
        name = client.post("api/v1/libraries", json={"title": "Notes"}).json()["name"]
        upload(client, GATE, library=name)
    (tmp_path / "before").rename(tmp_path / "after")
    with small_service(tmp_path / "after", **settings) as (_, client):
        (found,) = client.get(f"api/v1/{name}/documents").json()["documents"]
        assert client.get(f"api/v1/{name}/documents/{found['document_id']}/file").content == GATE[1]
        assert listed(client)[name]["title"] == "Notes"
