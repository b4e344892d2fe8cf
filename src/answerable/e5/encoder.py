"""multilingual-e5-small on OpenVINO: token ids → the last hidden states, or what heads make of them.

The graph is BERT's encoder (Devlin et al. 2019; XLM-R's vocabulary), built from the weights of `model_file`. Word
vectors are looked up outside the graph, in the 4-bit table: as a constant of the graph they would take 384 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from answerable.compiling import compiled
from answerable.datatypes import FloatArray
from answerable.e5.integers import Integers
from answerable.e5.model_file import ModelFile, dequantize

Weights = Callable[[str], "FloatArray | Integers"]
"""Return a tensor of the model by its name in `model_file`. Only matrices of linear layers may be integers."""


class OpenVinoEncoder:
    """The compiled graph, in bfloat16 if the processor supports it, otherwise in float32.

    `threads` limits the processors (0: all); `cache_folder` keeps the compiled graph for other processes. `weights` are
    the model's own unless given. `heads` builds the graph's results from the last hidden states, by default the states.
    `streams` divide the processors: so many threads compute at once, others wait.
    """

    def __init__(
        self,
        model: ModelFile,
        threads: int,
        cache_folder: Path | None,
        weights: Weights | None = None,
        heads: Callable[[Any], list[Any]] = lambda state: [state],
        streams: int = 1,
    ) -> None:
        self._words = model.blocks("emb.word")
        self._places = model.tensor("emb.pos").reshape(-1, model.hidden) + model.tensor("emb.type")[: model.hidden]
        network, self.precision = compiled(
            lambda _: _build_graph(model, weights or model.tensor, heads),
            threads,
            cache_folder,
            # Where a layer's weights are integers, its inputs are rounded to integers too, token by token.
            DYNAMIC_QUANTIZATION_GROUP_SIZE=model.hidden,
            # Pinned, a stream would wait for its processor where the other is free.
            **({"NUM_STREAMS": streams, "ENABLE_CPU_PINNING": False} if streams > 1 else {}),
        )
        self._requests: SimpleQueue[Any] = SimpleQueue()
        for _ in range(streams):
            self._requests.put(network.create_infer_request())

    def hidden_states(self, ids: Sequence[Sequence[int]]) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return hidden states of shape (texts, longest, 384), and a mask that is false for padding."""
        (states,), mask = self.results(ids)
        return states, mask

    def results(self, ids: Sequence[Sequence[int]]) -> tuple[list[FloatArray], npt.NDArray[np.bool_]]:
        """Return the results of the heads, and a mask of shape (texts, longest) that is false for padding."""
        longest = max(map(len, ids))
        mask = np.zeros((len(ids), longest), bool)
        padded = np.zeros((len(ids), longest), np.int64)
        for row, tokens in enumerate(ids):
            padded[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = True
        words = dequantize(self._words[padded.reshape(-1)]).reshape(*padded.shape, -1) + self._places[:longest]
        bias = np.where(mask, np.float32(0), np.float32(-1e4))[:, None, None, :]
        request = self._requests.get()
        try:
            found = request.infer({0: words, 1: bias})
            return [found[number] for number in range(len(found))], mask
        finally:
            self._requests.put(request)


def linear(value: Any, weights: Weights, name: str) -> Any:
    """Add a linear layer to a graph; its tensors are `name.w` and `name.b`."""
    from openvino import opset13 as ops

    product = ops.matmul(value, _matrix(weights(f"{name}.w")), False, True)
    return ops.add(product, ops.constant(weights(f"{name}.b")))


def pooled(state: Any, weights: Weights, name: str) -> Any:
    """Add BERT's pooler to a graph: a linear layer and tanh on the first token's state."""
    from openvino import opset13 as ops

    begin, end, step, axis = (ops.constant([each]) for each in (0, 1, 1, 1))
    first = ops.squeeze(ops.slice(state, begin, end, step, axis), ops.constant([1]))
    return ops.tanh(linear(first, weights, name))


def _matrix(values: FloatArray | Integers) -> Any:
    from openvino import opset13 as ops

    if not isinstance(values, Integers):
        return ops.constant(values)
    return ops.multiply(ops.convert(ops.constant(values.values), "f32"), ops.constant(values.scales[:, None]))


def _build_graph(model: ModelFile, weights: Weights, heads: Callable[[Any], list[Any]]) -> Any:
    import openvino
    from openvino import opset13 as ops

    float32 = openvino.Type.f32
    size, count = model.hidden, model.heads

    def layer_norm(value: Any, name: str) -> Any:
        normal = ops.mvn(value, ops.constant(np.array([-1])), True, model.epsilon, "inside_sqrt")
        scaled = ops.multiply(normal, ops.constant(weights(f"{name}.w")))
        return ops.add(scaled, ops.constant(weights(f"{name}.b")))

    def split_heads(value: Any) -> Any:
        shaped = ops.reshape(value, ops.constant(np.array([0, 0, count, size // count])), True)
        return ops.transpose(shaped, ops.constant(np.array([0, 2, 1, 3])))

    def attention(value: Any, layer: int, bias: Any) -> Any:
        query, key, content = (split_heads(linear(value, weights, f"l{layer}.{name}")) for name in "qkv")
        mixed = ops.scaled_dot_product_attention(query, key, content, bias)
        joined = ops.transpose(mixed, ops.constant(np.array([0, 2, 1, 3])))
        return linear(ops.reshape(joined, ops.constant(np.array([0, 0, size])), True), weights, f"l{layer}.ao")

    words = ops.parameter(openvino.PartialShape([-1, -1, size]), float32)
    bias = ops.parameter(openvino.PartialShape([-1, 1, 1, -1]), float32)
    state = layer_norm(words, "emb.ln")
    for layer in range(model.layers):
        state = layer_norm(ops.add(state, attention(state, layer, bias)), f"l{layer}.aln")
        inner = ops.gelu(linear(state, weights, f"l{layer}.fi"), "erf")
        state = layer_norm(ops.add(state, linear(inner, weights, f"l{layer}.fo")), f"l{layer}.oln")
    return openvino.Model([ops.result(result) for result in heads(state)], [words, bias], "multilingual-e5-small")
