"""`retrieve_relevant_context`: the passages of the book, and how a selected text narrows them."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest
from providers.scripted_server import Reply, Request, ScriptedServer, failure
from qdrant_client import models
from qdrant_server import Fault, StandIn
from textbook_parts import ARMS, BOTH_ENGINES, EMBEDDINGS, KEY, NODES, embed, embedded, passages, write_book

from answerable.errors import SettingsError
from src.errors import openai_errors
from src.qdrant import open_qdrant
from src.services.rag_service import OpenAIAPIError, QdrantOperationError, retrieve_relevant_context
from src.settings import COLLECTION, load
from src.tools.sync_book_to_qdrant import sync_book

QUESTION = "What does forward kinematics do?"


def retrieve(query: str, **more: Any) -> list[dict[str, str]]:
    return asyncio.run(retrieve_relevant_context(query, **more))


def test_the_signature_is_the_specified_one() -> None:
    assert inspect.iscoroutinefunction(retrieve_relevant_context)
    parameters = inspect.signature(retrieve_relevant_context).parameters
    assert {name: each.default for name, each in parameters.items()} == {
        "query": inspect.Parameter.empty,
        "limit": 3,
        "selected_text_hint": None,
    }


def test_passages_come_with_their_four_keys(anywhere: str, book: None) -> None:
    found = retrieve(QUESTION)
    assert len(found) == 3
    assert found[0] == {
        "text": "# Arms\n\n## Forward kinematics\n\n"
        "Forward kinematics finds the pose of the hand from the angles of the joints.",
        "source": ARMS,
        "chapter": "Arms",
        "section": "Forward kinematics",
    }
    assert [list(each) for each in found] == [["text", "source", "chapter", "section"]] * 3


def test_the_limit_is_kept_and_the_best_come_first(book: None) -> None:
    everything = retrieve(QUESTION, limit=100)
    assert len(everything) == len(passages()) == 6
    assert [retrieve(QUESTION, limit=limit) for limit in (1, 4)] == [everything[:1], everything[:4]]


def test_the_query_is_embedded_by_openai(openai: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_EMBEDDING_MODEL")
    sync_book()
    retrieve(QUESTION)
    assert embedded(openai)[-1] == QUESTION
    last = openai.requests[-1]
    assert last.body["model"] == "text-embedding-3-small"
    assert last.headers["authorization"] == f"Bearer {KEY}"


def test_the_models_name_is_a_setting(openai: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "another-model")
    sync_book()
    assert {request.body["model"] for request in openai.requests} == {"another-model"}


def test_the_collection_is_searched_by_vector_with_filters(on_server: StandIn, book: None) -> None:
    before = len(on_server.requests)
    retrieve("What does it do?", selected_text_hint="Reliable delivery repeats what was lost")
    asked = [
        models.QueryRequest.model_validate_json(body)
        for request, body in zip(on_server.requests[before:], on_server.bodies[before:], strict=True)
        if request == f"POST /collections/{COLLECTION}/points/query"
    ]
    assert len(asked) == 1
    assert asked[0].filter is not None
    assert "Quality of service" in asked[0].filter.model_dump_json()


SECTIONS: list[tuple[str, set[tuple[str, str]]]] = [
    ("A node is an independent process", {(NODES, "")}),
    # Rendered: no marks of emphasis, no target of a link, other white space.
    ("subscribers receive them. A camera publishes thirty\nframes each second", {(NODES, "Topics")}),
    ("RELIABLE   delivery", {(NODES, "Topics › Quality of service")}),
    ("Inverse kinematics", {(ARMS, "Inverse kinematics")}),
    # It begins in one section and ends in the next.
    (
        "Forward kinematics finds the pose of the hand from the angles of the joints. Inverse kinematics "
        "Inverse kinematics finds the angles of the joints from the pose of the hand.",
        {(ARMS, "Forward kinematics"), (ARMS, "Inverse kinematics")},
    ),
]


@BOTH_ENGINES
def test_a_selected_text_narrows_to_its_section(anywhere: str, book: None) -> None:
    for selected, sections in SECTIONS:
        found = retrieve("Which request does a service answer?", selected_text_hint=selected)
        assert {(each["source"], each["section"]) for each in found} == sections


@pytest.mark.parametrize("selected", ["", "  ", "This stands nowhere in the whole book", "…", "\x00\ud800"])
def test_where_nothing_can_be_inferred_the_whole_book_is_searched(selected: str, book: None) -> None:
    assert retrieve(QUESTION, selected_text_hint=selected) == retrieve(QUESTION)


def test_what_stands_in_many_places_tells_none(docs: Path) -> None:
    write_book(
        docs, {f"m/{number}.md": f"# Page {number}\n\nMind the gap. It is {number} wide.\n" for number in range(9)}
    )
    sync_book()
    assert retrieve(QUESTION, selected_text_hint="Mind the gap") == retrieve(QUESTION)
    assert [each["chapter"] for each in retrieve(QUESTION, selected_text_hint="It is 7 wide")] == ["Page 7"]


def test_where_the_section_has_nothing_any_more_the_whole_book_is_searched(book: None) -> None:
    selected = "A service answers one request with one response"
    assert [each["chapter"] for each in retrieve(QUESTION, selected_text_hint=selected)] == ["Services"]
    with open_qdrant(load().qdrant) as opened:
        gone = models.FieldCondition(key="chapter", match=models.MatchValue(value="Services"))
        opened.client.delete(COLLECTION, models.Filter(must=[gone]))
    assert retrieve(QUESTION, selected_text_hint=selected) == retrieve(QUESTION)


def test_a_selected_text_is_looked_for_in_the_book_as_it_is_now(docs: Path, book: None) -> None:
    selected = "Grippers close at forty newtons"
    assert len(retrieve(QUESTION, selected_text_hint=selected)) == 3
    write_book(docs, {"module2/hands.md": "# Hands\n\nGrippers close at forty newtons.\n"})
    sync_book()
    assert [each["chapter"] for each in retrieve(QUESTION, selected_text_hint=selected)] == ["Hands"]


@BOTH_ENGINES
def test_a_collection_made_by_others_is_read(anywhere: str) -> None:
    with open_qdrant(load().qdrant) as opened:
        size = models.VectorParams(size=1536, distance=models.Distance.COSINE)
        opened.client.create_collection(COLLECTION, size)
        payload = {"text": "Legs walk on stairs.", "source": "docs/legs.md", "chapter": "Legs", "section": "Stairs"}
        point = models.PointStruct(id=1, vector=[1.0] * 1536, payload={**payload, "more": 1})
        opened.client.upsert(COLLECTION, [point])
    try:
        assert retrieve("stairs") == retrieve("stairs", selected_text_hint="walk on stairs") == [payload]
        with pytest.raises(QdrantOperationError, match="force_resync"):
            sync_book()
        sync_book(force_resync=True)
        assert "Legs" not in {each["chapter"] for each in retrieve("stairs", limit=9)}
    finally:
        with open_qdrant(load().qdrant) as opened:
            opened.client.delete_collection(COLLECTION)


def test_without_a_collection_there_is_nothing(anywhere: str, caplog: pytest.LogCaptureFixture) -> None:
    assert retrieve(QUESTION) == []
    assert "ingest the book first" in caplog.text


@pytest.mark.parametrize(("query", "limit"), [("", 3), (" \n", 3), ("What?", 0), ("What?", -1)])
def test_what_makes_no_sense_is_refused(query: str, limit: int) -> None:
    with pytest.raises(ValueError, match=r"empty|limit"):
        retrieve(query, limit=limit)


@pytest.mark.parametrize(("status", "retryable"), [(401, False), (404, False), (400, False), (429, True), (503, True)])
def test_openai_failures_are_openai_api_errors(
    openai: ScriptedServer, status: int, retryable: bool, book: None
) -> None:
    openai.script(EMBEDDINGS, failure(status, f"no, not with {KEY}", retry_after=0))
    with pytest.raises(OpenAIAPIError) as caught:
        retrieve(QUESTION)
    assert caught.value.retryable == retryable
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("fault", [Fault(500), Fault(401), Fault(503), Fault(None)])
def test_qdrant_failures_are_qdrant_operation_errors(on_server: StandIn, fault: Fault, book: None) -> None:
    on_server.meddle = lambda number, is_done: fault
    with pytest.raises(QdrantOperationError, match="QDRANT_") as caught:
        retrieve(QUESTION)
    assert on_server.key not in str(caught.value)


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:9")
    with pytest.raises(QdrantOperationError, match="QDRANT_URL"):
        retrieve(QUESTION)


@BOTH_ENGINES
def test_vectors_of_another_model_are_never_compared(
    anywhere: str, openai: ScriptedServer, monkeypatch: pytest.MonkeyPatch, book: None
) -> None:
    monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "another-model")
    with pytest.raises(QdrantOperationError, match="text-embedding-3-small"):
        retrieve(QUESTION)
    monkeypatch.setenv("ANSWERABLE_EMBEDDER", "local")
    with pytest.raises(QdrantOperationError, match="another kind"):
        retrieve(QUESTION)
    assert sync_book().chunks == 6
    assert retrieve(QUESTION)[0]["section"] == "Forward kinematics"


@pytest.mark.parametrize("address", ["", "path:", "ftp://host", "localhost:6333"])
def test_an_address_that_is_none_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", address)
    with pytest.raises(SettingsError, match="QDRANT_URL"):
        retrieve(QUESTION)


def test_the_event_loop_goes_on_meanwhile(openai: ScriptedServer, book: None) -> None:
    asked, answered = threading.Event(), threading.Event()

    def embed_when_told(request: Request) -> Reply:
        asked.set()
        assert answered.wait(60), "the event loop stood still while the model was asked"
        return embed(request)

    async def both() -> list[dict[str, str]]:
        task = asyncio.ensure_future(retrieve_relevant_context(QUESTION))
        while not asked.is_set():
            await asyncio.sleep(0.001)
        assert not task.done()
        answered.set()
        return await task

    openai.script(EMBEDDINGS, embed_when_told)
    assert asyncio.run(both())


def test_errors_keep_what_a_client_is_to_do(openai: ScriptedServer) -> None:
    openai.script(EMBEDDINGS, failure(429, "slow down", retry_after=0), embed)
    with openai_errors():
        sync_book()
    assert len(openai.requests) == 2
