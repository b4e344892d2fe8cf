"""A library of another server as a store returns what the library there has; what is no call of it is refused."""

from __future__ import annotations

import json
import random
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "http"))

from helpers import HashEmbedder, add, make_document
from service_on_socket import small_service
from test_contract import random_filter

from answerable.errors import LibraryError, LibraryNotFound, LibraryReadOnly, SettingsError
from answerable.filters import parse_filter
from answerable.protocols import SearchStore, Store
from answerable.retrieval.question import analyze_question
from answerable.retrieval.retriever import SearchRequest, retrieve, word_weights
from answerable.stores.remote import wire
from answerable.stores.remote.address import parse_address
from answerable.stores.remote.store import RemoteStore
from answerable.text.bm25 import rarity

TEXTS = {
    "boat": "The boat Alborada leaves the harbour at nine on Sundays. It returns at six.",
    "casa": "La calefacción de la casa se enciende en octubre. «Sí», dijo él — 100 € al año.",
}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, RemoteStore, httpx.Client]]:
    """A served library, the same read over HTTP, and a client of its server."""
    folder = tmp_path_factory.mktemp("remote")
    with small_service(folder, "library", "other") as (server, client):
        served = server.service.libraries.get("library").store
        documents = [
            make_document(text, name, source=f"/{name}.md", language=language, number=3, tags=["a", "b"])
            for (name, text), language in zip(TEXTS.items(), ("en", "es"), strict=True)
        ]
        add(served, *documents)
        with httpx.Client(base_url=server.address) as client:
            store = RemoteStore(f"answerable+{server.address.rstrip('/')}/library")
            yield served, store, client
            store.close()


def test_everything_that_is_read_is_the_same(both: tuple[Store, RemoteStore, httpx.Client]) -> None:
    here, there, _ = both
    assert there.fingerprint == here.fingerprint
    assert there.count() == here.count() == (2, 2)
    assert there.languages() == here.languages() == ["en", "es"]
    assert list(there.documents()) == list(here.documents())
    assert list(there.documents("pdf")) == []
    assert there.records() == []
    for document in here.documents():
        assert there.document(document.id) == here.document(document.id)
        assert there.lookup(document.id, "") == here.lookup(document.id, "") == [document]
        assert there.chunks(document.id) == here.chunks(document.id)
        for mine, theirs in zip(there.indexed_chunks(document.id), here.indexed_chunks(document.id), strict=True):
            assert (mine.chunk, mine.terms, mine.fields, mine.sentences) == (
                *(theirs.chunk, theirs.terms, theirs.fields),
                theirs.sentences,
            )
            assert np.array_equal(mine.vector, theirs.vector)
            assert np.array_equal(mine.sentence_vectors, theirs.sentence_vectors)
    assert there.document("nothing") is None
    assert there.chunks("nothing") == []


@pytest.mark.parametrize("where", [None, {"language": "es"}, {"number": {"gte": 2, "lt": 4}}, {"not": {"tags": "a"}}])
def test_searches_are_the_same(both: tuple[Store, RemoteStore, httpx.Client], where: dict[str, Any] | None) -> None:
    here, there, _ = both
    vector, condition = HashEmbedder().embed_query("When does the boat leave?"), parse_filter(where)
    asked = ["boat", "leav", "casa", "nada"]
    assert there.search_vectors(vector, 5, condition) == here.search_vectors(vector, 5, condition)
    assert there.search_terms(asked, 5, condition) == here.search_terms(asked, 5, condition)
    rare = {term: rarity(1000, 3) for term in asked}
    assert there.search_terms(asked, 5, condition, rare) == here.search_terms(asked, 5, condition, rare)
    assert there.document_frequency(asked) == here.document_frequency(asked)
    assert there.cosines(vector, [1, 2, 99]) == here.cosines(vector, [1, 2, 99])

    def found(store: SearchStore) -> list[tuple[str, float]]:
        question = analyze_question("When does the boat leave?", store.languages())
        request = SearchRequest(question, vector, word_weights(store, question, 2), 2, condition)  # type: ignore[arg-type]
        return [(result.chunk.content, result.score) for result, _ in retrieve(store, request, 5)]  # type: ignore[arg-type]

    assert found(there) == found(here)


