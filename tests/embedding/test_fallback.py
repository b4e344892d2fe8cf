"""Test the fallback from a remote embedder (by real HTTP) to the local one, never with both in one library."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers import HashEmbedder, make_document
from providers.scripted_server import Reply, Request, ScriptedServer, json_reply

from answerable.answering.decide import Answering
from answerable.embedding.cache import CachedEmbedder
from answerable.embedding.cohere_embedder import CohereEmbedder
from answerable.embedding.fallback import FallbackEmbedder
from answerable.errors import EmbedderMismatch, ProviderError, ProviderOverloaded, ProviderRefused, ProviderRetired
from answerable.library import Library
from answerable.protocols import Embedder, Fingerprint, Passage, Store
from answerable.providers.calling import CallPolicy
from answerable.sources.context import ReadContext, ReadLimits
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore

EMBED = "/v2/embed"
LOCAL = HashEmbedder(64).fingerprint
REMOTE = Fingerprint("cohere", "embed-multilingual-v3.0", 8)
GONE = json_reply({"message": "this service was retired"}, 410)
BUSY = json_reply({"message": "slow down"}, 429, {"Retry-After": "0"})


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        server.script(EMBED, embeds)
        yield server


def embeds(request: Request) -> Reply:
    words = HashEmbedder(8)
    vectors = [(words.embed_query(text) + 0.01).tolist() for text in request.body["texts"]]
    return json_reply({"id": "1", "embeddings": {"float": vectors}})


def fallback(
    server: ScriptedServer, said: list[ProviderError] | None = None, bound: Fingerprint | None = None
) -> FallbackEmbedder:
    policy = CallPolicy(retries=0, timeout=3)
    remote = CohereEmbedder("key", dimension=8, base_url=server.url, policy=policy)
    return FallbackEmbedder(remote, HashEmbedder(64), ([] if said is None else said).append, bound)


def library(store: Store, embedder: Embedder) -> Library:
    reader = FileReader(ReadContext(ReadLimits(10_000, 10, 10_000_000)))
    return Library(store, embedder, SplitterByType(200, 20), reader, Answering())


def test_the_remote_one_is_in_charge_while_it_can_be(server: ScriptedServer) -> None:
    said: list[ProviderError] = []
    embedder = fallback(server, said)
    assert embedder.fingerprint == REMOTE
    assert embedder.embed_query("hola").shape == (8,)
    assert embedder.embed_passages([Passage("uno"), Passage("dos")])[1].whole.shape == (8,)
    assert embedder.count_tokens(["hola"]) == [1]
    assert said == []


@pytest.mark.parametrize("first", ["fingerprint", "query", "passages", "tokens"])
def test_after_a_failure_it_is_the_local_one_for_good_and_said_once(server: ScriptedServer, first: str) -> None:
    server.script(EMBED, GONE, embeds)
    said: list[ProviderError] = []
    embedder = fallback(server, said)
    {
        "fingerprint": lambda: embedder.fingerprint,
        "query": lambda: embedder.embed_query("hola"),
        "passages": lambda: embedder.embed_passages([Passage("hola")]),
        "tokens": lambda: embedder.count_tokens(["hola"]),
    }[first]()
    assert embedder.fingerprint == LOCAL
    assert embedder.embed_query("hola").shape == (64,)
    assert embedder.embed_passages([Passage("uno")])[0].whole.shape == (64,)
    assert [type(error) for error in said] == [ProviderRetired]
    # The remote one answers again by now, and isn't asked.
    assert len(server.requests) == 1


@pytest.mark.parametrize("reply", [GONE, BUSY, json_reply("no json"), json_reply({}, 401), Reply(None)])
def test_any_failure_of_the_provider_switches(server: ScriptedServer, reply: Reply) -> None:
    server.script(EMBED, reply)
    assert fallback(server).fingerprint == LOCAL


def test_a_failure_after_the_choice_is_raised_as_it_is(server: ScriptedServer) -> None:
    said: list[ProviderError] = []
    embedder = fallback(server, said)
    assert embedder.fingerprint == REMOTE
    server.script(EMBED, BUSY, json_reply({"message": "no"}, 401), embeds)
    with pytest.raises(ProviderOverloaded, match=r"slow down.*can't be mixed") as busy:
        embedder.embed_query("hola")
    assert (busy.value.retryable, busy.value.retry_after) == (True, 0)
    with pytest.raises(ProviderRefused, match="new library"):
        embedder.embed_passages([Passage("uno")])
    assert embedder.embed_query("hola").shape == (8,)
    assert said == []


@pytest.mark.parametrize(("bound", "expected"), [(REMOTE, REMOTE), (LOCAL, LOCAL), (Fingerprint("x", "y", 3), REMOTE)])
def test_what_a_library_was_made_with_decides_without_trying(
    server: ScriptedServer, bound: Fingerprint, expected: Fingerprint
) -> None:
    server.script(EMBED, GONE)
    said: list[ProviderError] = []
    embedder = fallback(server, said, bound)
    assert embedder.fingerprint == expected
    assert server.requests == []
    if expected == REMOTE:
        with pytest.raises(ProviderRetired):
            embedder.embed_query("hola")
    assert embedder.fingerprint == expected
    assert said == []


def test_threads_see_one_choice(server: ScriptedServer) -> None:
    server.script(EMBED, lambda request: Reply(410, {}, (0.1, b"{}")), embeds)
    said: list[ProviderError] = []
    embedder = fallback(server, said)
    shapes: list[tuple[int, ...]] = []
    threads = [threading.Thread(target=lambda: shapes.append(embedder.embed_query("hola").shape)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shapes == [(64,)] * 8
    assert len(said) == 1


def test_whoever_is_told_may_ask_at_once(server: ScriptedServer) -> None:
    server.script(EMBED, GONE)
    told: list[Fingerprint] = []
    remote = CohereEmbedder("key", base_url=server.url, policy=CallPolicy(retries=0))
    embedder = FallbackEmbedder(remote, HashEmbedder(64), lambda _: told.append(embedder.fingerprint))
    assert embedder.fingerprint == LOCAL
    assert told == [LOCAL]


def dimensions(store: MemoryStore) -> set[int]:
    """Of all the vectors in a store, read as searching with each kind would."""
    numbers = [number for number, _ in store.search_terms(["tren"], 100, None)]
    return {len(indexed.vector) for indexed, _ in store.fetch(numbers).values()}


def test_a_library_never_holds_both(server: ScriptedServer, tmp_path: Path) -> None:
    store = MemoryStore()
    one = make_document("El tren sale a las ocho.", "uno", language="es")
    two = make_document("El tren llega a las once.", "dos", language="es")
    cached = CachedEmbedder(fallback(server, bound=store.fingerprint), tmp_path / "cache.db", 1_000_000)
    here = library(store, cached)
    here.add_documents([one])
    server.script(EMBED, GONE)
    with pytest.raises(ProviderRetired, match="can't be mixed"):
        here.add_documents([two])
    with pytest.raises(ProviderRetired, match="can't be mixed"):
        here.search("¿Cuándo sale el tren?")
    assert (store.fingerprint, store.count(), dimensions(store)) == (REMOTE, (2, 2), {8})
    # Opened again while the service is gone: it stays remote, by what it was made with.
    again = library(store, fallback(server, bound=store.fingerprint))
    with pytest.raises(ProviderRetired):
        again.add_documents([two])
    # Opened by someone who doesn't say what it was made with: the choice is local, and the library refuses it.
    with pytest.raises(EmbedderMismatch):
        library(store, fallback(server))
    assert dimensions(store) == {8}


def test_a_library_begun_while_the_service_was_gone_stays_local(server: ScriptedServer) -> None:
    server.script(EMBED, GONE)
    store = MemoryStore()
    library(store, fallback(server)).add_documents([make_document("El tren sale a las ocho.", "uno", language="es")])
    assert store.fingerprint == LOCAL
    server.script(EMBED, embeds)
    here = library(store, fallback(server, bound=store.fingerprint))
    here.add_documents([make_document("El tren llega a las once.", "dos", language="es")])
    assert dimensions(store) == {64}
    assert np.isfinite(here.search("tren")[0].score)
