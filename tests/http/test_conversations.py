"""Earlier conversations over HTTP: titles, search, asking again, and votes."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from service_on_socket import running, small_service, upload
from typer.testing import CliRunner

from answerable.datatypes import Exchange
from answerable.errors import SettingsError
from answerable.interfaces.cli.main import app
from answerable.interfaces.http.server import open_service
from answerable.interfaces.http.service import Options
from answerable.interfaces.http.session_store import Owner, Sessions, excerpt_of
from answerable.settings import Settings

ASK = "api/v1/library/ask"
SESSIONS = "api/v1/library/sessions"
GATE = ("gate.txt", "The gate is blue. The ferry leaves at nine. El jardín está en Bogotá.".encode())
ANA = Owner("library", "ana")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of a server with one small document."""
    with small_service(tmp_path) as (_, client):
        upload(client, GATE)
        yield client


def test_a_conversation_is_renamed_and_found_again(client: httpx.Client) -> None:
    gate = client.post(ASK, json={"question": "Which colour is the gate?"}).json()["session"]
    client.post(ASK, json={"question": "¿Dónde está el jardín?"})
    newest, oldest = client.get(SESSIONS).json()["sessions"]
    assert (newest["title"], oldest["title"]) == ("¿Dónde está el jardín?", "Which colour is the gate?")
    assert client.patch(f"{SESSIONS}/{gate}", json={"title": "  Paint\n the gate "}).status_code == 204
    assert client.get(f"{SESSIONS}/{gate}").json()["title"] == "Paint the gate"

    def found(words: str) -> list[tuple[str, str]]:
        listed = client.get(SESSIONS, params={"words": words}).json()["sessions"]
        return [(each["title"], each["found"]) for each in listed]

    # Case and accents don't matter, nor whether a word stands in the title, a question or an answer.
    assert [title for title, _ in found("PAINT")] == ["Paint the gate"]
    assert found("JARDIN bogota")[0][0] == "¿Dónde está el jardín?"
    assert "Bogotá" in found("bogota")[0][1]
    assert found("colour gate")[0] == ("Paint the gate", "Which colour is the gate?")
    assert found("jardin colour") == []
    assert found("%") == []
    assert len(client.get(SESSIONS, params={"limit": 1}).json()["sessions"]) == 1
    assert client.patch(f"{SESSIONS}/{gate}", json={"title": ""}).status_code == 204
    assert client.get(f"{SESSIONS}/{gate}").json()["title"] == "Which colour is the gate?"
    assert client.patch(f"{SESSIONS}/none", json={"title": "x"}).status_code == 404
    assert client.patch(f"{SESSIONS}/{gate}", json={"title": "x" * 201}).status_code == 422


def test_a_question_asked_again_keeps_what_follows_and_another_drops_it(client: httpx.Client) -> None:
    first = client.post(ASK, json={"question": "Which colour is the gate?"}).json()
    session = first["session"]
    for question in ("When does the ferry leave?", "And the gate?"):
        client.post(ASK, json={"question": question, "session": session})

    def turns() -> list[tuple[str, str]]:
        return [(each["turn"], each["question"]) for each in client.get(f"{SESSIONS}/{session}").json()["turns"]]

    before = turns()
    again = {"question": "Which colour is the gate?", "session": session, "instead_of": first["turn"]}
    second = client.post(ASK, json=again).json()
    assert turns() == [(second["turn"], before[0][1]), *before[1:]]
    assert second["turn"] != first["turn"]
    # The first answer is no more.
    gone = client.post(ASK, json=again)
    assert (gone.status_code, gone.json()["code"]) == (404, "turn_not_found")
    edited = {"question": "When does the ferry go?", "session": session, "instead_of": before[1][0]}
    third = client.post(ASK, json=edited).json()
    assert turns() == [(second["turn"], before[0][1]), (third["turn"], "When does the ferry go?")]


def test_a_question_asked_again_has_the_history_before_it(tmp_path: Path) -> None:
    with closing(Sessions(tmp_path / "sessions.db")) as sessions:
        session = sessions.start(ANA)
        one, two, _ = (sessions.add(session, ANA, Exchange(each, each, each), {}) for each in ("1", "2", "3"))
        assert sessions.history(session, ANA, two) == [Exchange("1", "1", "1")]
        assert sessions.history(session, ANA, one) == []
        assert sessions.history(session, ANA, "none") is None
        other = sessions.start(ANA)
        assert sessions.history(other, ANA, two) is None
        # Gone meanwhile: the answer isn't lost.
        assert sessions.add(other, ANA, Exchange("4", "4", "4"), {}, instead_of=two)
        assert len(sessions.turns(session, ANA) or ()) == 3
        assert len(sessions.turns(other, ANA) or ()) == 1


