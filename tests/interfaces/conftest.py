"""A library that every test of the interfaces may read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from example_library import example_cache, example_library_folder


@pytest.fixture(scope="session")
def example_library(cache_folder: Path) -> Path:
    """The folder of a library with the four sample documents, to be read only."""
    return example_library_folder(cache_folder)


@pytest.fixture(scope="session")
def quick_settings(cache_folder: Path) -> Mapping[str, str]:
    """Most tests add a line or two, or the examples, whose vectors are in the cache: loading OpenVINO takes longer."""
    return {"ANSWERABLE_CACHE_FOLDER": str(example_cache(cache_folder)), "ANSWERABLE_READER": "off"}


@pytest.fixture(autouse=True)
def _quick_start(quick_settings: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in quick_settings.items():
        monkeypatch.setenv(name, value)
