"""Test ONNX models: the values read from their folders, and broken or hostile folders."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from embedding.made_onnx import WORDS, stored_elsewhere, tiny_folder, tiny_model, vectors
from onnx import TensorProto

import answerable
from answerable.datatypes import FloatArray
from answerable.embedding.onnx_embedder import OnnxEmbedder
from answerable.errors import EmbedderMismatch, EmbeddingError, SettingsError
from answerable.protocols import Passage


def ids(text: str) -> list[int]:
    return [WORDS.index(word) for word in f"[CLS] {text} [SEP]".split()]


def normal(vector: FloatArray) -> FloatArray:
    made: FloatArray = vector / np.linalg.norm(vector)
    return made


# What a folder says


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("pooling_mode_mean_tokens", lambda rows: rows.mean(axis=0)),
        ("pooling_mode_cls_token", lambda rows: rows[0]),
        ("pooling_mode_max_tokens", lambda rows: rows.max(axis=0)),
        ("pooling_mode_lasttoken", lambda rows: rows[-1]),
    ],
)
def test_pooling_is_read(tmp_path: Path, mode: str, expected: Callable[[FloatArray], FloatArray]) -> None:
    embedder = OnnxEmbedder(tiny_folder(tmp_path, {"word_embedding_dimension": 8, mode: True}))
    rows = vectors()[ids("the train leaves at eight")]
    assert embedder.embed_query("The train leaves at eight") == pytest.approx(normal(expected(rows)), abs=0.01)
    name = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}.get(mode)
    if name:
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": name}))
        again = OnnxEmbedder(tmp_path).embed_query("The train leaves at eight")
        assert again == pytest.approx(normal(expected(rows)), abs=0.01)


def test_prefixes_are_read_and_set(tmp_path: Path) -> None:
    prompts = {"prompts": {"query": "q : ", "document": "p : "}}
    folder = tiny_folder(tmp_path / "model", config_sentence_transformers=prompts)
    embedder = OnnxEmbedder(folder)
    table = vectors()
    assert embedder.embed_query("the train") == pytest.approx(
        normal(table[ids("q : the train")].mean(axis=0)), abs=0.01
    )
    (passage,) = embedder.embed_passages([Passage("the train leaves", ((4, 9), (9, 9)))])
    assert passage.whole == pytest.approx(normal(table[ids("p : the train leaves")].mean(axis=0)), abs=0.01)
    assert passage.spans[0] == pytest.approx(normal(table[WORDS.index("train")]), abs=0.01)
    assert not passage.spans[1].any()
    assert embedder.count_tokens(["the train"]) == [2]
    other = OnnxEmbedder(folder, query_prefix="a ")
    assert other.embed_query("the") == pytest.approx(normal(table[ids("a the")].mean(axis=0)), abs=0.01)
    assert other.fingerprint != embedder.fingerprint
    named = OnnxEmbedder(tiny_folder(tmp_path / "multilingual-e5-tiny"))
    assert named.embed_query("the") == pytest.approx(normal(table[ids("[UNK] : the")].mean(axis=0)), abs=0.01)


def test_a_graph_that_pools_is_left_to_it(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path, None)
    (folder / "model.onnx").write_bytes(tiny_model("sentence_embedding", pools=True).SerializeToString())
    embedder = OnnxEmbedder(folder)
    assert embedder.embed_query("the train") == pytest.approx(normal(vectors()[WORDS.index("[SEP]")]), abs=0.01)
    with pytest.raises(EmbeddingError, match="Leave the setting onnx_pooling empty"):
        OnnxEmbedder(folder, pooling="mean").embed_query("x")


def test_layouts_of_exporters(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "model")
    (folder / "onnx").mkdir()
    whole = OnnxEmbedder(folder).fingerprint
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert OnnxEmbedder(folder).fingerprint == whole
    assert OnnxEmbedder(folder / "onnx" / "model.onnx").fingerprint == whole
    (folder / "onnx" / "model.onnx").rename(folder / "onnx" / "model_quantized.onnx")
    assert OnnxEmbedder(folder).fingerprint == whole
    (folder / "onnx" / "model_O4.onnx").write_bytes(tiny_model().SerializeToString())
    with pytest.raises(EmbeddingError, match=r"several models: onnx/model_O4.onnx, .*\. Name one"):
        _ = OnnxEmbedder(folder).fingerprint
    # One text at a time, of four words: other shapes are asked of it all the same.
    (folder / "model.onnx").write_bytes(tiny_model(shape=[1, 4]).SerializeToString())
    assert len(OnnxEmbedder(folder).embed_passages([Passage("the train leaves at eight"), Passage("a")])) == 2


def test_weights_beside_the_model_count(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path)
    vector, whole = OnnxEmbedder(folder).embed_query("the"), OnnxEmbedder(folder).fingerprint
    vectors().tofile(folder / "model.onnx_data")
    (folder / "model.onnx").write_bytes(tiny_model(weights=stored_elsewhere("model.onnx_data")).SerializeToString())
    embedder = OnnxEmbedder(folder)
    assert embedder.embed_query("the") == pytest.approx(vector, abs=1e-3)
    (2 * vectors() + 1).tofile(folder / "model.onnx_data")
    assert len({whole, embedder.fingerprint, OnnxEmbedder(folder).fingerprint}) == 3


# In a library


def test_a_library_with_such_an_embedder(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "model")
    with answerable.open(tmp_path / "library", embedder=f"onnx:{folder}", refuse=False) as library:
        assert library.add_documents([answerable.Document.from_text("The train leaves at eight.")]).added == 1
        assert library.embedder.fingerprint.provider == "onnx"
        assert "eight" in library.ask("When leaves the train?").text
    with pytest.raises(EmbedderMismatch):
        answerable.open(tmp_path / "library", embedder=f"onnx:{folder}", onnx_query_prefix="q : ")
    with pytest.raises(SettingsError, match="onnx_pooling is 'median'"):
        answerable.open(":memory:", embedder=f"onnx:{folder}", onnx_pooling="median")
    with pytest.raises(SettingsError, match="onnx:FOLDER"):
        answerable.open(":memory:", embedder="onnx")


def test_without_the_package_the_command_is_told(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['tokenizers'] = None\n"
        "from answerable.embedding.onnx_embedder import OnnxEmbedder\n"
        "try: OnnxEmbedder(sys.argv[1]).embed_query('x')\n"
        "except Exception as error: print(error)\n"
        "assert 'torch' not in sys.modules"
    )
    command = [sys.executable, "-c", code, str(tiny_folder(tmp_path))]
    assert "pip install '.[onnx]'" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


# Broken and hostile folders


def write(name: str, content: bytes | str | object) -> Callable[[Path], None]:
    def break_folder(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        text = content if isinstance(content, bytes | str) else json.dumps(content)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    return break_folder


def model(**options: object) -> Callable[[Path], None]:
    return write("model.onnx", tiny_model(**options).SerializeToString())  # type: ignore[arg-type]


def link(folder: Path) -> None:
    vectors().tofile(folder.parent / "secret")
    (folder / "link").symlink_to(folder.parent / "secret")
    model(weights=stored_elsewhere("link"))(folder)


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


HUGE = TensorProto(name="words", data_type=TensorProto.FLOAT, dims=[1 << 40, 1 << 20])
BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "no model": (without("model.onnx"), "holds no model.onnx"),
    "no tokenizer": (without("tokenizer.json"), "has no tokenizer.json"),
    "no pooling": (without("1_Pooling/config.json"), "set onnx_pooling to mean, cls, max or last"),
    "a pointer": (write("model.onnx", "version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"),
    "an empty model": (write("model.onnx", b""), "can't be used"),
    "half a model": (write("model.onnx", tiny_model().SerializeToString()[:300]), "can't be used"),
    "another format": (write("model.onnx", '<?xml version="1.0"?><net name="x" version="11"></net>'), "can't be used"),
    "an empty tokenizer": (write("tokenizer.json", ""), "tokenizer.json can't be read"),
    "another tokenizer": (write("tokenizer.json", {"model": {"type": "Novel"}}), "tokenizer.json can't be read"),
    "a tokenizer whose marks are unknown": (
        lambda folder: write(
            "tokenizer.json", (folder / "tokenizer.json").read_text().replace('"id": "[SEP]"', '"id": "[END]"')
        )(folder),
        "tokenizer.json can't be read",
    ),
    "broken configuration": (write("config.json", "{"), "config.json can't be read"),
    "deep configuration": (write("config.json", "[" * 100_000), "config.json can't be read"),
    "a list": (write("tokenizer_config.json", []), "it is no JSON object"),
    "prompts that are no texts": (write("config_sentence_transformers.json", {"prompts": {"query": 1}}), "no texts"),
    "modules elsewhere": (
        write("modules.json", [{"type": "Pooling", "path": "../.."}]),
        "a folder outside the model's folder",
    ),
    "modules that are none": (write("modules.json", {"type": 1}), "no list of modules"),
    "two poolings": (
        write("1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}),
        "cls and max",
    ),
    "unknown pooling": (write("1_Pooling/config.json", {"pooling_mode": "median"}), r"\(median\) isn't supported"),
    "layers that are missing": (
        write("modules.json", [{"type": "models.Dense", "path": "2_Dense"}]),
        "lacks the layers",
    ),
    "pictures": (model(inputs=("pixels",)), "inputs that aren't tokens: pixels"),
    "no ids": (model(inputs=("attention_mask",)), "no input input_ids"),
    "other shapes": (model(shape=["texts", "tokens", "more"]), "rows and columns"),
    "another result": (model(result="logits", pools=True), "neither vectors of tokens nor of texts, but logits"),
    "other dimensions": (model(dimension=4), "says 8"),
    "too many dimensions": (model(dimension=9000), "9000 dimensions, more than 8192"),
    "too large": (model(weights=HUGE), "can't be used"),
    "weights nowhere": (model(weights=stored_elsewhere("nowhere")), "can't be used"),
    "weights elsewhere": (model(weights=stored_elsewhere("../secret")), "can't be used"),
    "weights at a path": (model(weights=stored_elsewhere("/etc/hostname")), "can't be used"),
    "weights behind a link": (link, "outside the base directory"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_told(tmp_path: Path, case: str) -> None:
    break_folder, told = BROKEN[case]
    modules = [{"type": "models.Transformer", "path": ""}, {"type": "models.Pooling", "path": "1_Pooling"}]
    folder = tiny_folder(tmp_path / "model", modules=modules)
    vectors().tofile(tmp_path / "secret")
    break_folder(folder)
    embedder = OnnxEmbedder(folder)
    with pytest.raises(EmbeddingError, match=told) as error:
        print(embedder.fingerprint, embedder.embed_passages([Passage("the train")]))
    assert str(tmp_path) in str(error.value)
    assert len(str(error.value)) < 1000


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="There is no folder"):
        answerable.open(":memory:", embedder=f"onnx:{tmp_path / 'none'}")
