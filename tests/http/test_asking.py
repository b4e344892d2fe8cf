"""Asking over HTTP: answers, streams, selected texts and conversations, with the embedder that users get."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from helpers import HashEmbedder
from service_on_socket import PatientModel, ask_events, read_events, small_service, upload

from answerable.datatypes import FloatArray

ASK = "api/v1/library/ask"


@pytest.mark.parametrize(
    ("question", "expected", "source"),
    [
        ("How many tools may I borrow at once?", "five tools", "riverside-library-rules.pdf"),
        ("¿Cuándo puede viajar Ana Lucía?", "27 al 31 de marzo", "Chat de WhatsApp con Viaje a Oaxaca.txt"),
        ("Quantas horas de sol o manjericão precisa?", "seis horas", "horta-na-varanda.html"),
    ],
)
def test_answers_cite_the_exact_place(client: httpx.Client, question: str, expected: str, source: str) -> None:
    answer = client.post(ASK, json={"question": question}).json()
    assert answer["answered"]
    assert expected in answer["text"]
    cited = answer["citations"][0]
    assert cited["source"] == source
    document = client.get(f"api/v1/library/documents/{cited['document_id']}").json()
    assert document["content"][cited["start"] : cited["end"]] == cited["quote"]
    assert answer["passages"][0]["meaning_rank"] or answer["passages"][0]["keyword_rank"]


def test_a_refusal_says_so(client: httpx.Client) -> None:
    answer = client.post(ASK, json={"question": "Who won the 1998 world cup final in Paris?", "keep": False}).json()
    assert not answer["answered"]
    assert answer["citations"] == []
    assert answer["session"] is None


def test_a_stream_ends_with_the_json_answer(client: httpx.Client) -> None:
    body = {"question": "How much does the espresso machine's water tank hold?", "keep": False}
    events = ask_events(client, ASK, **body)
    assert [name for name, _ in events] == ["searched", "answer"]
    assert events[0][1] == {"question": body["question"], "scope": "library"}
    alone = client.post(ASK, json=body).json()
    assert {**events[-1][1], "timings": {}} == {**alone, "timings": {}}


def test_a_filter_is_heeded(client: httpx.Client) -> None:
    body = {"question": "How many tools may I borrow at once?", "where": {"type": "chat"}}
    answer = client.post(ASK, json=body).json()
    assert all(passage["source"].endswith(".txt") for passage in answer["passages"])
    wrong = client.post(ASK, json={**body, "where": {"date": {"from": 3}}})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "filter")


def test_a_follow_up_is_understood_and_kept(client: httpx.Client) -> None:
    first = client.post(ASK, json={"question": "How much sun does basil need?", "where": None}).json()
    session = first["session"]
    second = client.post(ASK, json={"question": "And mint?", "session": session}).json()
    assert second["session"] == session
    # With the question before it, it isn't answered either: it stands for itself.
    assert second["question"] == "And mint?"
    turns = client.get(f"api/v1/library/sessions/{session}").json()["turns"]
    assert [turn["question"] for turn in turns] == ["How much sun does basil need?", "And mint?"]
    assert turns[1]["answer"] == second
    listed = client.get("api/v1/library/sessions").json()["sessions"]
    assert session in [each["session"] for each in listed]
    assert client.delete(f"api/v1/library/sessions/{session}").status_code == 204
    gone = client.post(ASK, json={"question": "And mint?", "session": session})
    assert (gone.status_code, gone.json()["code"]) == (404, "session_not_found")


def test_a_selected_text_is_searched_where_it_stands(client: httpx.Client) -> None:
    selected = "Misture duas partes de terra vegetal,\n   uma parte de húmus de minhoca"
    answer = client.post(
        ASK, json={"question": "De quanto em quanto tempo devo trocar a terra dos vasos?", "selected_text": selected}
    ).json()
    assert answer["scope"]["kind"] == "section"
    assert answer["scope"]["section"] == ["A mistura de terra"]
    assert "dezoito meses" in answer["text"]
    document = client.get(f"api/v1/library/documents/{answer['scope']['document_id']}").json()
    found = document["content"][answer["scope"]["start"] : answer["scope"]["end"]]
    assert found.split() == selected.split()


def test_what_the_section_does_not_say_is_searched_everywhere(client: httpx.Client) -> None:
    selected = "Misture duas partes de terra vegetal"
    body = {"question": "How many tools may I borrow at once?", "selected_text": selected}
    answer = client.post(ASK, json=body).json()
    assert answer["scope"]["kind"] == "library"
    assert answer["citations"][0]["source"] == "riverside-library-rules.pdf"
    searched = [data["scope"] for name, data in ask_events(client, ASK, **body) if name == "searched"]
    assert searched == ["section", "document", "library"]


class Waiting(HashEmbedder):
    """Embeds questions only when its gate is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def embed_query(self, text: str) -> FloatArray:
        self.gate.wait(240)
        return super().embed_query(text)


