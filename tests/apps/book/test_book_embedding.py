"""Chunks into vectors, by the official SDK against a server that plays Cohere."""

from __future__ import annotations

import inspect
import time
from dataclasses import fields

import pytest
from book_parts import DIMENSION, EMBED, KEY, embed, embedded, refusal, vector, words
from providers.scripted_server import ScriptedServer, json_reply

from answerable.embedding import CohereEmbedder
from answerable.errors import ProviderError, SettingsError
from book.embedding import PRICE
from main import CohereAPIError, ContentChunk, VectorEmbedding, generate_embeddings


def chunks(count: int, text: str = "chunk number") -> list[ContentChunk]:
    return [ContentChunk("https://a.example/x", "X", at, f"{text} {at}", 5, "", "") for at in range(count)]


def test_the_signature_is_the_specified_one() -> None:
    assert list(inspect.signature(generate_embeddings).parameters) == ["chunks", "batch_size"]
    assert inspect.signature(generate_embeddings).parameters["batch_size"].default == 96
    assert [field.name for field in fields(VectorEmbedding)] == ["chunk_id", "vector"]


def test_each_chunk_gets_its_vector(cohere: ScriptedServer) -> None:
    given = chunks(3)
    found = generate_embeddings(given)
    assert [each.chunk_id for each in found] == [each.chunk_id for each in given]
    for chunk, each in zip(given, found, strict=True):
        assert len(each.vector) == DIMENSION
        assert each.vector == pytest.approx(vector(chunk.text), abs=1e-6)
    (request,) = cohere.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert {name: request.body[name] for name in ("model", "input_type", "texts")} == {
        "model": "embed-multilingual-v3.0",
        "input_type": "search_document",
        "texts": [chunk.text for chunk in given],
    }


@pytest.mark.parametrize(("size", "expected"), [(96, [96, 96, 8]), (50, [50, 50]), (1, [1] * 12)])
def test_no_call_has_more_texts_than_it_may(cohere: ScriptedServer, size: int, expected: list[int]) -> None:
    assert len(generate_embeddings(chunks(sum(expected)), size)) == sum(expected)
    # Calls are made at the same time.
    assert sorted((len(request.body["texts"]) for request in cohere.requests), reverse=True) == expected


def test_nothing_of_a_long_chunk_is_cut_off(cohere: ScriptedServer) -> None:
    given = [ContentChunk("https://a.example/x", "X", at, words(300, f"c{at}x"), 750, "", "") for at in range(40)]
    assert len(generate_embeddings(given)) == 40
    # Calls are made at the same time.
    assert sorted(" ".join(embedded(cohere)).split()) == sorted(" ".join(chunk.text for chunk in given).split())
    assert len(embedded(cohere)) > 96 >= max(len(request.body["texts"]) for request in cohere.requests)


def test_no_chunks_take_no_call_and_no_key(cohere: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COHERE_API_KEY")
    assert generate_embeddings([]) == []
    assert cohere.requests == []


def test_too_many_requests_are_waited_out_as_long_as_the_server_asks(cohere: ScriptedServer) -> None:
    cohere.script(EMBED, refusal(429, "slow down", Retry_After="1"), embed)
    started = time.monotonic()
    assert len(generate_embeddings(chunks(1))) == 1
    assert time.monotonic() - started > 0.9
    assert len(cohere.requests) == 2


def test_too_many_requests_are_tried_again_without_being_told_when(cohere: ScriptedServer) -> None:
    cohere.script(EMBED, refusal(429), refusal(503), embed)
    assert len(generate_embeddings(chunks(1))) == 1
    assert len(cohere.requests) == 3


def test_after_all_tries_it_is_an_error(cohere: ScriptedServer) -> None:
    cohere.script(EMBED, refusal(429, Retry_After="0"))
    with pytest.raises(CohereAPIError, match="429"):
        generate_embeddings(chunks(1))
    assert len(cohere.requests) == 7


def test_a_refused_key_is_not_tried_again_and_not_shown(cohere: ScriptedServer) -> None:
    cohere.script(EMBED, refusal(401, f"invalid api token {KEY}"))
    with pytest.raises(CohereAPIError, match="COHERE_API_KEY") as raised:
        generate_embeddings(chunks(1))
    assert isinstance(raised.value, ProviderError)
    assert KEY not in str(raised.value)
    assert len(cohere.requests) == 1


def test_vectors_of_another_length_are_an_error(cohere: ScriptedServer) -> None:
    cohere.script(EMBED, json_reply({"id": "1", "embeddings": {"float": [[1.0, 2.0]]}, "texts": []}))
    with pytest.raises(CohereAPIError, match="shape"):
        generate_embeddings(chunks(1))


def test_the_price_is_the_engines() -> None:
    assert CohereEmbedder(KEY).cost(1_000_000) == PRICE


@pytest.mark.parametrize("size", [0, 97, -1])
def test_a_batch_size_out_of_bounds(size: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 96"):
        generate_embeddings(chunks(1), size)


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COHERE_API_KEY", " ")
    with pytest.raises(SettingsError, match="COHERE_API_KEY is not set"):
        generate_embeddings(chunks(1))
