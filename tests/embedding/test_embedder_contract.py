"""Test the contract of all embedders that run locally. Embedders of providers are tested in tests/providers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from embedding.exported_e5 import export
from embedding.made_onnx import tiny_folder
from helpers import HashEmbedder

from answerable.datatypes import FloatArray
from answerable.embedding.local import LocalEmbedder
from answerable.embedding.onnx_embedder import OnnxEmbedder
from answerable.protocols import Embedder, Passage

TEXTS = [
    "El tren sale a las ocho.",
    "sí",
    "# Guía\n\n- uno\n- dos\n\n| a | b |",
    "👩‍👩‍👧‍👦🏳️‍🌈 ¡feliz! 🎂",
    "我们明天下午三点在北京见面。",
    "antes\0después \0\0 fin",
    "roto \ud800 texto \udfff.",
    "the train leaves at eight",
]
NOTHING = ["", " \n\t ", "\0"]
LONG = "the train leaves at eight " * 130
END = "Las ballenas azules cantan. " * 8


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packaged model in ONNX, with the words of these tests."""
    folder = tmp_path_factory.mktemp("exported") / "multilingual-e5-small"
    texts = [*TEXTS, LONG, END]
    export(folder, [f"{prefix}: {text}" for prefix in ("query", "passage") for text in texts])
    return folder


Make = Callable[[], Embedder]


@pytest.fixture(scope="session")
def makes(exported: Path, cache_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Make]:
    models, tiny = cache_folder / "models", tiny_folder(tmp_path_factory.mktemp("tiny"))
    return {
        "local": lambda: LocalEmbedder(cache_folder=models),
        "onnx": lambda: OnnxEmbedder(exported),
        "onnx cls": lambda: OnnxEmbedder(tiny, pooling="cls"),
        "onnx max": lambda: OnnxEmbedder(tiny, pooling="max"),
        "words": HashEmbedder,
    }


@pytest.fixture(scope="session", params=["local", "onnx", "onnx cls", "onnx max", "words"])
def make(request: pytest.FixtureRequest, makes: dict[str, Make]) -> Make:
    return makes[request.param]


@pytest.fixture(scope="session")
def maker(make: Make) -> Embedder:
    return make()


def cosine(one: FloatArray, other: FloatArray) -> float:
    return float(one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-12))


def test_vectors_have_the_promised_shape_and_length(maker: Embedder) -> None:
    dimension = maker.fingerprint.dimension
    passages = [Passage(text, ((0, 2), (2, len(text)))) for text in TEXTS]
    for text, made in zip(TEXTS, maker.embed_passages(passages), strict=True):
        query = maker.embed_query(text)
        for vector in (made.whole, query):
            assert (vector.shape, vector.dtype) == ((dimension,), np.float32)
            assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)
        assert (made.spans.shape, made.spans.dtype) == ((2, dimension), np.float32)
        lengths = np.linalg.norm(made.spans, axis=1)
        assert ((abs(lengths - 1) < 1e-4) | (lengths == 0)).all()
    assert maker.embed_passages([]) == []


def test_a_text_with_nothing_in_it_does_no_harm(maker: Embedder) -> None:
    for made in maker.embed_passages([Passage(text, ((0, len(text)),)) for text in NOTHING]):
        assert np.isfinite(made.whole).all()
        assert np.isfinite(made.spans).all()
    assert all(np.isfinite(maker.embed_query(text)).all() for text in NOTHING)


def test_neighbours_and_threads_change_nothing(maker: Embedder) -> None:
    passages = [Passage(text, ((0, len(text)),)) for text in TEXTS]
    alone = [maker.embed_passages([passage])[0] for passage in passages]
    with ThreadPoolExecutor(2) as threads:
        several = list(threads.map(lambda _: maker.embed_passages(passages), range(2)))
    for together in several:
        for one, other in zip(alone, together, strict=True):
            assert cosine(one.whole, other.whole) >= 0.999
            assert cosine(one.spans[0], other.spans[0]) >= 0.999


@pytest.mark.parametrize("name", ["local", "onnx", "words"])
def test_the_end_of_a_long_text_counts(makes: dict[str, Make], name: str) -> None:
    one, other = makes[name]().embed_passages([Passage(LONG), Passage(LONG + END)])
    assert cosine(one.whole, other.whole) < 0.9999


def test_a_fingerprint_is_that_of_the_model(maker: Embedder, make: Make) -> None:
    print_, again = maker.fingerprint, make().fingerprint
    assert print_ == again
    assert print_.provider
    assert print_.model
    assert print_.dimension == len(maker.embed_query("x"))


def test_tokens_are_counted_and_cost_nothing(maker: Embedder) -> None:
    few, more, none = maker.count_tokens(["the train", "the train leaves at eight", ""])
    assert 0 == none < few < more
    assert maker.cost(1_000_000) == 0


def test_the_exported_model_gives_the_vectors_of_the_packaged_one(makes: dict[str, Make]) -> None:
    local, onnx = makes["local"](), makes["onnx"]()
    passages = [
        Passage(text, ((0, text.index(" ")), (text.index(" ") + 1, len(text)))) for text in TEXTS if " " in text
    ]
    for one, other in zip(local.embed_passages(passages), onnx.embed_passages(passages), strict=True):
        assert cosine(one.whole, other.whole) >= 0.998
        assert all(cosine(a, b) >= 0.99 for a, b in zip(one.spans, other.spans, strict=True) if a.any())
    for text in TEXTS:
        assert cosine(local.embed_query(text), onnx.embed_query(text)) >= 0.998
    assert local.count_tokens(TEXTS) == onnx.count_tokens(TEXTS)
