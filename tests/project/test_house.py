"""Test the size figures that `make check` computes, and that it fails when a figure grows."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import house  # noqa: E402


def test_a_numeric_constant_needs_a_reason_beside_it():
    text = "A = 3\n\nB = 0.5  # half\n# On chats.\nC = -1\nD = (1, 2.5)\n'''Two.'''\nE = True\nF = 'x'\nG = 2 * 60\n"
    assert list(house.unexplained(text)) == ["A", "G"]


def test_the_chain_follows_imports():
    chain = house.longest_chain()
    assert chain[0].startswith("answerable")
    assert len(chain) == len(set(chain)) > 5


def test_a_figure_that_grew_is_named(tmp_path):
    figures = tmp_path / "house.toml"
    figures.write_text("lines = 10\nfiles = 3\n")
    with pytest.raises(SystemExit, match="lines grew"):
        house.compare(figures, {"lines": 11, "files": 2})
    house.compare(figures, {"lines": 9, "files": 2}, write=True)
    assert figures.read_text() == "lines = 9\nfiles = 2\n"
