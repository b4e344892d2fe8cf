"""Batches of windows: every window once, little padding, work for all streams."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from answerable.compiling import BATCH_TOKENS, PADDING_TOKENS, batches


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
