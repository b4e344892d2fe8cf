"""Test compiled networks: their batches of windows, and their cache on disk."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from answerable.e5.encoder import BATCH_TOKENS, KEPT_DAYS, PADDING_TOKENS, Network, batches


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


def test_a_network_is_compiled_once_for_all_processes(tmp_path: Path) -> None:
    first, second = Network(_sum, 1, tmp_path), Network(_sum, 1, tmp_path)
    assert len(list(tmp_path.glob("*.blob"))) == 1
    for network in (first, second):
        assert network.infer({0: np.ones((2, 2), np.float32)})[0].tolist() == [[2, 2], [2, 2]]
    Network(_product, 1, tmp_path)
    assert len(list(tmp_path.glob("*.blob"))) == 2


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
