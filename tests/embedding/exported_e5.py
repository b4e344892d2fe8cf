"""Export the packaged model, multilingual-e5-small, to ONNX in the layout of sentence-transformers.

Run it to export the whole model: `python tests/embedding/exported_e5.py FOLDER`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram

from answerable.datatypes import FloatArray
from answerable.e5.encoder import Tokenizer as E5Tokenizer
from answerable.e5.encoder import vocabulary
from answerable.e5.weights import ModelFile, model_path, open_model

SPECIAL = 4
"""The first pieces of the vocabulary: begin, padding, end, unknown."""


def export(folder: Path, texts: Sequence[str] = ()) -> None:
    """Writes the model, in 32-bit floats; given texts, with the words of these texts only."""
    model = open_model(model_path())
    kept = list(range(len(vocabulary(model))))
    if texts:
        tokens = {token for text in E5Tokenizer(model).encode(texts) for token in text}
        kept = [*kept[:SPECIAL], *sorted(tokens - set(kept[:SPECIAL]))]
    folder.mkdir(parents=True, exist_ok=True)
    _write_tokenizer(folder, model, kept)
    _write_graph(folder, model, kept)
    module = "sentence_transformers.models"
    for name, content in {
        "config.json": {"model_type": "bert", "pad_token_id": model.pad, "max_position_embeddings": 512},
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{module}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{module}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{module}.Normalize"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": model.hidden, "pooling_mode_mean_tokens": True},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "document": "passage: "}},
    }.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), "utf-8")


def _write_tokenizer(folder: Path, model: ModelFile, kept: Sequence[int]) -> None:
    pieces = vocabulary(model)
    scored = [(pieces[each], float(model.piece_scores[each])) for each in kept]
    tokenizer = Tokenizer(Unigram(scored, unk_id=model.unknown))
    tokenizer.add_special_tokens([pieces[each] for each in range(SPECIAL)])
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    begin, end = (pieces[model.bos], model.bos), (pieces[model.eos], model.eos)
    tokenizer.post_processor = processors.TemplateProcessing(f"{begin[0]} $A {end[0]}", None, [begin, end])
    tokenizer.save(str(folder / "tokenizer.json"))


class _Graph:
    """Collects the nodes and tensors of a graph; each call adds a node and returns its result's name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []

    def __call__(self, kind: str, *inputs: str, **attributes: Any) -> str:
        result = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [result], **attributes))
        return result

    def tensor(self, values: Any) -> str:
        name = f"t{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name


def _write_graph(folder: Path, model: ModelFile, kept: Sequence[int]) -> None:
    add = _Graph()
    hidden, heads, depth = model.hidden, model.heads, model.hidden // model.heads

    def norm(value: str, name: str) -> str:
        scale, shift = (add.tensor(model.tensor(f"{name}.{part}")) for part in "wb")
        return add("LayerNormalization", value, scale, shift, axis=-1, epsilon=model.epsilon)

    def linear(value: str, name: str) -> str:
        product = add("MatMul", value, add.tensor(model.tensor(f"{name}.w").T))
        return add("Add", product, add.tensor(model.tensor(f"{name}.b")))

    def split(value: str, order: Sequence[int]) -> str:
        shaped = add("Reshape", value, add.tensor(np.array([0, 0, heads, depth])))
        return add("Transpose", shaped, perm=order)

    def gelu(value: str) -> str:
        error = add("Erf", add("Mul", value, add.tensor(np.float32(2**-0.5))))
        half = add("Mul", value, add.tensor(np.float32(0.5)))
        return add("Mul", half, add("Add", error, add.tensor(np.float32(1))))

    words = add("Gather", add.tensor(_words(model, kept)), "input_ids")
    places = model.tensor("emb.pos").reshape(-1, hidden) + model.tensor("emb.type")[:hidden]
    length = add("Squeeze", add("Shape", "input_ids", start=1, end=2), add.tensor(np.array([0])))
    positions = add("Range", add.tensor(np.int64(0)), length, add.tensor(np.int64(1)))
    state = norm(add("Add", words, add("Gather", add.tensor(places), positions)), "emb.ln")
    absent = add("Sub", add.tensor(np.float32(1)), add("Cast", "attention_mask", to=TensorProto.FLOAT))
    bias = add("Mul", add("Unsqueeze", absent, add.tensor(np.array([1, 2]))), add.tensor(np.float32(-1e4)))
    for layer in range(model.layers):
        name = f"l{layer}"
        query, content = (split(linear(state, f"{name}.{each}"), [0, 2, 1, 3]) for each in "qv")
        key = split(linear(state, f"{name}.k"), [0, 2, 3, 1])
        scores = add("Mul", add("MatMul", query, key), add.tensor(np.float32(depth**-0.5)))
        mixed = add("MatMul", add("Softmax", add("Add", scores, bias), axis=-1), content)
        joined = add("Reshape", add("Transpose", mixed, perm=[0, 2, 1, 3]), add.tensor(np.array([0, 0, hidden])))
        state = norm(add("Add", state, linear(joined, f"{name}.ao")), f"{name}.aln")
        state = norm(add("Add", state, linear(gelu(linear(state, f"{name}.fi")), f"{name}.fo")), f"{name}.oln")
    add.nodes.append(helper.make_node("Identity", [state], ["last_hidden_state"]))
    texts = ["texts", "tokens"]
    inputs = [helper.make_tensor_value_info(each, TensorProto.INT64, texts) for each in ("input_ids", "attention_mask")]
    results = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*texts, hidden])]
    graph = helper.make_graph(add.nodes, "multilingual-e5-small", inputs, results, add.tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    save_model(made, folder / "model.onnx")


def _words(model: ModelFile, kept: Sequence[int]) -> FloatArray:
    from answerable.e5.weights import dequantize

    return dequantize(model.blocks("emb.word")[np.array(kept)])


if __name__ == "__main__":
    export(Path(sys.argv[1]))