def test_votes_are_a_list_that_eval_reads(tmp_path: Path) -> None:
    path = tmp_path / "libraries" / "library" / "votes.jsonl"
    with small_service(tmp_path) as (_, client):
        upload(client, GATE)

        def vote(question: str, vote: str | None, session: str | None = None) -> str:
            answer = client.post(ASK, json={"question": question, "session": session}).json()
            sent = client.put(f"{SESSIONS}/{answer['session']}/turns/{answer['turn']}/vote", json={"vote": vote})
            assert sent.status_code == 204, sent.text
            (*_, turn) = client.get(f"{SESSIONS}/{answer['session']}").json()["turns"]
            assert turn["vote"] == vote
            return str(answer["session"])

        session = vote("Which colour is the gate?", "up")
        vote("Who won the 1998 world cup final in Paris?", "up")
        vote("When does the ferry leave?", "down")
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert [line["judgement"] for line in lines] == ["up", "up", "down"]
        assert lines[0]["document"] == ["gate.txt"]
        assert lines[0]["quotes"][0] == {"document": "gate.txt", "quote": "The gate is blue."}
        assert lines[1]["unanswerable"] is True
        assert not {"document", "answer", "unanswerable"} & set(lines[2])
        if os.name == "posix":
            assert path.stat().st_mode & 0o777 == 0o600
        turns = client.get(f"{SESSIONS}/{session}").json()["turns"]
        for given, left in (("down", 3), (None, 2)):
            client.put(f"{SESSIONS}/{session}/turns/{turns[0]['turn']}/vote", json={"vote": given})
            assert len(path.read_text("utf-8").splitlines()) == left
        wrong = client.put(f"{SESSIONS}/{session}/turns/{turns[0]['turn']}/vote", json={"vote": "perhaps"})
        assert wrong.status_code == 422
        assert client.put(f"{SESSIONS}/{session}/turns/none/vote", json={"vote": "up"}).status_code == 404
        # What people write into the list stays.
        path.write_text("not JSON\u2028at all\n" + path.read_text("utf-8"), "utf-8")
        vote("Which colour is the gate?", "up")
        assert path.read_text("utf-8").startswith("not JSON\u2028at all\n")


def test_eval_measures_votes_and_passes_over_what_nothing_is_expected_of(tmp_path: Path, cache_folder: Path) -> None:
    settings = Settings(str(tmp_path / "library"), reader="off", cache_folder=str(cache_folder / "quick"))
    service = open_service({"library": settings}, Options(tmp_path / "data"))
    with running(service) as server, httpx.Client(base_url=server.address, timeout=120) as client:
        upload(client, GATE, ("ferry.txt", b"The ferry to the island leaves at nine. Dogs go free."))
        for question, vote in (
            ("Which colour is the gate?", "up"),
            ("Who won the 1998 world cup final in Paris?", "up"),
            ("When does the ferry to the island leave?", "up"),
            ("Is the gate blue?", "down"),
        ):
            answer = client.post(ASK, json={"question": question}).json()
            path = f"{SESSIONS}/{answer['session']}/turns/{answer['turn']}/vote"
            assert client.put(path, json={"vote": vote}).status_code == 204
        for document in client.get("api/v1/library/documents").json()["documents"]:
            if document["source"] == "ferry.txt":
                client.delete(f"api/v1/library/documents/{document['document_id']}")
    environment = {"ANSWERABLE_READER": "off", "ANSWERABLE_CACHE_FOLDER": settings.cache_folder}
    votes = str(tmp_path / "library" / "votes.jsonl")
    arguments = ["eval", "--questions", votes, "-l", settings.library, "--json"]
    done = CliRunner().invoke(app, arguments, env=environment)
    assert done.exit_code == 0, done.output
    (measured,) = json.loads(done.stdout)["sets"]
    assert (measured["questions"], measured["unanswerable"]) == (2, 1)
    assert "2 votes of 4 passed over" in " ".join(done.stderr.split())


def test_votes_on_a_library_without_a_folder_are_beside_the_uploads(tmp_path: Path) -> None:
    settings = {"library": Settings("postgresql://ana:secret@nowhere.example/notes")}
    with closing(open_service(settings, Options(tmp_path))) as service:
        path = service.libraries.votes("library")
    assert path.parent == tmp_path / "votes"
    assert "secret" not in path.name


def test_a_file_of_another_form_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE turns (number INTEGER PRIMARY KEY, session TEXT, question TEXT)")
    with pytest.raises(SettingsError, match=r"sessions\.db.*no such column.*move the file away"):
        Sessions(path)


def test_the_line_that_has_the_words_is_shown() -> None:
    said = "Why?\nBecause it is so.\n" + "x " * 200 + "the Árbol stands " + "y " * 200
    assert excerpt_of(said, ["because"]) == "Because it is so."
    cut = excerpt_of(said, ["arbol", "stands"])
    assert "the Árbol stands" in cut
    assert cut.startswith("…")
    assert cut.endswith("…")
    assert len(cut) <= 162
    assert excerpt_of(said, ["nowhere"]) == excerpt_of(said, []) == ""