def test_what_is_read_quickly_does_not_wait_behind_questions(tmp_path: Path) -> None:
    embedder = Waiting()
    with (
        small_service(tmp_path, "library", "work", embedder=embedder, workers=2) as (_, client),
        ThreadPoolExecutor(8) as people,
    ):
        embedder.gate.set()
        upload(client, ("gate.txt", b"The gate is blue."))
        asked = {"question": "Which colour is the gate?"}
        session = client.post(ASK, json=asked).json()["session"]
        assert client.post("api/v1/all/search", json=asked).status_code == 200
        embedder.gate.clear()
        waiting = [people.submit(client.post, ASK, json=asked) for _ in range(6)]
        try:
            (document,) = client.get("api/v1/library/documents", timeout=30).json()["documents"]
            for path in (
                *("documents", "stats", "filters", "sources", "sessions", f"sessions/{session}"),
                f"documents/{document['document_id']}",
                f"documents/{document['document_id']}/passages?start=0&end=5",
            ):
                assert client.get(f"api/v1/library/{path}", timeout=30).status_code == 200, path
            assert client.get("api/v1/all/documents", timeout=30).json()["total"] == 1
            assert client.get("ready", timeout=30).status_code == 200
            assert not any(each.done() for each in waiting)
        finally:
            embedder.gate.set()
        assert all(each.result().json()["answered"] for each in waiting)


def test_a_hint_names_the_place(client: httpx.Client) -> None:
    documents = client.get("api/v1/library/documents").json()["documents"]
    pdf = next(each for each in documents if each["type"] == "pdf")
    hint = {"document_id": pdf["document_id"], "start": 0, "end": 40}
    answer = client.post(ASK, json={"question": "How many tools may I borrow at once?", "hint": hint}).json()
    assert answer["scope"]["document_id"] == pdf["document_id"]
    far = client.post(ASK, json={"question": "What?", "hint": {**hint, "end": 10**9}})
    assert (far.status_code, far.json()["code"]) == (422, "invalid_request")
    none = client.post(ASK, json={"question": "What?", "hint": {**hint, "document_id": "none"}})
    assert (none.status_code, none.json()["code"]) == (404, "document_not_found")


def test_search_gives_passages(client: httpx.Client) -> None:
    found = client.post("api/v1/library/search", json={"question": "Marta y Julián", "k": 2}).json()
    assert 1 <= len(found["results"]) <= 2
    assert "Julián" in found["results"][0]["content"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": ""},
        {"question": "  \n"},
        {"question": 3},
        {"question": "x" * 5000},
        {"question": "x", "unknown": 1},
        {"question": "x", "where": []},
        {"question": "x", "hint": {"document_id": "a", "start": -1, "end": 3}},
        {"question": "x", "session": "y" * 70},
    ],
)
def test_bodies_that_make_no_sense_are_refused(client: httpx.Client, body: dict[str, object]) -> None:
    refused = client.post(ASK, json=body)
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["code"] == "invalid_request"
    assert refused.json()["errors"]


