"""Embed the documents that most pages show once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_library import example_cache


@pytest.fixture
def examples_embedded(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What adds the examples finds their vectors in its cache, and the model compiled."""
    monkeypatch.setenv("ANSWERABLE_CACHE_FOLDER", str(example_cache(cache_folder)))
