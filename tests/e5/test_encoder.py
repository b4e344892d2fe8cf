"""Test that the layers of the graph give the same results as NumPy, on one stream and on several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from answerable.datatypes import FloatArray
from answerable.e5.encoder import linear
from answerable.e5.network import Network
from answerable.e5.weights import Integers, rounded

SIZE = 384


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("streams", [1, 2, 4])
def test_a_layer_of_integers_computes_what_its_matrix_says(rows: int, streams: int) -> None:
    drawn = np.random.default_rng(rows)
    matrix = rounded(drawn.normal(scale=0.02, size=(rows, SIZE)).astype(np.float32))
    bias = drawn.normal(size=rows).astype(np.float32)

    def weights(name: str) -> FloatArray | Integers:
        return matrix if name == "head.w" else bias

    def build(openvino: Any, _: str) -> Any:
        ops = openvino.opset13
        state = ops.parameter([-1, SIZE], np.float32)
        return openvino.Model([ops.result(linear(ops.tanh(state), weights, "head"))], [state], "head")

    network = Network(build, streams, None, DYNAMIC_QUANTIZATION_GROUP_SIZE=SIZE)

    def compute(batch: Sequence[Sequence[int]]) -> list[FloatArray]:
        states = np.array([np.sin(np.arange(SIZE) * number) for (number,) in batch], np.float32)
        return list(network.infer({0: states})[0])

    found = network.each(compute, [[number] for number in range(8)])
    states = np.array([np.sin(np.arange(SIZE) * number) for number in range(8)])
    assert np.allclose(found, np.tanh(states) @ matrix.exact().T + bias, atol=0.05)