def test_a_models_work_comes_as_it_is_done(tmp_path: Path) -> None:
    model = PatientModel("The gate is blue [1]. It has 7 bolts.", "The gate is blue.")
    model.go_on.set()
    with small_service(tmp_path, model=model) as (_, client):
        upload(client, ("gate.txt", b"The gate is blue. The door is green."))
        events = ask_events(client, ASK, question="Which colour is the gate?")
    names = [name for name, _ in events]
    assert names[0] == "searched"
    assert names[-1] == "answer"
    steps = [data for name, data in events if name == "step"]
    assert steps == [{"tool": "search", "asked": "blue gate"}, {"tool": "evidence", "asked": "answer"}]
    answer = events[-1][1]
    # What was shown stays.
    assert "".join(data["text"] for name, data in events if name == "text").strip() == answer["text"]
    (mark,) = [data for name, data in events if name == "mark"]
    assert mark == {"number": 1, **answer["citations"][0]}
    assert (answer["model"], mark["source"], mark["quote"]) == ("test:patient", "gate.txt", "The gate is blue.")
    marked = [(check["text"], check["support"], check["citations"]) for check in answer["checks"]]
    assert marked == [("The gate is blue [1].", "verified", [1]), ("It has 7 bolts.", "unsupported", [])]


def test_closing_the_connection_stops_the_model(tmp_path: Path) -> None:
    model = PatientModel("The gate is blue")
    with small_service(tmp_path, model=model) as (_, client):
        upload(client, ("gate.txt", b"The gate is blue. The door is green."))
        body = {"question": "Which colour is the gate?"}
        with client.stream("POST", ASK, json=body, headers={"Accept": "text/event-stream"}) as response:
            assert any(name == "text" for name, _ in read_events(response))
        assert model.stopped.wait(60)
        # It is counted right after the model has ended.
        until = time.monotonic() + 60
        while 'answerable_asks_total{outcome="stopped"} 1.0' not in (figures := client.get("metrics").text):
            assert time.monotonic() < until, figures


def test_a_silent_stream_says_that_it_lives(tmp_path: Path) -> None:
    model = PatientModel("The gate is blue")
    with small_service(tmp_path, model=model, heartbeat=0.01) as (_, client):
        upload(client, ("gate.txt", b"The gate is blue. The door is green."))
        body = {"question": "Which colour is the gate?"}
        with client.stream("POST", ASK, json=body, headers={"Accept": "text/event-stream"}) as response:
            events = read_events(response)
            assert any(name == "comment" for name, _ in events)


def test_what_a_library_can_be_filtered_by(client: httpx.Client) -> None:
    found = client.get("api/v1/library/filters").json()
    assert found["types"] == {"chat": 1, "html": 1, "markdown": 1, "pdf": 1}
    assert found["languages"] == {"en": 2, "es": 1, "pt": 1}
    assert found["people"] == ["Ana Lucía", "Julián", "Marta"]
    assert found["first_day"] == "2024-03-02" <= found["last_day"]


def test_a_question_narrows_itself_unless_it_may_not(client: httpx.Client) -> None:
    body = {"question": "¿Qué dijo Marta sobre los boletos?", "keep": False}
    narrowed = client.post(ASK, json=body).json()
    assert (narrowed["narrowing"]["senders"], narrowed["narrowing"]["applied"]) == (["Marta"], True)
    everything = client.post(ASK, json={**body, "narrow": False}).json()
    assert everything["narrowing"] is None
    found = client.post("api/v1/library/search", json={"question": body["question"], "narrow": False}).json()
    assert found["narrowing"] is None


def test_an_answer_has_the_filter_it_was_asked_with(client: httpx.Client) -> None:
    where = {"sender": ["Marta"]}
    answer = client.post(ASK, json={"question": "¿Cuánto cuesta el autobús?", "where": where}).json()
    kept = client.get(f"api/v1/library/sessions/{answer['session']}").json()["turns"][0]["answer"]
    assert answer["where"] == kept["where"] == where


def test_a_refusal_says_what_each_passage_lacks(client: httpx.Client) -> None:
    answer = client.post(ASK, json={"question": "May I borrow a chainsaw at night?", "keep": False}).json()
    assert not answer["answered"]
    nearest = answer["passages"][0]["nearest"]
    assert nearest["text"] == "A member may borrow up to five tools at the same time."
    assert (nearest["present"], nearest["missing"]) == (["May", "borrow"], ["chainsaw", "night"])
    document = client.get(f"api/v1/library/documents/{answer['passages'][0]['document_id']}").json()
    span = document["content"][nearest["start"] : nearest["end"]]
    assert " ".join(span.split()) == nearest["text"]
    assert (nearest["pages"], nearest["language"]) == ([1, 1], "en")
    answered = client.post(ASK, json={"question": "How many tools may I borrow at once?", "keep": False}).json()
    assert "nearest" not in answered["passages"][0]
