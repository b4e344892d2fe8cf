"""Test compiled networks: their batches of windows, and their cache on disk."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from answerable.e5.network import BATCH_TOKENS, FEW_TOKENS, KEPT_DAYS, PADDING_TOKENS, Network, batches


@given(st.lists(st.integers(1, 512), max_size=60), st.integers(1, 4))
def test_every_window_is_in_one_batch_with_little_padding(lengths: list[int], streams: int) -> None:
    found = batches([[0] * length for length in lengths], streams)
    assert sorted(row for batch in found for row in batch) == list(range(len(lengths)))
    for batch in found:
        sizes = [lengths[row] for row in batch]
        assert len(batch) == 1 or max(sizes) * len(sizes) <= BATCH_TOKENS
        assert max(sizes) * len(sizes) - sum(sizes) <= PADDING_TOKENS


def test_few_windows_are_work_for_all_streams() -> None:
    windows = [[0] * 150] * 7
    assert [len(batch) for batch in batches(windows, 1)] == [5, 2]
    assert [len(batch) for batch in batches(windows, 2)] == [3, 3, 1]
    assert [len(batch) for batch in batches(windows, 4)] == [1] * 7
    assert batches([[0] * 9], 4) == [[0]]
    assert batches([], 4) == []


def test_a_network_is_built_and_compiled_once_for_all_processes(tmp_path: Path) -> None:
    weights, cache = tmp_path / "weights", tmp_path / "cache"
    weights.write_text("sum")
    first, second = (Network(build, 1, cache, (str(weights),)) for build in (_sum, _never))
    assert len(list(cache.iterdir())) == 1
    for network in (first, second):
        assert network.infer({0: np.ones((2, 2), np.float32)})[0].tolist() == [[2, 2], [2, 2]]
    weights.write_text("product")
    product = Network(_product, 1, cache, (str(weights),))
    assert product.infer({0: np.full((1, 2), 3, np.float32)})[0].tolist() == [[9, 9]]
    assert len(list(cache.iterdir())) == 2


def test_a_stored_network_prepares_several_streams_only_for_much_work(tmp_path: Path) -> None:
    Network(_sum, 2, tmp_path)
    network = Network(_never, 2, tmp_path)

    def double(batch: Sequence[Sequence[int]]) -> Iterator[float]:
        return iter(network.infer({0: np.array([[len(each), 0] for each in batch], np.float32)})[0][:, 0])

    for windows, streams in ([[0] * FEW_TOKENS], 1), ([[0] * 9], 1), ([[0], [0] * FEW_TOKENS], 2), ([[0] * 5], 2):
        assert network.each(double, windows) == [2 * len(each) for each in windows]
        assert network.compiled.get_property("NUM_STREAMS") == streams


def test_a_damaged_compiled_network_is_made_anew(tmp_path: Path) -> None:
    Network(_sum, 1, tmp_path)
    (stored,) = tmp_path.iterdir()
    whole = stored.read_bytes()
    stored.write_bytes(whole[: len(whole) // 2])
    assert Network(_sum, 1, tmp_path).infer({0: np.ones((1, 2), np.float32)})[0].tolist() == [[2, 2]]
    assert len(stored.read_bytes()) == len(whole)
    Network(_never, 1, tmp_path)


def test_what_was_compiled_long_ago_is_removed(tmp_path: Path) -> None:
    old, recent = tmp_path / "1.blob", tmp_path / "2.blob"
    for path, days in ((old, KEPT_DAYS + 1), (recent, KEPT_DAYS - 1)):
        path.write_bytes(b"compiled by an earlier version")
        when = time.time() - days * 24 * 3600
        os.utime(path, (when, when))
    Network(_sum, 1, tmp_path)
    assert not old.exists()
    assert recent.exists()


def _sum(openvino: Any, _: str) -> Any:
    value = openvino.opset13.parameter([-1, 2], np.float32)
    return openvino.Model([openvino.opset13.add(value, value)], [value], "sum")


def _product(openvino: Any, _: str) -> Any:
    value = openvino.opset13.parameter([-1, 2], np.float32)
    return openvino.Model([openvino.opset13.multiply(value, value)], [value], "product")


def _never(openvino: Any, _: str) -> Any:
    raise AssertionError("it is there already")
