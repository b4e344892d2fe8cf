"""Test the matrices in the model file, unpacked and in their stored form."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from answerable.e5.network import release
from answerable.e5.weights import MIDDLE, FourBits, ModelFile, model_path, open_model

MAPPINGS = Path("/proc/self/smaps")


def test_four_bits_are_the_same_matrix() -> None:
    model = open_model(model_path())
    for name in ("l0.q.w", "l3.fi.w", "l11.fo.w"):
        packed = model.packed(name)
        assert isinstance(packed, FourBits)
        pairs = np.stack((packed.values & 15, packed.values >> 4), axis=-1).astype(np.float32) - MIDDLE
        rows = pairs.reshape(*packed.scales.shape, -1) * packed.scales[:, :, None]
        assert np.array_equal(rows.reshape(len(rows), -1), model.tensor(name))


def test_what_is_not_packed_comes_as_it_is() -> None:
    model = open_model(model_path())
    for name in ("emb.ln.w", "l0.q.b"):
        values = model.packed(name)
        assert not isinstance(values, FourBits)
        assert np.array_equal(values, model.tensor(name))


@pytest.mark.skipif(not MAPPINGS.exists(), reason="only Linux tells what a mapping holds")
def test_what_was_read_is_given_back_and_read_again() -> None:
    def held() -> int:
        found = re.findall(r"\.bin\n(?:.+\n)*?Rss: +(\d+) kB", MAPPINGS.read_text())
        return sum(map(int, found))

    model = ModelFile(model_path())
    words = model.blocks("emb.word")
    total, before = words.sum(), held()
    release(model.mapped)
    assert before - held() > words.nbytes / 1024 / 2
    assert words.sum() == total