def test_a_passage_is_in_its_document(both: tuple[Store, RemoteStore, httpx.Client]) -> None:
    _, there, _ = both
    for indexed, document in there.fetch([1, 2, 77]).values():
        assert document.content[indexed.chunk.start : indexed.chunk.end] == indexed.chunk.content
        assert document.parts == ()
    assert len(there.fetch([1, 2, 77])) == 2


def test_filters_survive_the_way() -> None:
    for seed in range(200):
        condition = parse_filter(random_filter(random.Random(seed)))
        sent = json.dumps(wire.filter_to_plain(condition))
        assert repr(wire.filter_from_plain(json.loads(sent))) == repr(condition)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("put", {}),
        ("__class__", {}),
        ("search_vectors", {}),
        ("search_vectors", {"vector": "AAAA", "k": 5, "where": None}),
        ("search_vectors", {"vector": "!", "k": 5, "where": None}),
        ("search_vectors", {"vector": wire.vector_to_text(np.zeros(64, np.float32)), "k": 10**9, "where": None}),
        ("search_vectors", {"vector": wire.vector_to_text(np.full(64, np.nan, np.float32)), "k": 5, "where": None}),
        ("search_terms", {"terms": "boat", "k": 5, "where": None, "rarities": None}),
        ("search_terms", {"terms": ["boat"], "k": 5, "where": None, "rarities": {}}),
        ("search_terms", {"terms": ["boat"], "k": 5, "where": {"Not": None}, "rarities": None}),
        ("search_terms", {"terms": ["boat"], "k": 5, "where": {"Between": {"field": "x", "y": 1}}, "rarities": None}),
        ("search_terms", {"terms": ["boat"], "k": True, "where": None, "rarities": None}),
        ("cosines", {"vector": wire.vector_to_text(np.zeros(64, np.float32)), "numbers": [2**70]}),
        ("fetch", {"numbers": ["1"]}),
        ("fetch", {"numbers": {"1": 1}}),
        ("document", {"document_id": 3}),
        ("document_frequency", {"terms": [1]}),
    ],
)
def test_what_is_no_call_is_refused(
    both: tuple[Store, RemoteStore, httpx.Client], method: str, arguments: dict[str, Any]
) -> None:
    _, _, client = both
    response = client.post("/api/v1/library/read", json={"method": method, "arguments": arguments})
    assert response.status_code == 422, response.text
    assert response.json()["code"] == "invalid_request"


def test_nothing_can_be_changed(both: tuple[Store, RemoteStore, httpx.Client]) -> None:
    _, there, _ = both
    with pytest.raises(LibraryReadOnly, match="Change it there"):
        there.remove("boat")


def test_a_library_that_the_server_does_not_have(both: tuple[Store, RemoteStore, httpx.Client]) -> None:
    address = str(both[2].base_url).rstrip("/")
    with pytest.raises(LibraryNotFound, match="has no library nowhere"):
        RemoteStore(f"answerable+{address}/nowhere").count()


def test_a_server_that_is_away_or_is_something_else(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LibraryError, match=r"can't be reached"):
            RemoteStore(f"answerable+http://127.0.0.1:{port}/library", patience=0.2).count()
    with pytest.raises(LibraryError, match=r"can't be reached"):
        RemoteStore(f"answerable+http://127.0.0.1:{port}/library").count()


@pytest.mark.parametrize(
    "address",
    [
        "answerable+http://",
        "answerable+http://host",
        "answerable+http://host/",
        "answerable+http://key@host/library",
        "answerable+https://host:999999/library",
        "answerable+https://host/library?key=ak_secret",
        "answerable+https://host/Library Name",
    ],
)
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(SettingsError, match="The library's address can't be read") as raised:
        parse_address(address)
    assert "key@" not in str(raised.value)
    assert "ak_secret" not in str(raised.value)


def test_addresses() -> None:
    found = parse_address("answerable+https://docs.example.org:8443/base/path/work-notes")
    assert (found.url, found.name) == ("https://docs.example.org:8443/base/path", "work-notes")
    assert found.shown == "answerable+https://docs.example.org:8443/base/path/work-notes"
    assert parse_address("answerable+http://[::1]:8000/library").url == "http://[::1]:8000"
