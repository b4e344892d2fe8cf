"""Make tiny ONNX models in which each word of a small vocabulary has its own vector."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"the train leaves at eight q p : a ##s".split()]
MEAN = {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True}
TEXTS = ["texts", "tokens"]


def tiny_folder(folder: Path, pooling: Mapping[str, Any] | None = MEAN, **files: Any) -> Path:
    """A whole folder; `files` are contents of JSON files by their names without suffix."""
    folder.mkdir(parents=True, exist_ok=True)
    tiny_tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(tiny_model().SerializeToString())
    if pooling is not None:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def tiny_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(WordPiece({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    # As many models' files have it; texts must not be cut by it.
    tokenizer.enable_truncation(4)
    return tokenizer


def vectors(dimension: int = 8) -> Any:
    """The vectors of the words, shape (words, dimension)."""
    return np.random.default_rng(1).normal(size=(len(WORDS), dimension)).astype(np.float32)


def tiny_model(
    result: str = "last_hidden_state",
    dimension: int = 8,
    inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids"),
    shape: Sequence[str | int] = TEXTS,
    pools: bool = False,
    weights: TensorProto | None = None,
) -> ModelProto:
    """A model that looks words up; `pools` gives the vector of the last token as the vector of the text."""
    tensor = weights or numpy_helper.from_array(vectors(dimension), "words")
    nodes = [helper.make_node("Gather", ["words", inputs[0]], ["states" if pools else result])]
    tensors, given = [tensor], [*shape, dimension]
    if pools:
        tensors.append(numpy_helper.from_array(np.array(-1), "last"))
        nodes.append(helper.make_node("Gather", ["states", "last"], [result], axis=1))
        given = [shape[0], dimension]
    described = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs]
    made = helper.make_tensor_value_info(result, TensorProto.FLOAT, given)
    graph = helper.make_graph(nodes, "tiny", described, [made], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def stored_elsewhere(location: str, dimension: int = 8) -> TensorProto:
    """Weights that are in another file."""
    tensor = TensorProto(name="words", data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    tensor.dims.extend([len(WORDS), dimension])
    tensor.external_data.add(key="location", value=location)
    return tensor
