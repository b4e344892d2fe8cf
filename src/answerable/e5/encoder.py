"""multilingual-e5-small on OpenVINO: token ids → the last hidden states, or what heads make of them.

The graph is BERT's encoder (Devlin et al. 2019; XLM-R's vocabulary), built from the weights of `model_file`. Word
vectors are looked up outside the graph, in the 4-bit table: as a constant of the graph they would take 384 MB.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from answerable.compiling import Network
from answerable.datatypes import FloatArray
from answerable.e5.integers import MIDDLE, FourBits, Integers
from answerable.e5.model_file import BLOCK, ModelFile, dequantize

LENGTHS = 16
"""The length of a batch in tokens is rounded up to a multiple of this, so that few shapes occur.

OpenVINO compiles kernels for each new shape: in bfloat16 that was a seventh of the embedding time.
"""

Weights = Callable[[str], "FloatArray | Integers | FourBits"]
"""Return a tensor of the model by its name in `model_file`. Only matrices of linear layers may be integers."""


class OpenVinoEncoder:
    """The compiled graph, in bfloat16 if the processor supports it, otherwise in float32.

    `threads` limits the processors (0: all); `cache_folder` keeps the compiled graph for other processes. `weights` are
    the model's own unless given. `heads` builds the graph's results from the last hidden states, by default the states.
    """

    def __init__(
        self,
        model: ModelFile,
        threads: int,
        cache_folder: Path | None,
        weights: Weights | None = None,
        heads: Callable[[Any], list[Any]] = lambda state: [state],
    ) -> None:
        self._words = model.blocks("emb.word")
        self._places = model.tensor("emb.pos").reshape(-1, model.hidden) + model.tensor("emb.type")[: model.hidden]
        self._network = Network(
            lambda _, precision: _build_graph(model, weights or _own_weights(model, precision), heads),
            threads,
            cache_folder,
            # Where given weights are integers, a layer's inputs are rounded to integers too, token by token.
            DYNAMIC_QUANTIZATION_GROUP_SIZE=model.hidden if weights else 0,
        )
        self.precision = self._network.precision

    def hidden_states(self, windows: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Return the hidden states of each window of token ids, shape (tokens, 384)."""
        results = self.results(windows)
        return [states[: len(window)] for (states,), window in zip(results, windows, strict=True)]

    def results(self, windows: Sequence[Sequence[int]]) -> list[tuple[FloatArray, ...]]:
        """Return the results of the heads for each window of token ids. Those of tokens may end in padding."""
        return self._network.each(self._compute, windows)

    def _compute(self, ids: Sequence[Sequence[int]]) -> Iterator[tuple[FloatArray, ...]]:
        longest = -(-max(map(len, ids)) // LENGTHS) * LENGTHS
        mask = np.zeros((len(ids), longest), bool)
        padded = np.zeros((len(ids), longest), np.int64)
        for row, tokens in enumerate(ids):
            padded[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = True
        words = dequantize(self._words[padded.reshape(-1)]).reshape(*padded.shape, -1) + self._places[:longest]
        bias = np.where(mask, np.float32(0), np.float32(-1e4))[:, None, None, :]
        found = self._network.infer({0: words, 1: bias})
        return zip(*(found[number] for number in range(len(found))), strict=True)


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


def _own_weights(model: ModelFile, precision: str) -> Weights:
    # Where OpenVINO computes in float32 on x86, it unpacks 4 bits as fast as it reads floats, in 190 MB less. Elsewhere
    # that hasn't been measured.
    is_packed = precision == "f32" and platform.machine() in ("x86_64", "AMD64")
    return model.packed if is_packed else model.tensor


def _matrix(values: FloatArray | Integers | FourBits) -> Any:
    import openvino
    from openvino import opset13 as ops

    if isinstance(values, Integers) and len(values.scales) == 1:
        # In bfloat16 on several streams, OpenVINO 2026.4 ignores the scale of a matrix with one row.
        values = values.exact()
    if isinstance(values, Integers):
        return ops.multiply(ops.convert(ops.constant(values.values), "f32"), ops.constant(values.scales[:, None]))
    if not isinstance(values, FourBits):
        return ops.constant(values)
    rows, groups = values.scales.shape
    packed = openvino.Tensor(openvino.Type.u4, openvino.Shape([rows, groups, BLOCK]))
    packed.data[:] = values.values.reshape(packed.data.shape)
    centred = ops.subtract(
        ops.convert(ops.constant(packed), "f32"), ops.constant(np.full((1, 1, 1), MIDDLE, np.float32))
    )
    scaled = ops.multiply(centred, ops.constant(values.scales[:, :, None]))
    return ops.reshape(scaled, ops.constant(np.array([rows, groups * BLOCK])), False)


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
