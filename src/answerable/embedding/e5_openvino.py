"""multilingual-e5-small on OpenVINO: token ids → the last hidden states.

The graph is BERT's encoder (Devlin et al. 2019; XLM-R's vocabulary), built from the weights of `e5_weights`. Word
vectors are looked up outside the graph, in the 4-bit table: as a constant of the graph they would take 384 MB.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray
from answerable.disk.private import close_to_others, make_folder
from answerable.embedding.e5_weights import ModelFile, dequantize


class OpenVinoEncoder:
    """The compiled graph, in bfloat16 if the processor supports it, otherwise in float32.

    `threads` limits the processors (0: all); `cache_folder` keeps the compiled graph for other processes.
    """

    def __init__(self, model: ModelFile, threads: int, cache_folder: Path | None) -> None:
        # With this package OpenVINO reports each import to Google Analytics. None in `sys.modules` marks it as missing.
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
        import openvino

        self._words = model.blocks("emb.word")
        self._places = model.tensor("emb.pos").reshape(-1, model.hidden) + model.tensor("emb.type")[: model.hidden]
        core = openvino.Core()
        self.precision = "bf16" if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"
        options: dict[str, Any] = {"INFERENCE_PRECISION_HINT": self.precision, "PERFORMANCE_HINT": "LATENCY"}
        if threads:
            options["INFERENCE_NUM_THREADS"] = threads
        if cache_folder is not None:
            make_folder(cache_folder)
            core.set_property({"CACHE_DIR": str(cache_folder)})
        self._request = core.compile_model(_build_graph(model), "CPU", options).create_infer_request()
        if cache_folder is not None:
            close_to_others(*cache_folder.iterdir())

    def hidden_states(self, ids: Sequence[Sequence[int]]) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return hidden states of shape (texts, longest, 384), and a mask that is false for padding."""
        longest = max(map(len, ids))
        mask = np.zeros((len(ids), longest), bool)
        padded = np.zeros((len(ids), longest), np.int64)
        for row, tokens in enumerate(ids):
            padded[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = True
        words = dequantize(self._words[padded.reshape(-1)]).reshape(*padded.shape, -1) + self._places[:longest]
        bias = np.where(mask, np.float32(0), np.float32(-1e4))[:, None, None, :]
        states = self._request.infer({0: words, 1: bias})[0]
        return states, mask


def _build_graph(model: ModelFile) -> Any:
    import openvino
    from openvino import opset13 as ops

    float32 = openvino.Type.f32
    size, heads = model.hidden, model.heads

    def linear(value: Any, name: str) -> Any:
        product = ops.matmul(value, ops.constant(model.tensor(f"{name}.w")), False, True)
        return ops.add(product, ops.constant(model.tensor(f"{name}.b")))

    def layer_norm(value: Any, name: str) -> Any:
        normal = ops.mvn(value, ops.constant(np.array([-1])), True, model.epsilon, "inside_sqrt")
        scaled = ops.multiply(normal, ops.constant(model.tensor(f"{name}.w")))
        return ops.add(scaled, ops.constant(model.tensor(f"{name}.b")))

    def split_heads(value: Any) -> Any:
        shaped = ops.reshape(value, ops.constant(np.array([0, 0, heads, size // heads])), True)
        return ops.transpose(shaped, ops.constant(np.array([0, 2, 1, 3])))

    def attention(value: Any, layer: int, bias: Any) -> Any:
        query, key, content = (split_heads(linear(value, f"l{layer}.{name}")) for name in "qkv")
        mixed = ops.scaled_dot_product_attention(query, key, content, bias)
        joined = ops.transpose(mixed, ops.constant(np.array([0, 2, 1, 3])))
        return linear(ops.reshape(joined, ops.constant(np.array([0, 0, size])), True), f"l{layer}.ao")

    words = ops.parameter(openvino.PartialShape([-1, -1, size]), float32)
    bias = ops.parameter(openvino.PartialShape([-1, 1, 1, -1]), float32)
    state = layer_norm(words, "emb.ln")
    for layer in range(model.layers):
        state = layer_norm(ops.add(state, attention(state, layer, bias)), f"l{layer}.aln")
        inner = ops.gelu(linear(state, f"l{layer}.fi"), "erf")
        state = layer_norm(ops.add(state, linear(inner, f"l{layer}.fo")), f"l{layer}.oln")
    return openvino.Model([ops.result(state)], [words, bias], "multilingual-e5-small")
